import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAnswers

/// Each answer once. Commands, API, page, and exporters show what is tested here.
@Suite struct AnswerTests {
    private let answered: AnsweredStore
    private let utc = TimeZoneRules(fixed: .utc)

    init() throws { answered = try AnsweredStore() }

    private func night(before hours: Double = 12) throws -> Night? {
        try NightReader(answered.store, priority: []).lastNight(
            of: AnsweredStore.person, before: AnsweredStore.instant(hours), zone: utc)
    }

    // MARK: The night

    @Test func combinesNightFromSources() throws {
        try answered.sleep("asleepCore", -1, to: 3)
        try answered.sleep("asleepDeep", 3, to: 6)
        try answered.sleep("asleepUnspecified", 5.5, to: 6 + 1.0 / 6, source: "ring")
        try answered.sleep("inBed", -1.5, to: 7, source: "phone")
        let night = try #require(try night())
        #expect(night.asleep == (7 * 60 + 10) * 60_000_000)
        #expect(night.start == AnsweredStore.instant(-1.5).microseconds && night.end == AnsweredStore.instant(7).microseconds)
    }

    @Test func napIsNotNight() throws {
        #expect(try night() == nil)
        try answered.sleep("asleepCore", -12, to: -5)
        try answered.sleep("asleepCore", 6, to: 6.5)
        #expect(try night()?.asleep == 7 * 3_600_000_000)
        try answered.sleep("asleepCore", 23, to: 30)
        #expect(try night(before: 34)?.start == AnsweredStore.instant(23).microseconds)
    }

    /// A night that goes on is not the last night. It is over at about the usual wake-up, or when nothing was recorded for long.
    @Test func aNightThatGoesOnIsNotTheLastNight() throws {
        for day in -20 ... -1 { try answered.sleep("asleepCore", Double(day) * 24 - 1, to: Double(day) * 24 + 7) }
        try answered.sleep("asleepCore", -1, to: 4)
        let (before, own) = (AnsweredStore.instant(-25).microseconds, AnsweredStore.instant(-1).microseconds)
        for (hours, start) in [(4.1, before), (6.9, before), (7.1, own), (12, own)] as [(Double, Int64)] {
            #expect(try night(before: hours)?.start == start, "\(hours)")
        }
        let history = try NightReader(answered.store, priority: []).history(
            of: AnsweredStore.person, days: 3, through: AnsweredStore.instant(4.1), zone: utc)
        #expect(history.map(\.night.start).last == before)
        try answered.sleep("asleepCore", 4, to: 6.75)
        #expect(try night(before: 6.8)?.start == own)
        // A nap is over at once, and sleep of the evening is not.
        try answered.sleep("asleepCore", 13, to: 13.5)
        try answered.sleep("asleepCore", 22, to: 25.5)
        #expect(try night(before: 25.6)?.start == own)
    }

    /// A watch and a phone report one night, and the watch counts whenever it reports. The totals are minutes counted by hand.
    @Test func countsEachMomentOnce() throws {
        for (source, name, from, length) in [
            ("iPhone", "inBed", 0, 480), ("iPhone", "asleepUnspecified", 10, 460), ("Watch", "asleepCore", 30, 60),
            ("Watch", "asleepDeep", 90, 30), ("Watch", "awake", 120, 6), ("Watch", "asleepREM", 126, 24),
            ("Watch", "asleepCore", 150, 200), ("Watch", "asleepCore", 100, 20),
        ] as [(String, String, Double, Double)] {
            try answered.sleep(name, from / 60, to: (from + length) / 60, source: source)
        }
        let nights = try NightReader(answered.store, priority: ["Watch"]).nights(query, from: nil, to: nil)
        let night = try #require(nights.first)
        let (stages, inBed) = night.intervals()
        func minutes(_ intervals: [Night.Interval]?) -> Int64 { (intervals ?? []).reduce(0) { $0 + $1.length } / 60_000_000 }
        // The watch reports from minute 30 to 350, and the phone's rest is 20 + 120 minutes. Core takes precedence over deep if one source
        // reports both.
        #expect(Night.Stage.allCases.map { minutes(stages[$0]) } == [6, 24, 280, 10, 140])
        #expect(minutes(inBed) == 480 && nights.count == 1 && night.sources == ["Watch", "iPhone"])
        let reversed = try NightReader(answered.store, priority: ["iPhone"]).nights(query, from: nil, to: nil)
        #expect(minutes(reversed.first?.intervals().stages[.deep]) == 0)
    }

