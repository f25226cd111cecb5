import FleetProtocol
import HealthModel
import NATSKit
import Pipeline
import PostgreSQLExport

/// Writes the changes of a fleet's hubs into one database. The hub gets a receipt after the database has committed.
///
/// It keeps no state. Any number of collectors can run: the broker passes each request to one of them, and the hub's mark in the database
/// shows which changes are new. A hub without a receipt reads its mark to find out whether its block was stored.
///
/// Used by one thread.
public final class Collector {
    private let session: PostgreSQLSession
    private let now: () -> Instant

    /// The command that creates the tables in the database.
    public static let creation = "vitalgate collect --create"

    /// A collector for a database, without connecting.
    public init(_ database: PostgreSQLSettings, now: @escaping () -> Instant) {
        session = PostgreSQLSession(database, creation: Self.creation)
        self.now = now
    }

    /// Carries out a hub's request and returns the reply.
    ///
    /// - Parameter store: The hub's store, as the broker reports it.
    public func reply(to octets: [UInt8], of store: String) -> FleetReply {
        do throws(DeliveryError) {
            return try answer(try Self.request(octets), of: store)
        } catch {
            return .failure(error)
        }
    }

    private static func request(_ octets: [UInt8]) throws(DeliveryError) -> FleetRequest {
        do throws(BlockFault) {
            return try FleetRequest(octets: octets)
        } catch {
            throw DeliveryError(.refused, "\(error)")
        }
    }

    private func answer(_ request: FleetRequest, of store: String) throws(DeliveryError) -> FleetReply {
        let context: ExportContext
        do {
            context = try ExportContext(name: request.target, store: store, me: request.me, now: now)
        } catch {
            throw DeliveryError(.unfit, "\(error)")
        }
        let exporter = PostgreSQLExporter(session, context: context)
        switch request.task {
        case .find: return .found(try exporter.found())
        case .claim(let mark): return .claimed(try exporter.claim(mark))
        case .check: return .checked(try exporter.check())
        case .contents(let after):
            return .identities(try exporter.contents(after: after, limit: FleetReply.mostIdentities))
        case .differing(let samples): return .identities(try exporter.differing(samples))
        case .deliver(let batch): return .receipt(leftOut: try exporter.deliver(batch))
        }
    }
}
