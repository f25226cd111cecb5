import HealthModel
import Testing

@testable import HealthAnswers

/// The conditions of the sentence at the top of Today. Each fact is made just within them, and not just outside.
@Suite struct TodayFactTests {
    private static let minute: Int64 = 60_000_000
    private static let hour = 60 * minute
    private let midnight = Instant(microseconds: 1_800_000_000_000_000)

    private func at(_ hours: Double) -> Instant {
        Instant(microseconds: midnight.microseconds + Int64(hours * Double(Self.hour)))
    }

    private func typical(_ median: Double, _ count: Int = 14) -> TypicalRange? {
        TypicalRange(Array(repeating: median, count: count))
    }

    @Test func defaultIsMedianAndMiddleHalfOfDays() throws {
        #expect(TypicalRange(Array(repeating: 1, count: 13)) == nil)
        let typical = try #require(TypicalRange((1...17).reversed().map(Double.init)))
        #expect(typical.median == 9 && typical.low == 5 && typical.high == 13 && typical.count == 17)
        #expect(typical.contains(5) && typical.contains(13) && !typical.contains(4.9) && !typical.contains(13.1))
    }

    @Test(arguments: [(8.0, 60), (7.25, 15), (7.2, 0), (7.0, 0), (6.8, 0), (6.75, -15), (5.0, -120)] as [(Double, Int64)])
    func comparesNightFromQuarterHour(_ hours: Double, _ minutes: Int64) {
        let asleep = Int64(hours * Double(Self.hour))
        let fact = TodayFact.night(
            asleep: asleep, end: at(6), typical: typical(7 * Double(Self.hour)), midnight: midnight, now: at(8))
        #expect(fact == .slept(asleep, difference: minutes * Self.minute))
    }