    /// A nap is separate. A night that overlaps the range is complete.
    @Test func findsNightsThatOverlapARange() throws {
        try answered.sleep("asleepCore", 0, to: 1)
        try answered.sleep("asleepCore", 1, to: 2)
        try answered.sleep("asleepUnspecified", 6.5, to: 7)
        try answered.sleep("asleepCore", 24, to: 25)
        func starts(from: Double? = nil, to: Double? = nil) throws -> [Instant] {
            try NightReader(answered.store, priority: []).nights(
                query, from: from.map(AnsweredStore.instant), to: to.map(AnsweredStore.instant)
            ).map { Instant(microseconds: $0.start) }
        }
        #expect(try starts() == [0, 6.5, 24].map(AnsweredStore.instant))
        #expect(try starts(from: 1.5, to: 20) == [0, 6.5].map(AnsweredStore.instant))
    }

    private var query: SampleQuery { SampleQuery(types: SampleType("sleepAnalysis").map { [$0] }, person: AnsweredStore.person) }

    // MARK: Scales

    /// Two adults weigh themselves ten minutes apart on a scale of one person. When both have their ranges, it is no longer reported.
    @Test func findsAnUnassignedScaleOfTwoPeople() throws {
        try answered.store.devices.save(
            AdoptedDevice(
                address: "bluetooth:01", key: "scale", profiles: ["p"], name: "Scale", person: AnsweredStore.person, adopted: 0))
        for day in 0..<3 {
            #expect(try ScaleUse.suspected(in: answered.store).isEmpty)
            try answered.add("bodyMass", "80", Double(24 * day) + 7, device: "scale")
            try answered.add("bodyMass", "62", Double(24 * day) + 7.2, device: "scale")
        }
        let found = try ScaleUse.suspected(in: answered.store)
        #expect(found.map(\.scale) == ["scale"] && found.map(\.days) == [3] && found.map(\.devices) == [["bluetooth:01"]])
        try answered.store.devices.assign(
            device: "bluetooth:01", to: Origin.unassigned, sharedBy: [SharedUse(person: AnsweredStore.person, weights: 70...90)])
        #expect(try ScaleUse.suspected(in: answered.store).isEmpty)
    }

    // MARK: The latest

    @Test func latestSamplesExcludeFuture() throws {
        try answered.add("heartRate", "61", 7)
        try answered.add("heartRate", "62", 8, source: "strap")
        try answered.add("heartRate", "99", 13, source: "clock")
        try answered.add("bodyMass", "80", 6)
        let latest = try LatestSamples.all(in: answered.store, at: AnsweredStore.instant(12))
        #expect(latest.map(\.sample.origin.type.id) == ["bodyMass", "heartRate"])
        #expect(latest.map(\.sample.value) == [80, 62])
        let fromTheStrap = try LatestSamples.all(in: answered.store, at: AnsweredStore.instant(14)) {
            $0.origin.source.id != "clock"
        }
        #expect(fromTheStrap.last?.sample.value == 62)
    }

    // MARK: A day's total

    private func figures(_ priority: [String] = []) -> DailyFigures {
        DailyFigures(answered.store, zone: utc, priority: priority)
    }

