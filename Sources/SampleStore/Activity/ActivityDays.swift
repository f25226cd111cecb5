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
    public var subject: String?
    /// Sources and devices by id or name, best first. If several cover the same time, only one counts.
    public var priority: [String]

    /// Creates a query.
    public init(
        zone: TimeZoneRules, from: Instant? = nil, to: Instant? = nil, subject: String? = nil, priority: [String] = []
    ) {
        (self.zone, self.from, self.to) = (zone, from, to)
        (self.subject, self.priority) = (subject, priority)
    }
}

/// The inputs of the rings other than samples, and the change up to which they are known.
public struct ActivityState: Sendable {
    let anchor: Anchor
    let said: [CharacteristicEntry]
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
            all[index].longest = all[index].type.aggregation == .cumulative ? try store.longest(of: all[index]) : 0
        }
        let subjects = Set(all.map(\.subject)).sorted()
        var readers: [ActivityReader] = []
        var first: [String: String] = [:]
        for subject in subjects {
            first[subject] = try firstReadableDate(of: subject, days)
            readers.append(
                ActivityReader(
                    store: store, query: query, days: days, series: all.filter { $0.subject == subject },
                    history: try store.people.characteristics(of: subject), subject: subject))
        }
        var position = query.from.map { days.index(of: $0) }
        let end = query.to.map { to in
            let day = days.index(of: to)
            return days.start(of: day) < to ? day + 1 : day
        }
        while let day = try nextDay(from: position, of: all, days), day < end ?? .max {
            let window = day..<min(end ?? .max, day + ActivityReader.window)
            var told: [ActivityDayWithSummary] = []
            for reader in readers {
                told += try reader.days(in: window).filter { $0.day.date >= first[reader.subject] ?? "" }
            }
            told.sort { ($0.day.date, $0.day.subject) < ($1.day.date, $1.day.subject) }
            if !told.isEmpty, !(try body(told)) { return }
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
        var said: [CharacteristicEntry] = []
        let subjects = try store.people.subjectsWithCharacteristics().filter { query.subject == nil || $0 == query.subject }
        for subject in subjects { said += try store.people.characteristics(of: subject).entries }
        let orders = try store.sources.orders()
        guard let known, known.said == said, known.orders == orders, try store.changes.reasonNotToKnow(known.anchor) == nil else {
            return (ActivityState(anchor: try store.changes.lastAnchor(), said: said, orders: orders), true)
        }
        let changed = try store.changes.changedTypes(after: known.anchor)
        return (
            ActivityState(anchor: changed.anchor, said: said, orders: orders),
            !changed.types.isDisjoint(with: ActivityReader.types)
        )
    }

    /// Returns the people who may have rings.
    public func subjects(_ query: ActivityQuery) throws(StoreError) -> [String] {
        Set(try activitySeries(query).map(\.subject)).sorted()
    }

    private func activitySeries(_ query: ActivityQuery) throws(StoreError) -> [SeriesDescription] {
        var found: [SeriesDescription] = []
        for series in try store.samples.series(matching: SampleQuery(types: ActivityReader.types, subject: query.subject)) {
            guard query.subject != nil || series.subject != Origin.unassigned else { continue }
            if try store.startOfReadableDays(of: series.subject) != nil { found.append(series) }
        }
        return found
    }

    /// Returns the date of the first day whose rings may be read, such as `2026-11-20`, or `nil` if all may.
    private func firstReadableDate(of subject: String, _ days: CalendarIntervals) throws(StoreError) -> String? {
        guard let start = try store.startOfReadableDays(of: subject), start > Instant(microseconds: .min) else { return nil }
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
