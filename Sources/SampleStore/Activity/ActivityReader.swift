import HealthModel

/// Reads the activity rings of one person's days.
struct ActivityReader {
    let store: SampleStore
    let query: ActivityQuery
    let days: CalendarIntervals
    /// The person's series.
    let series: [SeriesDescription]
    let history: CharacteristicHistory
    let person: String

    /// The number of days that are read at once.
    static let window = 1024
    /// The threshold for a full minute. Sums of fractions may be off by a last bit.
    private static let minute = 1 - 1e-9

    /// The id of the type of summaries.
    static let summaries = "activitySummary"
    private static let summary = SampleType(summaries)
    private static let energy = SampleType("activeEnergyBurned")
    private static let moveTime = SampleType("appleMoveTime")
    private static let exercise = SampleType("appleExerciseTime")
    private static let standTime = SampleType("appleStandTime")
    private static let standHour = SampleType("appleStandHour")
    private static let pushes = SampleType("pushCount")
    private static let stood = standHour?.categoryValues?.value(of: "stood") ?? 0

    /// The types that rings are computed from.
    static let types: Set<SampleType> = Set(
        [summary, energy, moveTime, exercise, standTime, standHour, pushes, .stepCount].compactMap { $0 })

    /// Returns the day of a summary, which starts at its date's midnight in UTC.
    static func day(ofSummaryAt start: Int64) -> Int {
        Int(start.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient)
    }

    /// Returns the date of a day, such as `2026-11-20`.
    static func date(_ day: Int) -> String {
        WallTime(microseconds: Int64(day) * Calendar.day).date
    }

    /// Returns the days of a window that have data.
    func days(in window: Range<Int>) throws -> [ActivityDayWithSummary] {
        let reported = try summaries(in: window)
        let energy = try sums(Self.energy, window)
        let moveTime = try sums(Self.moveTime, window)
        let exercise = try sums(Self.exercise, window)
        let steps = try sums(.stepCount, window)
        let pushes = try sums(Self.pushes, window)
        let hours = try standHours(in: window)
        let standTime = try sums(Self.standTime, window)
        var numbers = Set(reported.keys)
        for sums in [energy, moveTime, exercise, steps, pushes, standTime] { numbers.formUnion(sums.keys) }
        numbers.formUnion(hours.keys)
        var found: [ActivityDayWithSummary] = []
        var latest = try reported.isEmpty && numbers.isEmpty ? nil : summary(before: window.lowerBound)
        for number in numbers.sorted() {
            let date = Self.date(number)
            let movesByTime = history.value(of: .activityMoveMode, on: date)?.value == "appleMoveTime"
            let usesWheelchair = history.value(of: .wheelchairUse, on: date)?.value == "yes"
            let count = usesWheelchair ? pushes[number] : steps[number]
            if let (summary, stored) = reported[number] {
                latest = (number, summary)
                var day = ActivityDay(summary, person: person, movesByTime: movesByTime)
                (day.usesWheelchair, day.steps) = (usesWheelchair, count)
                found.append((day, stored))
                continue
            }
            var day = ActivityDay(date: date, person: person)
            (day.usesWheelchair, day.movesByTime, day.steps) = (usesWheelchair, movesByTime, count)
            day.move =
                movesByTime
                ? .init(value: moveTime[number], unit: ActivityDay.minute)
                : .init(value: energy[number], unit: ActivityDay.kilocalorie)
            day.exercise = .init(value: exercise[number], unit: ActivityDay.minute)
            if let stood = hours[number] {
                day.stand.value = Double(stood.count)
            } else if !usesWheelchair, standTime[number] != nil {
                // Minutes on one's feet do not count for wheelchair users.
                day.stand.value = Double(try hoursOnFeet(on: number))
            }
            // A goal is valid until it is changed, so the last one that a source reported applies.
            if let latest, number - latest.day <= Self.maximumGoal {
                let goals = ActivityDay(latest.summary, person: person, movesByTime: movesByTime)
                if goals.movesByTime == movesByTime, goals.move.unit == day.move.unit { day.move.goal = goals.move.goal }
                if goals.exercise.unit == day.exercise.unit { day.exercise.goal = goals.exercise.goal }
                day.stand.goal = goals.stand.goal
            }
            let isEmpty = day.move.value == nil && day.exercise.value == nil && day.stand.value == nil && count == nil
            if !isEmpty { found.append((day, nil)) }
        }
        return found
    }