    @Test func aTotalSplitsAtMidnightAndCountsOverlapsOnce() throws {
        try answered.add("stepCount", "600", -1, to: 1)
        try answered.add("stepCount", "100", 8, to: 9, source: "watch")
        try answered.add("stepCount", "90", 8, to: 9, source: "phone")
        func total(_ hours: Double, _ priority: [String]) throws -> DayTotal? {
            try figures(priority).total(of: .stepCount, person: AnsweredStore.person, on: AnsweredStore.instant(hours))
        }
        let today = try #require(try total(10, ["phone"]))
        #expect(today.sum == 390 && today.start == AnsweredStore.instant(0) && today.end == AnsweredStore.instant(24))
        #expect(try total(10, ["watch"])?.sum == 400)
        #expect(try total(-2, [])?.sum == 300)
        #expect(try total(30, [])?.sum == 0)
        #expect(try figures().total(of: .heartRate, person: AnsweredStore.person, on: AnsweredStore.instant(10)) == nil)
        let week = try figures(["phone"]).figures(
            of: .stepCount, person: AnsweredStore.person, count: 3, through: AnsweredStore.instant(10))
        #expect(week == [nil, 300, 390])
    }

    @Test func todayIsOfOneDevice() throws {
        try answered.add("stepCount", "100", 8, to: 9, device: "band")
        try answered.add("stepCount", "70", 10, to: 11, source: "phone")
        let latest = try answered.store.samples.latest(of: [.stepCount]).map(\.sample)
        let sums = try latest.sorted { $0.start < $1.start }.map {
            try figures().today(of: $0, at: AnsweredStore.instant(12))?.sum
        }
        #expect(sums == [100, 70])
        let none = try figures().today(
            of: latest[0], at: AnsweredStore.instant(12), where: .comparison(.source(.id), .equal, .text("nobody")))
        #expect(none?.sum == 0)
    }

    // MARK: The rings

    @Test func todaysRingsAreOfTheWholeDay() throws {
        try answered.add("appleExerciseTime", "12", 8, to: 8.5)
        try answered.add("appleExerciseTime", "40", -3, to: -2)
        let query = ActivityQuery.today(AnsweredStore.instant(12), zone: utc, priority: [])
        #expect(query.from == AnsweredStore.instant(0) && query.to == AnsweredStore.instant(24))
        var values: [Double?] = []
        try answered.store.activity.days(query) { days in
            values += days.map { $0.day.exercise.value }
            return true
        }
        #expect(values == [12])
    }

    // MARK: A chart

