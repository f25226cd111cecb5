import HealthModel

/// Which days' rings to tell.
public struct ActivityQuery: Sendable {
    /// Whose days they are: a day is as long as the zone's clocks make it.
    public var zone: TimeZoneRules
    /// An instant of the first day; from the first day on of which there is something where it is missing.
    public var from: Instant?
    /// The first instant whose day no longer counts, unless the day began before it.
    public var to: Instant?
    /// Whose; all persons' where it is missing.
    public var subject: String?
    /// Sources and devices by id or name, the best first: where several tell of the same time, one counts.
    public var priority: [String]

    /// Asks for the rings of days.
    public init(
        zone: TimeZoneRules, from: Instant? = nil, to: Instant? = nil, subject: String? = nil, priority: [String] = []
    ) {
        (self.zone, self.from, self.to) = (zone, from, to)
        (self.subject, self.priority) = (subject, priority)
    }
}

/// What the rings of days follow from beside their samples, and up to which change those are known.
public struct ActivityState: Sendable {
    let anchor: Anchor
    let said: [CharacteristicEntry]
    let orders: [SourceOrder]
}

/// A day's rings, and the summary they were taken from; none where they come from samples.
public typealias ToldActivityDay = (day: ActivityDay, summary: StoredSample?)

extension SampleStore {
    /// Gives the rings of each day of which there is something to `body`, in the order of the days and some hundred at a time.
    ///
    /// A day whose summary a source told is told as it told it. Of any other the rings come from the person's samples, each moment once
    /// (``statistics(_:)``), and no goal is known. Nobody's samples have no rings, unless they are asked for.
    ///
    /// - Parameter body: returns whether to go on.
    public func activityDays(_ query: ActivityQuery, _ body: ([ToldActivityDay]) throws -> Bool) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let days = CalendarIntervals(.day, zone: query.zone)
        var all = try activitySeries(query)
        for index in all.indices {
            all[index].longest = all[index].type.aggregation == .cumulative ? try longest(of: all[index]) : 0
        }
        let subjects = Set(all.map(\.subject)).sorted()
        var readers: [ActivityReader] = []
        var first: [String: String] = [:]
        for subject in subjects {
            first[subject] = try firstReadableDate(of: subject, days)
            readers.append(
                ActivityReader(
                    store: self, query: query, days: days, series: all.filter { $0.subject == subject },
                    history: try characteristics(of: subject), subject: subject))
        }
        var position = query.from.map { days.index(of: $0) }
        let end = query.to.map { to in
            let day = days.index(of: to)
            return days.start(of: day) < to ? day + 1 : day
        }
        while let day = try nextDay(from: position, of: all, days), day < end ?? .max {
            let window = day..<min(end ?? .max, day + ActivityReader.window)
            var told: [ToldActivityDay] = []
            for reader in readers {
                told += try reader.days(in: window).filter { $0.day.date >= first[reader.subject] ?? "" }
            }
            told.sort { ($0.day.date, $0.day.subject) < ($1.day.date, $1.day.subject) }
            if !told.isEmpty, !(try body(told)) { return }
            position = window.upperBound
        }
    }

    /// All of them at once.
    public func activityDays(_ query: ActivityQuery) throws -> [ToldActivityDay] {
        var all: [ToldActivityDay] = []
        try activityDays(query) {
            all += $0
            return true
        }
        return all
    }

    /// What the days of a query follow from, as it is now, and whether that is otherwise than it was, so that a day may be.
    ///
    /// No sample is read for it: its cost grows with the commits since then.
    public func activityState(of query: ActivityQuery, after known: ActivityState?) throws(StoreError) -> (
        state: ActivityState, isOther: Bool
    ) {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var said: [CharacteristicEntry] = []
        let subjects = try subjectsWithCharacteristics().filter { query.subject == nil || $0 == query.subject }
        for subject in subjects { said += try characteristics(of: subject).entries }
        let orders = try sourceOrders()
        guard let known, known.said == said, known.orders == orders, try reasonNotToKnow(known.anchor) == nil else {
            return (ActivityState(anchor: try lastAnchor(), said: said, orders: orders), true)
        }
        let changed = try changedTypes(after: known.anchor)
        return (
            ActivityState(anchor: changed.anchor, said: said, orders: orders),
            !changed.types.isDisjoint(with: ActivityReader.types)
        )
    }

    /// Those who may have rings.
    public func activitySubjects(_ query: ActivityQuery) throws(StoreError) -> [String] {
        Set(try activitySeries(query).map(\.subject)).sorted()
    }

    private func activitySeries(_ query: ActivityQuery) throws(StoreError) -> [SeriesDescription] {
        var found: [SeriesDescription] = []
        for series in try series(matching: SampleQuery(types: ActivityReader.types, subject: query.subject)) {
            guard query.subject != nil || series.subject != Origin.unassigned else { continue }
            if try startOfReadableDays(of: series.subject) != nil { found.append(series) }
        }
        return found
    }

    /// The date of the first day whose rings may be read, `2026-11-20`; `nil` where all may.
    private func firstReadableDate(of subject: String, _ days: CalendarIntervals) throws(StoreError) -> String? {
        guard let start = try startOfReadableDays(of: subject), start > Instant(microseconds: .min) else { return nil }
        let day = days.index(of: start)
        return ActivityReader.date(days.start(of: day) < start ? day + 1 : day)
    }

    /// The first day from `position` on of which there may be something.
    private func nextDay(from position: Int?, of all: [SeriesDescription], _ days: CalendarIntervals) throws(StoreError) -> Int? {
        let start = position.map { days.start(of: $0) } ?? Instant(microseconds: .min)
        let samples = try nextStart(from: start, of: all.filter { $0.type.kind != .activitySummary })
        var first = samples.map { days.index(of: $0) }
        // A summary's start is its date's midnight in UTC.
        let midnight = position.map { Instant(microseconds: Int64($0) * Calendar.day) } ?? Instant(microseconds: .min)
        if let summary = try nextStart(from: midnight, of: all.filter { $0.type.kind == .activitySummary }) {
            let day = ActivityReader.day(ofSummaryAt: summary.microseconds)
            first = min(first ?? day, day)
        }
        // What lasts from long before counts from there on.
        return first.map { max($0, position ?? $0) }
    }
}
