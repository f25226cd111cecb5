import HealthModel
import SampleStore

/// Combines sleep samples into nights.
package struct NightReader {
    private let store: SampleStore
    private let priority: [String]

    /// Creates a reader.
    ///
    /// - Parameter priority: Source and device ids or names in the configured order, the best first.
    package init(_ store: SampleStore, priority: [String]) {
        (self.store, self.priority) = (store, priority)
    }

    private struct Origin: Hashable {
        var person: String
        var source: String
        var device: String
    }

    /// The nights of a query, sorted by start.
    ///
    /// - Parameters:
    ///   - from, to: Nights that end after `from` and begin before `to` are returned. They are read completely.
    package func nights(_ query: SampleQuery, from: Instant?, to: Instant?) throws(StoreError) -> [Night] {
        var ranks: [Origin: Int] = [:]
        for (rank, series) in try store.sources.seriesByPriority(matching: query, priority).enumerated() {
            ranks[Origin(person: series.person, source: series.source, device: series.device)] = rank
        }
        var nights: [Night] = []
        var open: [String: Night] = [:]
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        while let sample = try cursor.next()?.sample {
            let name = sample.origin.type.caseName(of: sample.value)
            let stage = Night.Stage(case: name)
            guard stage != nil || name == "inBed" else { continue }
            let origin = Origin(
                person: sample.origin.person, source: sample.origin.source.id, device: sample.origin.device?.key ?? "")
            let entry = Night.Entry(
                interval: Night.Interval(start: sample.start.microseconds, end: sample.end.microseconds), stage: stage,
                rank: ranks[origin] ?? ranks.count, source: sample.origin.source.displayName)
            let person = sample.origin.person
            // The limit bounds the memory for implausibly long nights.
            if open[person]?.count ?? 0 < 100_000, open[person]?.take(entry) == true { continue }
            if let night = open[person] { nights.append(night) }
            open[person] = Night(entry, person: person, zone: sample.zone)
        }
        nights += open.values
        return nights.filter { night in
            night.end > from?.microseconds ?? .min && night.start < to?.microseconds ?? .max
        }.sorted { ($0.start, $0.person) < ($1.start, $1.person) }
    }

    /// A person's last night that is over, or `nil` if no sleep was recorded. A nap after the night is not the last night.
    ///
    /// - Parameter before: Sleep that begins later does not count.
    package func lastNight(of person: String, before now: Instant, zone: TimeZoneRules) throws(StoreError) -> Night? {
        guard let type = SampleType("sleepAnalysis") else { return nil }
        let latest = try store.samples.latest(of: [type], person: person) { $0.start <= now }
        guard let newest = latest.map(\.sample.end).max() else { return nil }
        let sleeps = try history(
            of: person, days: TypicalRange.reach + 1, through: min(newest, now), at: now, zone: zone
        ).flatMap { [$0.night] + $0.naps }
        guard let end = sleeps.map(\.end).max() else { return nil }
        // The longest sleep is the night. Time in bed counts if there is nothing else.
        let recent = sleeps.filter { $0.end > end &- Self.wakefulness }.map { (night: $0, rank: ($0.asleep, $0.end &- $0.start)) }
        return recent.max { $0.rank < $1.rank }?.night
    }

    private static let hour: Int64 = 3_600_000_000
    /// A nap ends at most this long after its night. The night before that ended longer ago.
    private static let wakefulness = 18 * hour
}