    /// The number of days for which a reported goal applies.
    private static let maximumGoal = 31

    /// Returns the last summary before a day, with its day, or `nil` if its goals no longer apply.
    private func summary(before day: Int) throws -> (day: Int, summary: ActivitySummary)? {
        let earlier = try summaries(in: day - Self.maximumGoal..<day)
        return earlier.max { $0.key < $1.key }.map { ($0.key, $0.value.0) }
    }

    /// Returns the sums of a type by day, in its canonical unit.
    private func sums(_ type: SampleType?, _ window: Range<Int>) throws(StoreError) -> [Int: Double] {
        guard let type else { return [:] }
        let own = series.filter { $0.type == type }
        guard !own.isEmpty else { return [:] }
        let statistics = try store.statistics(
            StatisticsQuery(
                type: type, intervals: days, from: days.start(of: window.lowerBound), to: days.start(of: window.upperBound),
                person: person, priority: query.priority), of: own)
        var sums: [Int: Double] = [:]
        for row in statistics { sums[days.index(of: row.start)] = row.sum }
        return sums
    }

    /// Returns the hours of each day in which the person stood, counted from the beginning of the day. Days without samples are missing.
    private func standHours(in window: Range<Int>) throws(StoreError) -> [Int: Set<Int64>] {
        var hours: [Int: Set<Int64>] = [:]
        for series in series where series.type == Self.standHour {
            let rows = try store.table.scan(
                [.start, .value], of: series.id, from: days.start(of: window.lowerBound).microseconds,
                through: days.start(of: window.upperBound).microseconds - 1)
            while try rows.next() {
                let start = rows.start
                let day = days.index(of: Instant(microseconds: start))
                let hour = (start - days.start(of: day).microseconds) / Self.hour
                hours[day, default: []].formUnion(rows.value == Double(Self.stood) ? [hour] : [])
            }
        }
        return hours
    }

    private static let hour: Int64 = 3_600_000_000

    /// Returns the number of hours of a day with at least a minute on one's feet.
    private func hoursOnFeet(on day: Int) throws(StoreError) -> Int {
        guard let type = Self.standTime, let hour = CalendarInterval(count: 1, unit: .hour) else { return 0 }
        let start = days.start(of: day)
        let statistics = try store.statistics(
            StatisticsQuery(
                type: type, intervals: CalendarIntervals(hour, zone: query.zone, anchor: start), from: start,
                to: days.start(of: day + 1), person: person, priority: query.priority),
            of: series.filter { $0.type == type })
        return statistics.count { $0.sum >= Self.minute }
    }

    /// Returns the summaries that sources reported, from the best source for each day.
    private func summaries(in window: Range<Int>) throws(StoreError) -> [Int: (ActivitySummary, StoredSample)] {
        var found: [Int: (ActivitySummary, StoredSample)] = [:]
        let own = series.filter { $0.type.kind == .activitySummary }
        let sorted =
            own.count < 2
            ? own
            : try store.sources.sorted(own, by: query.priority)
        let decoder = SampleDecoder(connection: store.connection)
        for series in sorted {
            let rows = try store.table.scan(
                .whole, of: series.id, from: Int64(window.lowerBound) * Calendar.day,
                through: Int64(window.upperBound) * Calendar.day - 1, order: .startAndLatestArrival)
            while try rows.next() {
                let stored = try rows.stored(decoder)
                let day = Self.day(ofSummaryAt: stored.sample.start.microseconds)
                // An unreadable summary is skipped. 'store check --deep' reports it.
                guard found[day] == nil, let summary = try? stored.sample.body?.decoded(as: ActivitySummary.self) else {
                    continue
                }
                found[day] = (summary, stored)
            }
        }
        return found
    }
}
