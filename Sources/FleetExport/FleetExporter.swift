import FleetProtocol
import HealthModel
import NATSKit
import Pipeline

/// Sends changes to the collectors of a fleet, over a NATS broker.
///
/// The broker stores nothing. A request waits for the receipt that a collector sends after the database has committed. Only the receipt
/// moves the cursor. Without a collector the broker replies with an error at once.
package final class FleetExporter: DayCountingExporter, DigestingExporter, ErasingExporter, PipeliningExporter,
    SourceOrderingExporter
{
    /// The number of changes in a block.
    package let batchLimit = BlockReader.maximumChanges
    /// All kinds, because the database has a table for each.
    package let kinds = Set(SampleKind.allCases)
    /// True, because the database has a table for each kind.
    package func accepts(_ sample: Sample) -> Bool { true }

    /// True because the database keeps the highest version of a record, from any hub.
    package let reportsRecords = true

    /// A minute, because a database that was restored from a backup lacks readings that no hub sends again by itself.
    package let checkInterval = Duration.seconds(60)

    private let settings: FleetSettings
    private let context: ExportContext
    private var connection: NATSConnection?
    private var sealer: RequestSealer?
    private let printer = SamplePrinter()
    /// The origin of the last printed sample, with its canonical unit if it is a quantity.
    private var latest: (origin: Origin, unit: Unit?)?
    /// The number of the next request that has one, as the center has sent it, or `nil` if it is unknown.
    private var number: Int64?

    /// Returns the hub's report, or `nil` if the hub does not report.
    package var makeReport: (() throws -> HubReport)?
    /// The order that the last report has brought.
    package private(set) var order: FleetOrder?
    private var lastReport: Instant?
    /// Whether changes waited at the last report.
    private var hadWaiting = false
    /// Whether an order waits until it can be carried out.
    private var isPostponed = false
    /// The number of an order that the center's key has not signed for this hub. The next report names it.
    package private(set) var refusedOrder: Int64?
    /// The number of such orders since the last good one.
    private var refusals = 0
    private var ring: (@Sendable () -> Void)?
    private var nudges: NudgeListener?
    /// The replies of deliveries that were sent, the oldest first.
    private var sent: [(reply: NATSPendingReply, seal: ReplySeal?, subject: String)] = []

    /// The number of refusals that are reported at once. More of them wait, so that wrong orders cannot keep the hub busy.
    private static let maximumRefusals = 3
    /// The shortest time between two reports without a nudge.
    private static let pause = Duration.seconds(60)

    /// The wait for a receipt, in milliseconds. A collector gives up sooner.
    private let timeout: Int

    /// Creates an exporter without connecting.
    package convenience init(_ settings: FleetSettings, context: ExportContext) {
        self.init(settings, context: context, timeout: Int(FleetRequest.timeout.components.seconds) * 1000)
    }

    init(_ settings: FleetSettings, context: ExportContext, timeout: Int) {
        (self.settings, self.context, self.timeout) = (settings, context, timeout)
    }

    /// The fleet and its brokers. Another broker of the same fleet leads to the same database, so its mark decides.
    package var address: String { "fleet \(settings.subject.fleet) at \(settings.servers.joined(separator: ", "))" }

    /// Sends a block of changes and waits for the receipt.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        forgetSent()
        try send(batch)
        return try acknowledgement()
    }

    /// Sends a block of changes.
    package func send(_ batch: ExportBatch) throws(DeliveryError) {
        // A long backlog must not look like silence.
        if isReportDue { try report() }
        let (subject, request, seal) = try encoded(.deliver(batch))
        let connection = try connected()
        let reply = try asDelivery(to: subject) { () throws(NATSError) in try connection.send(subject, request) }
        sent.append((reply, seal, subject))
    }

    /// Waits for the receipt of the oldest block that was sent.
    package func acknowledgement() throws(DeliveryError) -> Int {
        guard let next = sent.first else { throw DeliveryError(.unreachable, "the connection broke before the receipt came") }
        sent.removeFirst()
        do throws(DeliveryError) {
            let answer = try asDelivery(to: next.subject) { () throws(NATSError) in try next.reply.bytes(milliseconds: timeout) }
            guard case .receipt(let leftOut) = try decoded(answer, next.seal) else { throw Self.unexpected }
            return leftOut
        } catch {
            forgetSent()
            throw error
        }
    }

    /// Waits for no receipt of the blocks that were sent.
    package func forgetSent() { sent = [] }

    /// Asks a collector for the database's identity and our mark.
    package func found() throws(DeliveryError) -> FoundMark? {
        guard case .found(let mark) = try reply(to: .find) else { throw Self.unexpected }
        return mark
    }

    /// Has a collector write a mark.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        guard case .claimed(let isClaimed) = try reply(to: .claim(mark)) else { throw Self.unexpected }
        return isClaimed
    }

    /// Has a collector write a test reading and roll it back.
    package func check() throws(DeliveryError) -> [Finding] {
        guard case .checked(let findings) = try reply(to: .check) else { throw Self.unexpected }
        return [Finding(.good, "broker", "reached, and a collector of the fleet '\(settings.subject.fleet)' has replied")]
            + findings
    }

    /// Contents are compared by the hash of each row in the database.
    package let contentComparison = ContentComparison.prints

    /// The hash of a sample in the canonical unit, which the database has.
    package func print(of sample: Sample) -> UInt64? {
        if latest?.origin !== sample.origin {
            latest = (sample.origin, sample.origin.kind == .quantity ? sample.origin.type.canonicalUnit : nil)
        }
        return printer.print(of: sample, value: sample.value, unit: latest?.unit ?? sample.unit)
    }

    /// Asks a collector to sum up.
    package func digests(_ body: ([SampleDigest]) throws -> Void) throws {
        var last: SampleDigest.Place?
        while true {
            guard case .digests(let some) = try reply(to: .digests(after: last)) else { throw Self.unexpected }
            if !some.isEmpty { try body(some) }
            guard some.count == FleetReply.maximumDigests, let end = some.last?.place, last.map({ $0 < end }) != false else {
                return
            }
            last = end
        }
    }

    /// Passes on this hub's samples of some days and types in the database, in the order of their UUIDs.
    package func contents(of places: [SampleDigest.Place], _ body: ([TargetSample]) throws -> Void) throws {
        for start in stride(from: 0, to: places.count, by: FleetRequest.maximumPlaces) {
            let part = Array(places[start..<min(start + FleetRequest.maximumPlaces, places.count)])
            var last: SampleIdentity?
            while true {
                guard case .contents(let some) = try reply(to: .contents(of: part, after: last)) else { throw Self.unexpected }
                if !some.isEmpty { try body(some) }
                guard some.count == FleetReply.maximumIdentities, let end = some.last?.identity, last.map({ $0 < end }) != false
                else {
                    break
                }
                last = end
            }
        }
    }

    /// Passes on all of this hub's samples in the database.
    package func contents(_ body: ([TargetSample]) throws -> Void) throws {
        var places: [SampleDigest.Place] = []
        try digests { places += $0.map(\.place) }
        try contents(of: places, body)
    }

    /// Asks a collector to count.
    package func dayCounts(zone: String) throws(DeliveryError) -> [DayCount] {
        var all: [DayCount] = []
        while true {
            guard case .counts(let some) = try reply(to: .count(zone: zone, after: all.last)) else { throw Self.unexpected }
            all += some
            guard some.count == FleetReply.maximumCounts else { return all }
        }
    }

    /// Has a collector withdraw everything that this hub has sent about a person.
    package func erase(person: String) throws(DeliveryError) {
        guard case .receipt = try reply(once: .erase(person)) else { throw Self.unexpected }
    }

    /// Has a collector use these orders of sources for the days of this hub's people.
    package func set(_ orders: [SourceOrder]) throws(DeliveryError) {
        do throws(DeliveryError) {
            guard case .receipt = try reply(once: .order(orders)) else { throw Self.unexpected }
        } catch {
            // An older collector knows no orders.
            guard error.kind == .refused else { throw error }
        }
    }

    /// Closes the connection.
    package func finish() { disconnect() }

    private func disconnect() {
        nudges?.end()
        (nudges, connection, sent) = (nil, nil, [])
    }

    // MARK: Reports and orders

    /// Has a function called, on any thread, when the center asks for a report or when the connection breaks.
    package func listen(_ ring: @escaping @Sendable () -> Void) { self.ring = ring }

    /// Whether the center has asked for a report.
    package var isNudged: Bool { nudges?.isNudged ?? false }

    /// The order was carried out, and the next report has its result.
    package func endOrder() { (order, lastReport, isPostponed) = (nil, nil, false) }

    /// The next step reports, even if the last report was a moment ago.
    package func reportSoon() { lastReport = nil }

    /// The order cannot be carried out yet. It comes again with a later report.
    package func postpone() { (order, isPostponed) = (nil, true) }

    /// Whether a refused order can be reported now.
    package var isRefusalDue: Bool { refusedOrder != nil && !isPostponed }

    /// Reports to the center, at most once a minute unless it has asked, or unless changes waited before.
    package func idle() throws(DeliveryError) -> Duration? {
        if isReportDue || (hadWaiting && order == nil) { try report() }
        return isPostponed ? Self.pause : nil
    }

    private var isReportDue: Bool {
        guard makeReport != nil, order == nil else { return false }
        guard let lastReport, !isNudged else { return true }
        return abs(context.now().microseconds - lastReport.microseconds) >= Self.pause.components.seconds * 1_000_000
    }

    /// Reports to the center at once.
    package func report() throws(DeliveryError) {
        guard let makeReport else { return }
        var report: HubReport
        do { report = try makeReport() } catch { throw DeliveryError(.unreachable, "\(error)") }
        report.refused = refusedOrder
        _ = try connected()
        _ = nudges?.take()
        var next: FleetOrder?
        do throws(DeliveryError) {
            guard case .orders(let orders) = try reply(once: .report(report)) else { throw Self.unexpected }
            next = orders.first
        } catch {
            // An older collector knows no reports.
            guard error.kind == .refused else { throw error }
        }
        (lastReport, hadWaiting) = (context.now(), report.waiting > 0)
        receive(next, after: report.order)
    }

    /// Accepts an order that is new, and that the center's key has signed for this hub.
    ///
    /// - Parameter done: the number of the last order that was carried out.
    private func receive(_ next: FleetOrder?, after done: Int64) {
        (order, refusedOrder, isPostponed) = (nil, nil, false)
        guard let key = settings.commandKey.flatMap({ NKey.publicKey($0) }), let next else {
            refusals = 0
            return
        }
        guard next.number > done, next.isSigned(by: key, for: context.store, of: settings.subject) else {
            (refusedOrder, refusals) = (next.number, refusals + 1)
            if refusals <= Self.maximumRefusals { lastReport = nil } else { isPostponed = true }
            return
        }
        (order, refusals) = (next, 0)
    }

    private static let unexpected = DeliveryError(.unreachable, "the collector's reply is not one to this request: update both")

    /// Sends a request that must not be carried out twice, and returns the collector's reply.
    private func reply(once task: FleetRequest.Task) throws(DeliveryError) -> FleetReply {
        let known = number
        // After an error it is unknown whether the number was used.
        number = nil
        var next: Int64
        if let known {
            next = known
        } else {
            guard case .number(let first) = try reply(to: .number) else { throw Self.unexpected }
            next = first
        }
        // Another process of this hub can be faster, or the broker delivers an earlier request only now.
        for _ in 0..<Self.maximumNumbers {
            let answer = try reply(to: .once(next, task))
            guard case .number(let other) = answer else {
                number = next + 1
                return answer
            }
            next = other
        }
        throw DeliveryError(.unreachable, "other requests of this hub arrive at the same time")
    }

    /// The number of attempts to be the next request.
    private static let maximumNumbers = 4

    /// Sends a request and returns the collector's reply.
    ///
    /// - Throws: The collector's error, or the broker's.
    private func reply(to task: FleetRequest.Task) throws(DeliveryError) -> FleetReply {
        let (subject, request, seal) = try encoded(task)
        let connection = try connected()
        let answer = try asDelivery(to: subject) { () throws(NATSError) in
            try connection.request(subject, request, milliseconds: timeout)
        }
        return try decoded(answer, seal)
    }

    /// The subject and bytes of a request, with the seal of its reply.
    private func encoded(_ task: FleetRequest.Task) throws(DeliveryError) -> (subject: String, bytes: [UInt8], seal: ReplySeal?) {
        guard let subject = settings.subject.requests(of: context.store) else {
            throw DeliveryError(.unfit, "the store's identifier cannot be part of a subject")
        }
        let (request, seal) = try sealed(FleetRequest(target: context.name, me: context.me, task: task).bytes)
        let maximumLength = try connected().maximumMessageLength
        guard request.count <= maximumLength else {
            throw DeliveryError(
                .tooLarge, "a block of \(request.count) bytes is longer than the broker's max_payload of \(maximumLength)")
        }
        return (subject, request, seal)
    }

    /// The reply in an answer.
    ///
    /// - Throws: The collector's error.
    private func decoded(_ answer: [UInt8], _ seal: ReplySeal?) throws(DeliveryError) -> FleetReply {
        guard let reply = FleetReply(bytes: try opened(answer, seal)) else { throw Self.unexpected }
        if case .failure(let error) = reply { throw error }
        return reply
    }

    /// The request as it is sent, with the seal of its reply. Without the setting `sealingKey` it is not sealed.
    private func sealed(_ request: [UInt8]) throws(DeliveryError) -> (bytes: [UInt8], reply: ReplySeal?) {
        if sealer == nil { sealer = try settings.sealer(of: context.store) }
        guard let sealer else { return (request, nil) }
        guard let sealed = sealer.sealed(request) else { throw DeliveryError(.unfit, "the request cannot be sealed") }
        return sealed
    }

    /// The reply without its seal.
    ///
    /// - Throws: ``DeliveryError`` if a request was sealed, and its reply is not. The broker may have written it, so only known words
    ///   are taken from it, and the hub tries again.
    private func opened(_ answer: [UInt8], _ seal: ReplySeal?) throws(DeliveryError) -> [UInt8] {
        guard let seal else { return answer }
        if let reply = seal.opened(answer) { return reply }
        var words = "the reply to a sealed request is not sealed for this hub: update the collector, or check who runs the broker"
        if case .failure(let error) = FleetReply(bytes: answer), SealFault.allCases.contains(where: { $0.words == error.reason })
        {
            words = error.reason
        }
        throw DeliveryError(.unreachable, words)
    }

    private func connected() throws(DeliveryError) -> NATSConnection {
        if let connection { return connection }
        var broker = try settings.broker(name: "vitalgate hub")
        broker.replies = settings.subject.replies(to: context.store)
        return try asDelivery { () throws(NATSError) in
            let new = try NATSConnection.signedIn(broker)
            if settings.runsCommands, let ring {
                nudges = try NudgeListener(new, settings.subject.nudge(of: context.store), ring: ring)
            }
            connection = new
            return new
        }
    }

    /// Runs something at the broker. After an error the next request connects again.
    private func asDelivery<Result>(
        to subject: String = "", _ body: () throws(NATSError) -> Result
    ) throws(DeliveryError) -> Result {
        do throws(NATSError) {
            return try body()
        } catch {
            disconnect()
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
    package init(_ error: NATSError) {
        switch error.kind {
        case .noResponders: self.init(.unreachable, "the broker was reached, but no collector is running")
        case .timeout: self.init(.unreachable, "no receipt arrived in time")
        // A revoked hub. The connection has tried for as long as a broker needs to read its users again.
        case .unauthorised: self.init(.unauthorised, "the broker refuses our credentials: \(error)", isLasting: true)
        case .tooLarge: self.init(.tooLarge, "the broker refuses a block of this length")
        case .invalid: self.init(.unfit, "the broker cannot be used: \(error)")
        case .unreachable: self.init(.unreachable, "the broker cannot be reached: \(error)")
        }
    }
}
