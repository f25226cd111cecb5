import HealthModel

/// A query for the activity rings of days.
public struct ActivityQuery: Sendable {
    /// The time zone of the days. The length of a day depends on its clock changes.
    public var zone: TimeZoneRules
    /// An instant in the first day, or `nil` for the first day that has data.
    public var from: Instant?
    /// The end of the range. A day that began before this instant is included.
    public var to: Instant?
    /// The person, or `nil` for all people.
    public var person: String?
    /// Sources and devices by id or name, best first. If several cover the same time, only one counts.
    public var priority: [String]

    /// Creates a query.
    public init(
        zone: TimeZoneRules, from: Instant? = nil, to: Instant? = nil, person: String? = nil, priority: [String] = []
    ) {
        (self.zone, self.from, self.to) = (zone, from, to)
        (self.person, self.priority) = (person, priority)
    }
}

/// The inputs of the rings other than samples, and the change up to which they are known.
public struct ActivityState: Sendable {
    let anchor: Anchor
    let entries: [CharacteristicEntry]
    let orders: [SourceOrder]
}

/// A day's rings and the summary they come from, or no summary if they were computed from samples.
public typealias ActivityDayWithSummary = (day: ActivityDay, summary: StoredSample?)

extension SampleStore.Activity {
    /// Calls `body` with the rings of each day that has data, in order and some hundred days at a time.
    ///
    /// If a source reported a summary for the day, its rings are those of the summary. Otherwise they are computed from the person's
    /// samples, counting each moment once (``statistics(_:)``), and no goal is known. Unassigned samples have no rings unless the query
    /// asks for them.
    ///
    /// - Parameter body: Returns whether to go on.
    public func days(_ query: ActivityQuery, _ body: ([ActivityDayWithSummary]) throws -> Bool) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let days = CalendarIntervals(.day, zone: query.zone)
        var all = try activitySeries(query)
        for index in all.indices {
            all[index].maximumDuration =
                all[index].type.aggregation == .cumulative ? try store.maximumDuration(of: all[index]) : 0
        }
        let people = Set(all.map(\.person)).sorted()
        var readers: [ActivityReader] = []
        var first: [String: String] = [:]
        for person in people {
            first[person] = try firstReadableDate(of: person, days)
            readers.append(
                ActivityReader(
                    store: store, query: query, days: days, series: all.filter { $0.person == person },
                    history: try store.people.characteristics(of: person), person: person))
        }
        var position = query.from.map { days.index(of: $0) }
        let end = query.to.map { to in
            let day = days.index(of: to)
            return days.start(of: day) < to ? day + 1 : day
        }
        while let day = try nextDay(from: position, of: all, days), day < end ?? .max {
            let window = day..<min(end ?? .max, day + ActivityReader.window)
            var reported: [ActivityDayWithSummary] = []
            for reader in readers {
                reported += try reader.days(in: window).filter { $0.day.date >= first[reader.person] ?? "" }
            }
            reported.sort { ($0.day.date, $0.day.person) < ($1.day.date, $1.day.person) }
            if !reported.isEmpty, !(try body(reported)) { return }
            position = window.upperBound
        }
    }

    /// Returns the rings of all days of a query.
    public func days(_ query: ActivityQuery) throws -> [ActivityDayWithSummary] {
        var all: [ActivityDayWithSummary] = []
        try days(query) {
            all += $0
            return true
        }
        return all
    }

    /// Returns the current inputs of a query's days, and whether they changed since an earlier state, so that a day may differ.
    ///
    /// It reads no samples. Its cost grows with the number of commits since the earlier state.
    public func state(of query: ActivityQuery, after known: ActivityState?) throws(StoreError) -> (
        state: ActivityState, isOther: Bool
    ) {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var entries: [CharacteristicEntry] = []
        let people = try store.people.peopleWithCharacteristics().filter { query.person == nil || $0 == query.person }
        for person in people { entries += try store.people.characteristics(of: person).entries }
        let orders = try store.sources.orders()
        guard let known, known.entries == entries, known.orders == orders, try store.changes.reasonNotToKnow(known.anchor) == nil
        else {
            return (ActivityState(anchor: try store.changes.lastAnchor(), entries: entries, orders: orders), true)
        }
        let changed = try store.changes.changedTypes(after: known.anchor)
        return (
            ActivityState(anchor: changed.anchor, entries: entries, orders: orders),
            !changed.types.isDisjoint(with: ActivityReader.types)
        )
    }

    /// Returns the people who may have rings.
    public func people(_ query: ActivityQuery) throws(StoreError) -> [String] {
        Set(try activitySeries(query).map(\.person)).sorted()
    }

    private func activitySeries(_ query: ActivityQuery) throws(StoreError) -> [SeriesDescription] {
        var found: [SeriesDescription] = []
        for series in try store.samples.series(matching: SampleQuery(types: ActivityReader.types, person: query.person)) {
            guard query.person != nil || series.person != Origin.unassigned else { continue }
            if try store.startOfReadableDays(of: series.person) != nil { found.append(series) }
        }
        return found
    }

    /// Returns the date of the first day whose rings may be read, such as `2026-11-20`, or `nil` if all may.
    private func firstReadableDate(of person: String, _ days: CalendarIntervals) throws(StoreError) -> String? {
        guard let start = try store.startOfReadableDays(of: person), start > Instant(microseconds: .min) else { return nil }
        let day = days.index(of: start)
        return ActivityReader.date(days.start(of: day) < start ? day + 1 : day)
    }

    /// Returns the first day from `position` on that may have data.
    private func nextDay(from position: Int?, of all: [SeriesDescription], _ days: CalendarIntervals) throws(StoreError) -> Int? {
        let start = position.map { days.start(of: $0) } ?? Instant(microseconds: .min)
        let samples = try store.nextStart(from: start, of: all.filter { $0.type.kind != .activitySummary })
        var first = samples.map { days.index(of: $0) }
        // A summary starts at its date's midnight in UTC.
        let midnight = position.map { Instant(microseconds: Int64($0) * Calendar.day) } ?? Instant(microseconds: .min)
        if let summary = try store.nextStart(from: midnight, of: all.filter { $0.type.kind == .activitySummary }) {
            let day = ActivityReader.day(ofSummaryAt: summary.microseconds)
            first = min(first ?? day, day)
        }
        // A sample that began long before counts from `position` on.
        return first.map { max($0, position ?? $0) }
    }
}
