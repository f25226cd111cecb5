import FleetProtocol
import HealthModel
import NATSKit
import Pipeline

/// Sends changes to the collectors of a fleet, over a NATS broker.
///
/// The broker stores nothing. A request waits for the receipt that a collector sends after the database has committed. Only the receipt
/// moves the cursor. Without a collector the broker replies with an error at once.
public final class FleetExporter: ComparableExporter {
    /// The number of changes in a block.
    public let batchLimit = BlockReader.mostChanges
    /// All kinds, because the database has a table for each.
    public let kinds = Set(SampleKind.allCases)
    /// True because the database keeps the highest version of a record, from any hub.
    public let tellsRecords = true

    private let settings: FleetSettings
    private let context: ExportContext
    private var connection: NATSConnection?

    /// The wait for a receipt, in milliseconds. A collector gives up sooner.
    private let patience: Int

    /// Creates an exporter without connecting.
    public convenience init(_ settings: FleetSettings, context: ExportContext) {
        self.init(settings, context: context, patience: 60_000)
    }

    init(_ settings: FleetSettings, context: ExportContext, patience: Int) {
        (self.settings, self.context, self.patience) = (settings, context, patience)
    }

    /// The fleet and its brokers. Another broker of the same fleet leads to the same database, so its mark decides.
    public var address: String { "fleet \(settings.subject.fleet) at \(settings.servers.joined(separator: ", "))" }

    /// Sends a block of changes and waits for the receipt.
    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        guard case .receipt(let leftOut) = try reply(to: .deliver(batch)) else { throw Self.unexpected }
        return leftOut
    }

    /// Asks a collector for the database's identity and our mark.
    public func found() throws(DeliveryError) -> FoundMark? {
        guard case .found(let mark) = try reply(to: .find) else { throw Self.unexpected }
        return mark
    }

    /// Has a collector write a mark.
    public func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        guard case .claimed(let isClaimed) = try reply(to: .claim(mark)) else { throw Self.unexpected }
        return isClaimed
    }

    /// Has a collector write a test reading and roll it back.
    public func check() throws(DeliveryError) -> [Finding] {
        guard case .checked(let findings) = try reply(to: .check) else { throw Self.unexpected }
        return [Finding(.good, "broker", "reached, and a collector of the fleet '\(settings.subject.fleet)' has replied")]
            + findings
    }

    public let contentComparison = ContentComparison.asked

    /// Asks the database, batch by batch.
    public func differing(_ samples: [Sample]) throws(DeliveryError) -> [SampleIdentity] {
        var found: [SampleIdentity] = []
        var rest = samples[...]
        var limit = batchLimit
        while !rest.isEmpty {
            let part = rest.prefix(limit)
            do throws(DeliveryError) {
                guard case .identities(let some) = try reply(to: .differing(Array(part))) else { throw Self.unexpected }
                found += some
                rest = rest.dropFirst(part.count)
            } catch {
                // A sample that is too long for the broker was never delivered.
                guard error.kind == .tooLarge else { throw error }
                if part.count == 1 { rest = rest.dropFirst() }
                limit = max(1, part.count / 2)
            }
        }
        return found
    }

    /// Passes on this hub's samples in the database, in the order of their UUIDs.
    public func contents(_ body: ([HeldSample]) throws -> Void) throws {
        var last: SampleIdentity?
        while true {
            guard case .identities(let some) = try reply(to: .contents(after: last)) else { throw Self.unexpected }
            if !some.isEmpty { try body(some.map { HeldSample($0) }) }
            guard some.count == FleetReply.mostIdentities, let end = some.last, last.map({ $0 < end }) != false else { return }
            last = end
        }
    }

    /// Closes the connection.
    public func finish() { connection = nil }

    private static let unexpected = DeliveryError(.unreachable, "the collector's reply is not one to this request: update both")

    /// Sends a request and returns the collector's reply.
    ///
    /// - Throws: The collector's error, or the broker's.
    private func reply(to task: FleetRequest.Task) throws(DeliveryError) -> FleetReply {
        guard let subject = settings.subject.requests(of: context.store) else {
            throw DeliveryError(.unfit, "the store's identifier cannot be part of a subject")
        }
        let request = FleetRequest(target: context.name, me: context.me, task: task).octets
        let connection = try connected()
        let longest = connection.longestMessage
        guard request.count <= longest else {
            throw DeliveryError(
                .tooLarge, "a block of \(request.count) bytes is longer than the broker's max_payload of \(longest)")
        }
        let answer = try asDelivery(to: subject) { () throws(NATSError) in
            try connection.request(subject, request, milliseconds: patience)
        }
        guard let reply = FleetReply(octets: answer) else { throw Self.unexpected }
        if case .failure(let error) = reply { throw error }
        return reply
    }

    private func connected() throws(DeliveryError) -> NATSConnection {
        if let connection { return connection }
        let broker = try settings.broker(name: "vitalgate hub")
        let new = try asDelivery { () throws(NATSError) in try NATSConnection(broker, .once) }
        connection = new
        return new
    }

    /// Runs something at the broker. After an error the next request connects again.
    private func asDelivery<Result>(
        to subject: String = "", _ body: () throws(NATSError) -> Result
    ) throws(DeliveryError) -> Result {
        do throws(NATSError) {
            return try body()
        } catch {
            connection = nil
            guard error.kind != .timeout else {
                // A broker reports a missing permission only in its log.
                throw DeliveryError(
                    .unreachable, "no receipt arrived in time (the broker must let this hub publish to \(subject))")
            }
            throw DeliveryError(error)
        }
    }
}

extension DeliveryError {
    /// The error of a broker.
    public init(_ error: NATSError) {
        switch error.kind {
        case .noResponders: self.init(.unreachable, "the broker was reached, but no collector is running")
        case .timeout: self.init(.unreachable, "no receipt arrived in time")
        case .unauthorised: self.init(.unauthorised, "the broker refuses our credentials: \(error)")
        case .tooLarge: self.init(.tooLarge, "the broker refuses a block of this length")
        case .invalid: self.init(.unfit, "the broker cannot be used: \(error)")
        case .unreachable: self.init(.unreachable, "the broker cannot be reached: \(error)")
        }
    }
}
