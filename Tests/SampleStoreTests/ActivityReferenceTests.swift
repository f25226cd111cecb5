import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Derived rings against a reading of the samples minute by minute: samples at the borders of days, on the days on which clocks change, of two
/// sources at once, in zones that are not whole hours from UTC.
@Suite struct ActivityReferenceTests {
    /// On a grid of half hours, so that much falls together.
    struct ReferenceSample: Hashable {
        var type: String
        var isPhone: Bool
        var start: Int
        var length: Int
        var value: Int
    }

    private static let minutesBefore2026 = 1_767_225_600 / 60

    private static let zones: [(rule: String, first: String)] = [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-28"), ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24"),
        ("<+0530>-5:30", "2026-06-01"), ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04"),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2026-09-05"),
    ]

    @Test(arguments: 0..<40) func anyDays(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let key = Self.zones[seed % Self.zones.count]
        let zone = try TimeZoneRules(rule: key.rule, identifier: "there")
        let first = Int(try Instant("\(key.first)T00:00:00+00:00").microseconds / 60_000_000)
        let types = [
            "activeEnergyBurned", "appleMoveTime", "appleExerciseTime", "stepCount", "pushCount", "appleStandTime",
            "appleStandHour", "appleStandHour", "appleStandHour",
        ]
        var reported: Set<ReferenceSample> = []
        for _ in 0..<Int.random(in: 5..<60, using: &random) {
            let type = types[Int.random(in: 0..<types.count, using: &random)]
            // The days before and after have samples, too, and no day has them all.
            let start = first - 720 + 30 * Int.random(in: 0..<192, using: &random)
            // Totals, which end on a quarter of an hour, are in the tests of statistics.
            var length = [0, 30, 30, 70, 130, 1090][Int.random(in: 0..<6, using: &random)]
            if type == "appleStandHour" { length = 60 }
            let value =
                type == "appleStandHour"
                ? Int.random(in: 0...1, using: &random) : [0, 1, 2, 60][Int.random(in: 0..<4, using: &random)]
            reported.insert(
                ReferenceSample(type: type, isPhone: Bool.random(using: &random), start: start, length: length, value: value))
        }
        let dates = (-1...4).map { Self.date(first + 1440 * $0 + 720) }
        let wheelchairFrom = Bool.random(using: &random) ? dates.randomElement(using: &random) : nil
        let minutesFrom = Bool.random(using: &random) ? dates.randomElement(using: &random) : nil
        let summaries = Set(dates.filter { _ in Int.random(in: 0..<5, using: &random) == 0 })
        try TestStore.with { test in
            var batch: [GatedSample] = []
            for sample in reported.sorted(by: { ($0.start, $0.value) < ($1.start, $1.value) }) {
                let source = sample.isPhone ? "phone" : "watch"
                let maker = try SampleMaker(try #require(SampleType(sample.type)), source: source, sourceName: source)
                batch.append(
                    try maker(
                        "\(sample.value)", at: Double((sample.start - Self.minutesBefore2026) * 60),
                        lasting: Double(sample.length * 60)))
            }
            for date in summaries { batch.append(try ActivityDaysTests.summary(date, energy: "7")) }
            try test.keepExactly(batch)
            if let wheelchairFrom {
                try test.store.people.set(
                    .wheelchairUse, to: Characteristic(.wheelchairUse, "yes"), of: TestStore.person, from: wheelchairFrom,
                    recorded: TestStore.received)
            }
            if let minutesFrom {
                try test.store.people.set(
                    .activityMoveMode, to: Characteristic(.activityMoveMode, "appleMoveTime"), of: TestStore.person,
                    from: minutesFrom, recorded: TestStore.received)
            }
            let days = try test.store.activity.days(ActivityQuery(zone: zone))
            let reference = Reference(reported: reported, zone: zone, minutes: first - 3000..<first + 8000)
            let expected = reference.days(
                summaries: summaries, wheelchairFrom: wheelchairFrom ?? "9", minutesFrom: minutesFrom ?? "9")
            #expect(days.map(\.day.date) == expected.map(\.date))
            for (one, other) in zip(days.map(\.day), expected) {
                #expect(one.isDerived == other.isDerived, "\(other.date)")
                for (mine, theirs) in [
                    (one.move.value, other.move), (one.exercise.value, other.exercise), (one.stand.value, other.stand),
                    (one.steps, other.steps),
                ] {
                    #expect((mine == nil) == (theirs == nil), "\(one) \(other)")
                    #expect(abs((mine ?? 0) - (theirs ?? 0)) < 1e-6, "\(one) \(other)")
                }
            }
            // Each day by itself is the same.
            for day in days.map(\.day) {
                let noon = try Timestamp(iso8601: "\(day.date)T12:00:00").wall
                let instant = noon.instant(at: try #require(zone.offsets(at: noon).first))
                let alone = ActivityQuery(zone: zone, from: instant, to: Instant(microseconds: instant.microseconds + 1))
                let again = try test.store.activity.days(alone).map(\.day)
                #expect(again.map(\.date) == [day.date])
                #expect(again.map(\.stand) == [day.stand])
                #expect(abs((again.first?.steps ?? 0) - (day.steps ?? 0)) < 1e-6)
                #expect(abs((again.first?.move.value ?? 0) - (day.move.value ?? 0)) < 1e-6)
            }
        }
    }

    private static func date(_ minute: Int) -> String {
        String(WallTime(microseconds: Int64(minute) * 60_000_000).description.prefix(10))
    }

    /// Slow, and without the store's calendar: the local date at a minute is its day.
    private struct Reference {
        struct Day {
            var date: String
            var isDerived = true
            var move: Double?
            var exercise: Double?
            var stand: Double?
            var steps: Double?
        }

        /// An hour of a day, counted from when the day began.
        struct Hour: Hashable {
            var date: String
            var number: Int
        }

        private let reported: Set<ReferenceSample>
        private let first: Int
        /// By the minute, from the first one on.
        private var hours: [Hour] = []

        /// - Parameter minutes: the range of all samples, and the day before it.
        init(reported: Set<ReferenceSample>, zone: TimeZoneRules, minutes: Range<Int>) {
            self.reported = reported
            first = minutes.lowerBound
            var (day, date, begun) = (Int64.min, "", 0)
            for minute in minutes {
                let instant = Instant(microseconds: Int64(minute) * 60_000_000)
                let wall = instant.wallTime(at: zone.offset(at: instant))
                let number = wall.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient
                if number != day { (day, date, begun) = (number, String(wall.description.prefix(10)), minute) }
                hours.append(Hour(date: date, number: (minute - begun) / 60))
            }
        }

        private func hour(_ minute: Int) -> Hour { hours[minute - first] }

        /// The sum of a type by the hour. A minute reported by the watch does not count for the phone.
        private func sums(_ type: String) -> [Hour: Double] {
            var sums: [Hour: Double] = [:]
            let all = reported.filter { $0.type == type }
            let watch = all.filter { !$0.isPhone }.map { $0.start..<$0.start + $0.length }
            for sample in all {
                let isCovered = sample.isPhone && watch.contains { $0.contains(sample.start) }
                if sample.length == 0, !isCovered { sums[hour(sample.start), default: 0] += Double(sample.value) }
                for minute in sample.start..<sample.start + sample.length {
                    if sample.isPhone, watch.contains(where: { $0.contains(minute) }) { continue }
                    sums[hour(minute), default: 0] += Double(sample.value) / Double(sample.length)
                }
            }
            return sums
        }

        private func byDay(_ sums: [Hour: Double]) -> [String: Double] {
            Dictionary(sums.map { ($0.key.date, $0.value) }, uniquingKeysWith: +)
        }

        func days(summaries: Set<String>, wheelchairFrom: String, minutesFrom: String) -> [Day] {
            let (energy, minutes) = (byDay(sums("activeEnergyBurned")), byDay(sums("appleMoveTime")))
            let exercise = byDay(sums("appleExerciseTime"))
            let (steps, pushes) = (byDay(sums("stepCount")), byDay(sums("pushCount")))
            let hours = reported.filter { $0.type == "appleStandHour" }
            let reportedHours = Set(hours.map { hour($0.start).date })
            let stood = Set(hours.filter { $0.value == 0 }.map { hour($0.start) })
            let onFeet = sums("appleStandTime")
            var dates = summaries.union(reportedHours)
            for sums in [energy, minutes, exercise, steps, pushes, byDay(onFeet)] { dates.formUnion(sums.keys) }
            return dates.sorted().compactMap { date in
                let isWheelchair = date >= wheelchairFrom
                var day = Day(date: date, steps: isWheelchair ? pushes[date] : steps[date])
                if summaries.contains(date) {
                    (day.isDerived, day.move) = (false, 7)
                    return day
                }
                day.move = date >= minutesFrom ? minutes[date] : energy[date]
                day.exercise = exercise[date]
                if reportedHours.contains(date) {
                    day.stand = Double(stood.count { $0.date == date })
                } else if !isWheelchair, onFeet.contains(where: { $0.key.date == date }) {
                    day.stand = Double(onFeet.count { $0.key.date == date && $0.value > 0.999999 })
                }
                return day.move == nil && day.exercise == nil && day.stand == nil && day.steps == nil ? nil : day
            }
        }
    }
}
