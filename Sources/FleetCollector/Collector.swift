import FleetProtocol
import HealthModel
import NATSKit
import Pipeline
import PostgreSQLExport
import SampleStore

/// Writes the changes of a fleet's hubs into one database. The hub gets a receipt after the database has committed.
///
/// It keeps no state. Any number of collectors can run: the broker passes each request to one of them, and the hub's mark in the database
/// shows which changes are new. A hub without a receipt reads its mark to find out whether its block was stored.
///
/// Used by one thread.
package final class Collector {
    let session: PostgreSQLSession
    private let schema: String
    private let now: () -> Instant
    private let requiresEnrollment: Bool
    /// Whether the tables of the fleet were checked on the session's connection.
    private var isChecked = false

    /// The command that creates the tables in the database.
    package static let creation = "vitalgate collect --create"

    /// A collector for a database, without connecting.
    ///
    /// - Parameter requiresEnrollment: Whether only hubs that have joined may send, each sealed with its own key.
    package init(_ database: PostgreSQLSettings, requiresEnrollment: Bool = false, now: @escaping () -> Instant) {
        session = PostgreSQLSession(database, creation: Self.creation, days: { try SampleStatistics() })
        (schema, self.requiresEnrollment, self.now) = (database.schema, requiresEnrollment, now)
    }

    /// Connects to the database before the first request needs it. That request reports an error.
    func connect() { _ = try? exporter(named: "connect", me: Origin.unassigned, "connect").connection() }

    /// Carries out requests of hubs in their order. Deliveries that follow each other are written in one transaction.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - send: Receives each reply with the index of its request. A receipt comes after the database has committed.
    package func carryOut(_ requests: [ReceivedRequest], _ send: (_ index: Int, FleetReply) -> Void) {
        var group = DeliveryGroup()
        for (index, sent) in requests.enumerated() {
            do throws(DeliveryError) {
                let request = try sent.content.get()
                if let batch = sent.batch {
                    group.add(request, batch, sent, index: index)
                    if group.isFull { deliver(&group, send) }
                } else {
                    deliver(&group, send)
                    send(index, try answer(request, of: sent.store, sent.sender))
                }
            } catch {
                send(index, .failure(error))
            }
        }
        deliver(&group, send)
    }

    /// Writes the deliveries of a group in one transaction. If one fails, each is repeated in its own transaction, so that only the failed
    /// one has an error.
    private func deliver(_ group: inout DeliveryGroup, _ send: (_ index: Int, FleetReply) -> Void) {
        let members = group.members
        group = DeliveryGroup()
        do throws(DeliveryError) {
            if members.count > 1, let leftOut = try deliverTogether(members) {
                for (member, count) in zip(members, leftOut) { send(member.index, .receipt(leftOut: count)) }
                return
            }
        } catch {
            session.recover(from: error)
        }
        for (place, member) in members.enumerated() {
            do throws(DeliveryError) {
                _ = try exporter(of: member).connection()
            } catch {
                // The others would fail in the same way.
                for member in members[place...] { send(member.index, .failure(error)) }
                return
            }
            do throws(DeliveryError) {
                send(member.index, try answer(member.request, member.batch, of: member.store, member.sender))
            } catch {
                send(member.index, .failure(error))
            }
        }
    }

    /// Writes all or none of some deliveries.
    ///
    /// - Returns: The number of changes of each that were left out, or `nil` if one of the hubs is refused, and nothing was written.
    private func deliverTogether(_ members: [DeliveryGroup.Member]) throws(DeliveryError) -> [Int]? {
        var group: [(exporter: PostgreSQLExporter, batch: PreparedBatch)] = []
        for member in members {
            group.append((try exporter(of: member), member.batch))
        }
        guard let first = group.first else { return nil }
        let refusals = try fleet(first.exporter).refusals(
            of: members.map { ($0.store, $0.sender) }, requiresEnrollment: requiresEnrollment)
        guard refusals.allSatisfy({ $0 == nil }) else { return nil }
        return try session.deliver(group)
    }

    /// Computes statistics of days that are due (`DayRows`), for a few seconds at most.
    ///
    /// - Parameter age: The time in seconds since the first mark of a day that is due.
    /// - Returns: Whether more are due.
    func computeDays(after age: Int = 0) throws(DeliveryError) -> Bool {
        _ = try exporter(named: "days", me: Origin.unassigned, "days").connection()
        return try session.computeDays(seconds: 2, after: age)
    }

    /// Lets a hub join the fleet.
    ///
    /// - Parameter codeKey: The public key of the hub's code, as the broker reports it.
    package func reply(toJoin bytes: [UInt8], with codeKey: String) -> FleetReply {
        do throws(DeliveryError) {
            let request: JoinRequest
            do throws(BlockFault) {
                request = try JoinRequest(bytes: bytes, codeKey: codeKey)
            } catch {
                throw DeliveryError(.refused, "\(error)")
            }
            return .joined(
                try fleet(try exporter(named: "join", me: Origin.unassigned, request.store)).join(request, code: codeKey))
        } catch {
            // The transaction of a refused join was rolled back.
            if error.kind != .refused { session.end() }
            return .failure(error)
        }
    }

    private func answer(
        _ request: FleetRequest, _ batch: PreparedBatch? = nil, of store: String, _ sender: RequestSender
    ) throws(DeliveryError) -> FleetReply {
        var request = request
        let exporter = try exporter(named: request.target, me: request.me, store)
        let fleet = try fleet(exporter)
        do throws(DeliveryError) {
            let refusals = try fleet.refusals(of: [(store, sender)], requiresEnrollment: requiresEnrollment)
            // It does not cost the session.
            if let refusal = refusals.first ?? nil { return .failure(refusal) }
            switch request.task {
            case .number: return .number(try exporter.nextNumber())
            case .once(let number, let task):
                if let next = try exporter.use(number) { return .number(next) }
                request.task = task
            case .report, .erase, .order:
                // A broker that has recorded a sealed request could repeat it. An open request can be forged anyway.
                guard sender == .unsealed else { throw DeliveryError(.refused, "the request has no number: update the hub") }
            default: break
            }
            if case .report(let report) = request.task {
                return .orders(try fleet.enter(report, of: store, isSealed: sender != .unsealed))
            }
            if case .count(let zone, let after) = request.task {
                return .counts(try fleet.counts(of: store, zone: zone, after: after, limit: FleetReply.maximumCounts))
            }
        } catch {
            session.recover(from: error)
            throw error
        }
        switch request.task {
        case .find: return .found(try exporter.found())
        case .claim(let mark): return .claimed(try exporter.claim(mark))
        case .check: return .checked(try exporter.check())
        case .contents(let places, let after):
            return .contents(try exporter.contents(of: places, after: after, limit: FleetReply.maximumIdentities))
        case .digests(let after): return .digests(try exporter.digests(after: after, limit: FleetReply.maximumDigests))
        case .deliver(let other): return .receipt(leftOut: try exporter.deliver(batch ?? PreparedBatch(other)))
        case .erase(let person):
            try exporter.erase(person: person)
            return .receipt(leftOut: 0)
        case .order(let orders):
            try exporter.set(orders)
            return .receipt(leftOut: 0)
        case .report, .count, .number, .once: return .orders([])
        }
    }

    private func exporter(of member: DeliveryGroup.Member) throws(DeliveryError) -> PostgreSQLExporter {
        try exporter(named: member.request.target, me: member.request.me, member.store)
    }

    /// An exporter for one hub.
    private func exporter(named name: String, me: String, _ store: String) throws(DeliveryError) -> PostgreSQLExporter {
        do {
            return PostgreSQLExporter(session, context: try ExportContext(name: name, store: store, me: me, now: now))
        } catch {
            throw DeliveryError(.unfit, "\(error)")
        }
    }

    /// The tables of the fleet, over the session's connection.
    private func fleet(_ exporter: PostgreSQLExporter) throws(DeliveryError) -> FleetDatabase {
        let connection = try exporter.connection()
        if !isChecked { try FleetSchema(name: schema).check(connection) }
        isChecked = true
        return FleetDatabase(connection, schema: schema)
    }
}