    @Test func aNightNeedsFourteenOthersAndAnEnd() {
        let asleep = 7 * Self.hour
        #expect(
            TodayFact.night(asleep: asleep, end: at(6), typical: nil, midnight: midnight, now: at(8))
                == .slept(asleep, difference: nil))
        #expect(TodayFact.night(asleep: asleep, end: at(9), typical: nil, midnight: midnight, now: at(8)) == nil)
        #expect(TodayFact.night(asleep: asleep, end: at(-2), typical: nil, midnight: midnight, now: at(8)) == nil)
        #expect(TodayFact.night(asleep: 0, end: at(6), typical: nil, midnight: midnight, now: at(8)) == nil)
    }

    @Test func reportsMissingNightAfterElevenIfRecorded() {
        #expect(TodayFact.missingNight(lastEnd: at(-18), midnight: midnight, now: at(11)) == .nightMissing)
        #expect(TodayFact.missingNight(lastEnd: at(-18), midnight: midnight, now: at(10.9)) == nil)
        #expect(TodayFact.missingNight(lastEnd: at(-7 * 24), midnight: midnight, now: at(12)) == nil)
        #expect(TodayFact.missingNight(lastEnd: at(6), midnight: midnight, now: at(12)) == nil)
        #expect(TodayFact.missingNight(lastEnd: nil, midnight: midnight, now: at(12)) == nil)
    }

    @Test func totalHasGoalOrComparison() {
        let type = SampleType.stepCount
        let compared = DaySoFar(sum: 5240, until: at(14), typical: typical(4900))
        #expect(TodayFact.total(of: type, compared, goal: nil) == .total(type, 5240, until: at(14), typical: 4900))
        #expect(TodayFact.total(of: type, compared, goal: 5240) == .goalReached(type, 5240, goal: 5240))
        #expect(TodayFact.total(of: type, compared, goal: 5241) == .total(type, 5240, until: at(14), typical: 4900))
        let alone = DaySoFar(sum: 5240, until: at(11), typical: nil)
        #expect(TodayFact.total(of: type, alone, goal: nil) == .total(type, 5240, until: at(11), typical: nil))
        #expect(TodayFact.total(of: type, DaySoFar(sum: 0, until: at(11), typical: nil), goal: nil) == nil)
    }

    @Test func onlyValuesInTheMiddleHalfAreAsUsual() throws {
        let range = try #require(TypicalRange((1...17).map(Double.init)))
        #expect(TodayFact.asUsual([(.bodyMass, 9, range), (.heartRate, 14, range)]) == .asUsual([.bodyMass]))
        #expect(TodayFact.asUsual([(.bodyMass, 4, range)]) == nil && TodayFact.asUsual([]) == nil)
    }

    @Test func aTrendNeedsTenMorningsAndIsRobust() {
        func trend(_ days: [Double?]) -> TodayFact? { .trend(of: .bodyMass, days, leastChange: 0.1) }
        let falling = (0..<30).map { 80 - Double($0) * 0.01 }
        guard case .mornings(.bodyMass, let change)? = trend(falling) else {
            Issue.record("no trend")
            return
        }
        #expect(abs(change + 0.3) < 1e-9)
        // One wrong morning does not move it.
        var wrong: [Double?] = falling
        wrong[29] = 160
        guard case .mornings(.bodyMass, let other)? = trend(wrong) else {
            Issue.record("no trend")
            return
        }
        #expect(abs(other + 0.3) < 1e-6)
        #expect(trend(falling.enumerated().map { $0.offset < 9 ? $0.element : nil }) == nil)
        #expect(trend(Array(repeating: 80, count: 30)) == nil)
    }

    @Test func pressureNeedsEnoughMornings() {
        func mornings(_ days: some Sequence<Int>) -> [(daysAgo: Int, systolic: Double, diastolic: Double)] {
            days.map { (daysAgo: $0, systolic: 120 + Double($0), diastolic: 80) }
        }
        #expect(TodayFact.pressure(mornings(0..<5)) == .pressure(systolic: 122, diastolic: 80))
        #expect(TodayFact.pressure(mornings(0..<4)) == nil)
        #expect(TodayFact.pressure(mornings(8..<18)) == .pressure(systolic: 132.5, diastolic: 80))
        #expect(TodayFact.pressure(mornings(8..<17)) == nil && TodayFact.pressure(mornings(30..<50)) == nil)
        // A week's mornings are not mixed with older ones.
        #expect(TodayFact.pressure(mornings(0..<20)) == .pressure(systolic: 123, diastolic: 80))
    }

    /// Readings each five minutes until eight o'clock.
    private func glucose(_ value: (Int) -> Double?) -> [TodayFact.Reading] {
        (0..<96).compactMap { index in value(index).map { (time: at(Double(index) / 12), value: $0) } }
    }

    @Test func lowGlucoseNeedsThreeConsecutiveReadingsAndCoverage() {
        func fact(_ readings: [TodayFact.Reading]) -> TodayFact? { .lowGlucose(readings, midnight: midnight, now: at(8)) }
        #expect(fact(glucose { (38..<42).contains($0) ? 65 : 100 }) == .lowGlucose(limit: 70, 20 * Self.minute))
        #expect(fact(glucose { (38..<40).contains($0) ? 65 : 100 }) == nil)
        #expect(fact(glucose { (38..<42).contains($0) ? 70 : 100 }) == nil)
        // Only half of the time is covered.
        #expect(fact(glucose { $0 < 48 ? ((38..<42).contains($0) ? 65 : 100) : nil }) == nil)
        #expect(fact([]) == nil)
    }

    @Test func aTemperatureIsComparedWithinSixHours() {
        func fact(_ value: Double, earlier: Double?, now: Double = 3) -> TodayFact? {
            .temperature((at(2.8), value), earlier: earlier.map { (at($0), 39.1) }, now: at(now))
        }
        #expect(
            fact(38.6, earlier: 0.85) == .temperature(38.6, at: at(2.8), earlier: .init(value: 39.1, time: at(0.85))))
        #expect(fact(38.6, earlier: -3.3) == .temperature(38.6, at: at(2.8), earlier: nil))
        #expect(fact(38.6, earlier: nil) == .temperature(38.6, at: at(2.8), earlier: nil))
        #expect(fact(37.9, earlier: 0.85) == nil)
        // The page shows it until a normal reading, or for a day.
        #expect(fact(38.6, earlier: nil, now: 26.7) == .temperature(38.6, at: at(2.8), earlier: nil))
        #expect(fact(38.6, earlier: nil, now: 26.9) == nil)
    }

    @Test func reportsSilenceWithoutReadingsToday() {
        #expect(
            TodayFact.silence(latest: at(-3), source: "Scale", midnight: midnight) == .silence(since: at(-3), source: "Scale"))
        #expect(TodayFact.silence(latest: at(0.1), source: "Scale", midnight: midnight) == nil)
        #expect(TodayFact.silence(latest: nil, source: "", midnight: midnight) == nil)
    }

    @Test func atMostThreeFactsAreChosenInTheirOrder() {
        let low = TodayFact.lowGlucose(limit: 70, 20 * Self.minute)
        let (night, steps) = (
            TodayFact.slept(7 * Self.hour, difference: 0), TodayFact.total(.stepCount, 5, until: at(8), typical: nil)
        )
        let (pressure, typical) = (TodayFact.pressure(systolic: 131, diastolic: 82), TodayFact.asUsual([.bodyMass]))
        #expect(TodayFact.chosen(unusual: [nil, low], of: [night, steps, pressure], typical: typical) == [low, night, steps])
        #expect(TodayFact.chosen(unusual: [], of: [night, nil, pressure], typical: typical) == [night, pressure, typical])
        #expect(TodayFact.chosen(unusual: [], of: [nil], typical: typical) == [typical])
    }
}
