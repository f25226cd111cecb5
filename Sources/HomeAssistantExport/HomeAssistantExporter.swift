import Glibc
import HealthModel
import HomeAssistantKit
import Pipeline

/// Keeps hourly statistics in Home Assistant equal to those of the store.
///
/// A changed sample marks the hours that it may affect. Their statistics come from the store as it is now, are compared with Home
/// Assistant's rows, and only the differences are written, so that a repeated change costs one read. ``deliver(_:)`` returns once
/// the written rows were read back.
///
/// After a connection, the latest two days of each statistic are compared, because Home Assistant may lose its last commits in a
/// power cut. If rows are missing there, as after a restored backup, and once a week, everything is compared.
package final class HomeAssistantExporter: HourComparingExporter, ErasingExporter, SourceOrderingExporter, ClearableExporter {
    /// The maximum number of changes. Thousands of samples of one hour make one row.
    package let batchLimit = 5000
    package let address: String
    private let settings: HomeAssistantSettings
    private let context: ExportContext
    let hours: any HourComputing
    /// The pause between small deliveries. A sensor that measures each second would have Home Assistant write its row each
    /// second.
    private let spacing: Duration
    private var session: RecorderSession?
    /// A digest of the token that was refused, which is never sent again by this process.
    private var refusedToken: Int?
    private var lastDelivery: ContinuousClock.Instant?
    /// Statistics whose latest rows, or all rows, have to be compared.
    private var unchecked: (latest: Set<HourSeries>, all: Set<HourSeries>) = ([], [])
    private var lastCheck: Instant?
    private var orders: [SourceOrder] = []
    /// When the first row that lies in the future has begun.
    private var future: Instant?
    /// The minute of UTC's hours at which Home Assistant's hours begin.
    private(set) var minute = 0

    /// Batches with fewer changes may wait for more.
    private static let smallBatch = 500
    /// How often the connection is attended to while nothing is sent.
    private static let attention = Duration.seconds(20)
    /// The latest rows, which a power cut may take.
    private static let latest: Int64 = 48 * StatisticRow.hour
    private static let checkInterval: Int64 = 7 * 24 * StatisticRow.hour

    /// Creates an exporter without connecting.
    ///
    /// - Throws: ``SettingsFault`` if it has no store to compute hours from.
    package init(
        _ settings: HomeAssistantSettings, context: ExportContext, spacing: Duration = .seconds(5)
    ) throws(SettingsFault) {
        guard let hours = context.hours else { throw SettingsFault("kind", "this target needs a store") }
        (self.settings, self.context, self.hours, self.spacing) = (settings, context, hours, spacing)
        address = settings.address.text
    }

    package func accepts(_ sample: Sample) -> Bool { sample.origin.kind == .quantity && sample.origin.type.isKnown }

    // MARK: Connection

    func opened() throws(DeliveryError) -> RecorderSession {
        if let session {
            do throws(HomeAssistantError) {
                try session.client.attend()
                return session
            } catch {
                self.session = nil
            }
        }
        let token = try settings.token.read()
        guard refusedToken != token.hashValue else { throw Self.refusal }
        do throws(HomeAssistantError) {
            let client = try HomeAssistantClient(
                settings.address, token: token, certificateAuthority: settings.certificateAuthority)
            let session = try RecorderSession(client)
            minute = hourMinute(of: client.configuration.timeZone)
            self.session = session
        } catch {
            if error.kind == .token { refusedToken = token.hashValue }
            throw Self.deliveryError(error)
        }
        guard let session else { throw DeliveryError(.unreachable, "there is no connection") }
        unchecked.latest.formUnion(try fromStore { try hours.series() })
        return session
    }

    private static let refusal = DeliveryError(
        .unauthorised, "Home Assistant has refused the token: store a new one in the token's file", isLasting: true)

    static func deliveryError(_ error: HomeAssistantError) -> DeliveryError {
        switch error.kind {
        case .unreachable: DeliveryError(.unreachable, error.description)
        case .token, .rights: DeliveryError(.unauthorised, error.description, isLasting: true)
        case .address, .unfit, .command: DeliveryError(.unfit, error.description)
        }
    }

    /// Runs commands, and forgets the connection if one fails: the answers to later commands would be unclear.
    func asking<Result>(_ body: () throws -> Result) throws(DeliveryError) -> Result {
        do {
            return try body()
        } catch {
            session?.client.close()
            session = nil
            switch error {
            case let error as HomeAssistantError: throw Self.deliveryError(error)
            case let error as DeliveryError: throw error
            default: throw DeliveryError(.unreachable, "\(error)")
            }
        }
    }

    private func fromStore<Result>(_ body: () throws -> Result) throws(DeliveryError) -> Result {
        do { return try body() } catch { throw DeliveryError(.unreachable, "\(error)") }
    }

    /// Hours begin at the same minute as in Home Assistant's zone now, so that its days consist of whole hours in India too.
    private func hourMinute(of zone: String) -> Int {
        guard let rules = hours.zone(zone) else { return 0 }
        let seconds = Int(rules.offset(at: context.now()).seconds)
        let minute = seconds.quotientAndRemainder(dividingBy: 3600).remainder / 60
        return ((-minute) % 60 + 60) % 60
    }

    // MARK: Delivery

    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        if batch.changes.count < Self.smallBatch, let lastDelivery {
            let pause = spacing - (ContinuousClock.now - lastDelivery)
            if pause > .zero { usleep(UInt32(pause / .microseconds(1))) }
        }
        defer { lastDelivery = .now }
        let session = try opened()
        var changed: [HourSeries: [Sample]] = [:]
        var leftOut = 0
        for change in batch.changes {
            let sample = change.sample
            guard accepts(sample) else {
                leftOut += 1
                continue
            }
            changed[HourSeries(person: sample.origin.person, type: sample.origin.type), default: []].append(sample)
        }
        // What people have just measured comes first.
        let order = changed.keys.sorted { one, other in
            let (first, second) = (changed[one]?.lazy.map(\.start).max(), changed[other]?.lazy.map(\.start).max())
            guard let first, let second, first != second else { return one.type.id < other.type.id }
            return first > second
        }
        try asking {
            for series in order {
                guard let samples = changed[series] else { continue }
                let statistic = Statistic(series)
                let work = try update(of: statistic, session)
                // A statistic that is not there gets all of its hours at once.
                let spans =
                    session.known[statistic.id] == nil
                    ? nil : try hours.affected(by: samples, of: series, minute: minute)
                note(try work.update(spans, removing: samples))
            }
        }
        return leftOut
    }

    private func update(of statistic: Statistic, _ session: RecorderSession, mends: Bool = true) throws -> HourUpdate {
        try HourUpdate(
            session, hours, statistic, minute: minute, now: context.now(), unit: context.unit(of: statistic.series.type),
            mends: mends)
    }

    /// Notes the first row that lies in the future.
    private func note(_ result: HourUpdate.Result) {
        guard let next = result.future else { return }
        future = min(future ?? next, next)
    }

    package func idle() throws(DeliveryError) -> Duration? {
        let session = try opened()
        let now = context.now()
        if lastCheck.map({ now.microseconds - $0.microseconds >= Self.checkInterval }) ?? false {
            unchecked.all.formUnion(try fromStore { try hours.series() })
            lastCheck = now
        }
        lastCheck = lastCheck ?? now
        if let future, future <= now {
            self.future = nil
            unchecked.latest.formUnion(try fromStore { try hours.series() })
        }
        try asking {
            for series in unchecked.latest.sorted(by: { $0.type.id < $1.type.id }) {
                try checkLatest(series, session, now)
                unchecked.latest.remove(series)
            }
            if let series = unchecked.all.sorted(by: { $0.type.id < $1.type.id }).first {
                let work = try update(of: Statistic(series), session)
                note(try work.update(nil, removing: []))
                unchecked.all.remove(series)
            }
        }
        return unchecked.all.isEmpty ? Self.attention : .zero
    }

    /// Compares the latest rows. If one is missing, everything is compared later.
    private func checkLatest(_ series: HourSeries, _ session: RecorderSession, _ now: Instant) throws {
        guard let extent = try hours.extent(of: series) else { return }
        let statistic = Statistic(series)
        guard session.known[statistic.id] != nil else {
            unchecked.all.insert(series)
            return
        }
        let work = try update(of: statistic, session)
        let last = work.hour(of: min(extent.last, now)).microseconds
        let from = work.hour(of: Instant(microseconds: max(0, last - Self.latest)))
        let to = Instant(microseconds: last + StatisticRow.hour)
        let result = try work.update(from < to ? [from..<to] : [], removing: [])
        note(result)
        if result.missing > 0 { unchecked.all.insert(series) }
    }

    /// Another order of sources changes statistics of any time, and the change log does not report it.
    package func set(_ orders: [SourceOrder]) throws(DeliveryError) {
        let changed = orders.filter { !self.orders.contains($0) } + self.orders.filter { !orders.contains($0) }
        let series = try fromStore { try hours.series() }
        for order in changed {
            unchecked.all.formUnion(
                series.filter { each in
                    (order.person.map { $0 == each.person } ?? true) && (order.type.map { $0 == each.type } ?? true)
                })
        }
        self.orders = orders
    }

    package func finish() {
        session?.client.close()
        session = nil
    }

    // MARK: Everything

    package func compare(mends: Bool, progress: (Int) -> Void) throws(DeliveryError) -> HourDifferences {
        let session = try opened()
        return try asking {
            var differences = HourDifferences()
            var expected: Set<String> = []
            for series in try hours.series() where try hours.extent(of: series) != nil && series.type.isKnown {
                let statistic = Statistic(series)
                expected.insert(statistic.id)
                let result = try update(of: statistic, session, mends: mends).update(nil, removing: [])
                note(result)
                differences.add(result.differences)
                progress(differences.count)
            }
            let own = try ownIDs(session)
            // Its samples may have been removed permanently, and then it has the only copy.
            let surplus = try hours.hasRemovedSamples() ? [] : own.filter { !expected.contains($0) }
            differences.surplus += surplus.count
            differences.foreign = session.known.count - own.count
            if mends { try session.clear(surplus) }
            unchecked = ([], [])
            lastCheck = context.now()
            return differences
        }
    }

    /// The ids of this store's people.
    private func ownIDs(_ session: RecorderSession) throws -> [String] {
        let prefixes = try hours.people().map(Statistic.prefix)
        return session.known.keys.filter { id in prefixes.contains { id.hasPrefix($0) } }.sorted()
    }

    package func clear() throws(DeliveryError) -> Int {
        let session = try opened()
        return try asking {
            let ids = try ownIDs(session)
            try session.clear(ids)
            return ids.count
        }
    }

    package func erase(person: String) throws(DeliveryError) {
        let session = try opened()
        let prefix = Statistic.prefix(of: person)
        try asking { try session.clear(session.known.keys.filter { $0.hasPrefix(prefix) }.sorted()) }
    }
}