    private func chart(_ type: SampleType, _ from: Double, _ to: Double, width: Int = 100) throws -> Chart {
        let frame = try #require(
            ChartFrame(
                from: AnsweredStore.instant(from).microseconds / 1000, to: AnsweredStore.instant(to).microseconds / 1000,
                width: width))
        return try Chart(
            type, person: AnsweredStore.person, in: frame, of: answered.store, zone: utc, priority: [])
    }

    @Test func aChartShowsEachPixelThenIntervals() throws {
        for (index, value) in ["60", "90", "66", "70"].enumerated() { try answered.add("heartRate", value, Double(index) / 60) }
        #expect(try chart(.heartRate, 0, 1).points.map(\.middle) == [60, 90, 66, 70])
        let day = try chart(.heartRate, -720, 1)
        #expect(day.points.map(\.low) == [60] && day.points.map(\.high) == [90] && !day.isSum)
        #expect(ChartFrame(from: 5, to: 4, width: 100) == nil && ChartFrame(from: .min, to: .max, width: 100) == nil)
    }

    /// A few readings have their own times in a chart of a week, and those of many are averages.
    @Test func fewReadingsKeepTheirTimes() throws {
        let times = [0.3, 4.85, 24.4]
        for time in times { try answered.add("heartRate", "60", time) }
        let few = try chart(.heartRate, -120, 48)
        #expect(few.points.map(\.start) == times.map { AnsweredStore.instant($0).microseconds / 1000 })
        #expect(few.points.allSatisfy { $0.start == $0.end })
        for index in 0..<400 { try answered.add("heartRate", "70", -100 + Double(index) / 10) }
        #expect(try chart(.heartRate, -120, 48).points.allSatisfy { $0.end > $0.start })
    }

    /// Mornings without three weeks of a year. The line breaks there at each width, and also if its points are weeks.
    @Test(arguments: [(300, 365), (800, 365), (1400, 365), (300, 3000), (1400, 3000)])
    func aPauseIsAGapAtEachWidth(_ width: Int, _ days: Double) throws {
        for day in 0..<300 where !(100..<121).contains(day) { try answered.add("bodyMass", "80", Double(day) * 24 + 7) }
        let chart = try chart(.bodyMass, (300 - days) * 24, 300 * 24, width: width)
        #expect(chart.gap == 4 * 86_400_000)
        let pauses = zip(chart.points.dropFirst(), chart.points).filter { $0.start - $1.end > chart.gap }
        #expect(pauses.count == 1)
    }

    /// A period ends at midnight, and the day after it has no bar.
    @Test func aChartOfSumsEndsWithItsPeriod() throws {
        for day in 0..<4 { try answered.add("stepCount", "600", Double(day) * 24 + 10, to: Double(day) * 24 + 11) }
        #expect(try chart(.stepCount, 0, 48).points.map(\.end).max() == AnsweredStore.instant(48).microseconds / 1000)
    }

    /// The line does not go to the average of an unfinished day.
    @Test func marksTheUnfinishedDay() throws {
        for index in 0..<420 { try answered.add("heartRate", "60", Double(index / 7 - 40) * 24 + Double(index % 7)) }
        let chart = try chart(.heartRate, -40 * 24, 20 * 24)
        #expect(chart.isUnfinished(at: AnsweredStore.instant(19 * 24 + 12)))
        #expect(!chart.isUnfinished(at: AnsweredStore.instant(20 * 24 + 1)))
        #expect(try !self.chart(.heartRate, 0, 24).isUnfinished(at: AnsweredStore.instant(12)))
    }

    @Test func aChartOfSumsHasOneBarADay() throws {
        try answered.add("stepCount", "600", -1, to: 1)
        let chart = try chart(.stepCount, -48, 48, width: 60)
        #expect(chart.isSum && chart.points.map(\.middle) == [300, 300])
        #expect(chart.points.map(\.start) == [-24, 0].map { AnsweredStore.instant($0).microseconds / 1000 })
    }

    /// The narrowest phone has 238 pixels for a chart.
    @Test func aMonthOnAPhoneIsDrawnByDays() throws {
        let frame = try #require(ChartFrame(from: 0, to: 31 * 86_400_000, width: 238))
        #expect(frame.step(isSum: true) == CalendarInterval("1d"))
    }

    /// An interval is at most an hour, or else of the calendar, so that no clock change moves it.
    @Test func aYearIsDrawnByDays() throws {
        let year: Int64 = 365 * 86_400_000
        let calendar: Set<CalendarInterval.Unit> = [.day, .week, .month, .year]
        for width in [400, 800, 1440, 4000] {
            for isSum in [false, true] {
                let frame = try #require(ChartFrame(from: 0, to: year, width: width))
                let unit = frame.step(isSum: isSum).unit
                #expect(calendar.contains(unit), "\(width)")
            }
            for days in 1...800 as ClosedRange<Int64> {
                let frame = try #require(ChartFrame(from: 0, to: days * 86_400_000, width: width))
                let step = frame.step(isSum: false)
                let isShort = step.unit == .minute || step == CalendarInterval("1h")
                #expect(isShort || calendar.contains(step.unit), "\(days) days in \(width): \(step)")
            }
        }
    }

    @Test func daysOfAChartBeginAtLocalMidnight() throws {
        let berlin = try TimeZoneRules.berlin
        // Two readings each day, over the clock changes of October and March.
        for half in 0..<480 { try answered.add("heartRate", "60", Double(half / 2 - 60) * 24 + Double(12 + half % 2)) }
        let frame = try #require(
            ChartFrame(
                from: AnsweredStore.instant(-60 * 24).microseconds / 1000,
                to: AnsweredStore.instant(180 * 24).microseconds / 1000,
                width: 800))
        let chart = try Chart(
            .heartRate, person: AnsweredStore.person, in: frame, of: answered.store, zone: berlin, priority: [])
        #expect(chart.points.count == 240)
        for point in chart.points {
            let start = Instant(microseconds: point.start * 1000)
            #expect(start.wallTime(at: berlin.offset(at: start)).description.hasSuffix("T00:00:00.000000"))
        }
    }
}
