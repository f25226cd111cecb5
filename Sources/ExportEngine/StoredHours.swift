import HealthModel
import Pipeline
import SampleStore

/// Statistics of hours from the samples of a store that a target receives.
package final class StoredHours: HourComputing {
    private let store: SampleStore
    private let settings: TargetSettings
    private let findZone: (String) -> TimeZoneRules?
    private let predicate: SamplePredicate
    private static let hour = CalendarInterval("1h") ?? .day

    /// - Parameters:
    ///   - settings: The target's settings.
    ///   - zone: Looks up a zone of the tz database.
    package init(_ store: SampleStore, _ settings: TargetSettings, zone: @escaping (String) -> TimeZoneRules?) {
        (self.store, self.settings, findZone) = (store, settings, zone)
        let others = settings.ownSources.sorted().map {
            SamplePredicate.not(.comparison(.source(.id), .equal, .text($0)))
        }
        predicate = .and((settings.filter.map { [$0] } ?? []) + others)
    }

    private func query(_ series: HourSeries, minute: Int = 0) -> StatisticsQuery {
        let anchor = Instant(seconds: Int64(minute) * 60)
        var query = StatisticsQuery(
            type: series.type,
            intervals: CalendarIntervals(Self.hour, zone: TimeZoneRules(fixed: .utc), anchor: anchor), person: series.person,
            priority: settings.sourcePriority)
        query.predicate = predicate
        return query
    }

    package func series() throws -> [HourSeries] {
        let all = try store.samples.series(matching: SampleQuery(where: predicate)).filter { $0.type.kind == .quantity }
        return Set(all.map { HourSeries(person: $0.person, type: $0.type) }).sorted {
            ($0.person, $0.type.id) < ($1.person, $1.type.id)
        }
    }

    package func extent(of series: HourSeries) throws -> (first: Instant, last: Instant)? {
        try store.extent(of: query(series))
    }

    package func hours(
        of series: HourSeries, minute: Int, from: Instant, to: Instant, _ body: ([Statistics]) throws -> Bool
    ) throws {
        var query = query(series, minute: minute)
        (query.from, query.to) = (from, to)
        try store.statistics(query, batch: 1024) { try body($0.filter { $0.count > 0 }) }
    }

    package func affected(by samples: [Sample], of series: HourSeries, minute: Int) throws -> [Range<Instant>] {
        try store.intervals(of: query(series, minute: minute), affectedBy: samples)
    }

    package func name(of person: String) throws -> String? {
        person == store.owner ? nil : try store.people.names()[person] ?? person
    }

    package func people() throws -> [String] {
        try Set(store.people.all().map(\.id) + [store.owner, Origin.unassigned] + series().map(\.person)).sorted()
    }

    package func zone(_ name: String) -> TimeZoneRules? { findZone(name) }

    package func hasRemovedSamples() throws -> Bool { try store.hasRemovedSamples() }
}
