import HealthModel
import Pipeline
import SampleStore
import Testing

@testable import HealthAnswers

/// The answers of a person's day.
@Suite struct TodayReaderTests {
    private let answered: AnsweredStore
    private let utc = TimeZoneRules(fixed: .utc)

    init() throws { answered = try AnsweredStore() }

    private func types(at hours: Double = 12) throws -> [TypeToday] {
        try TodayReader(answered.store, zone: utc, priority: []).types(of: AnsweredStore.person, at: AnsweredStore.instant(hours))
    }

    @Test func typesAreGroupedAsInAppleHealth() throws {
        #expect(HealthGroup(of: .stepCount) == .activity && HealthGroup(of: .heartRate) == .heart)
        #expect(HealthGroup(of: .bodyMass) == .body && HealthGroup(of: .bodyTemperature) == .vitals)
        for (id, group) in [("sleepAnalysis", HealthGroup.sleep), ("dietaryZinc", .nutrition), ("headache", .other)] {
            #expect(HealthGroup(of: try #require(SampleType(id))) == group)
        }
        for (name, value) in [("bodyMass", "80"), ("heartRate", "61"), ("restingHeartRate", "52"), ("stepCount", "100")] {
            try answered.add(name, value, 8, to: name == "stepCount" ? 9 : nil)
        }
        #expect(try types().map(\.type.id) == ["stepCount", "heartRate", "restingHeartRate", "bodyMass"])
    }

    /// Every type of the catalogue of movement has a place.
    @Test func noMovementIsElsewhere() {
        for type in SampleType.quantities where type.id.hasPrefix("distance") || type.id.hasPrefix("running") {
            #expect(HealthGroup(of: type) == .activity, "\(type)")
        }
    }

    @Test func stepsAreComparedWithTheUsualAtThisTime() throws {
        // Each day 600 until noon and 400 after it, on weekends much more. Yesterday has no data. Today is a Friday.
        let days = CalendarIntervals(.day, zone: utc)
        for day in -30 ... -2 {
            let isWeekend = days.weekday(of: days.index(of: AnsweredStore.instant(Double(day) * 24))) > 4
            try answered.add("stepCount", isWeekend ? "9000" : "600", Double(day) * 24 + 10, to: Double(day) * 24 + 12)
            try answered.add("stepCount", "400", Double(day) * 24 + 15, to: Double(day) * 24 + 16)
        }
        try answered.add("stepCount", "300", 10, to: 12)
        let soFar = try #require(try types().first?.soFar)
        #expect(soFar.sum == 300 && soFar.until == AnsweredStore.instant(12))
        #expect(soFar.typical?.median == 600 && soFar.typical?.count ?? 0 >= 19)
        // An hour that is not over counts by its share.
        #expect(try types(at: 10.5).first?.soFar?.typical?.median == 150)
        // It is compared up to the end of the data. Older data is not compared with the present.
        #expect(try types(at: 12.4).first?.soFar?.typical?.median == 600)
        #expect(try types(at: 23).first?.soFar == DaySoFar(sum: 300, until: AnsweredStore.instant(12), typical: nil))
    }

    @Test func thirteenDaysAreNotUsual() throws {
        for day in -17...0 { try answered.add("stepCount", "600", Double(day) * 24 + 11, to: Double(day) * 24 + 12) }
        #expect(try types().first?.soFar?.typical == nil)
    }

    @Test func sleepIsComparedWithTheNightsBefore() throws {
        for day in -20...0 { try answered.sleep("asleepCore", Double(day) * 24 - 1, to: Double(day) * 24 + (day == 0 ? 7 : 6)) }
        let sleep = try #require(try types().first { $0.type.id == "sleepAnalysis" })
        #expect(sleep.typical?.median == 7 * 3_600_000_000 && sleep.typical?.count == 20)
    }

    /// The facts of the sentence at the top of Today.
    @Test func factsAreReadFromTheStore() throws {
        for day in -20...0 {
            let midnight = Double(day) * 24
            try answered.add("bodyMass", "\(Double(80 * 10 - day) / 10)", midnight + 7)
            try answered.add("restingHeartRate", "\(54 + (day + 20) % 3)", midnight + 6)
            try answered.sleep("asleepCore", midnight - 1, to: midnight + 6)
        }
        let reader = TodayReader(answered.store, zone: utc, priority: [])
        func facts(at hours: Double, isDoubtful: Bool = false) throws -> [TodayFact] {
            try reader.facts(
                of: types(at: hours), person: AnsweredStore.person, at: AnsweredStore.instant(hours), goals: [:],
                isDoubtful: { _ in isDoubtful }, source: { $0.origin.source.id })
        }
        let found = try facts(at: 12)
        #expect(found.first == .slept(7 * 3_600_000_000, difference: 0))
        let changes = found.compactMap { fact -> Double? in
            if case .mornings(.bodyMass, let change) = fact { change } else { nil }
        }
        #expect(changes.count == 1 && abs(changes[0] + 3) < 0.01)
        #expect(try !facts(at: 12, isDoubtful: true).contains { if case .mornings = $0 { true } else { false } })
        guard case .silence(let since, _)? = try facts(at: 50).first else {
            Issue.record("nothing is new after two days")
            return
        }
        #expect(since == AnsweredStore.instant(7))
    }

    @Test func weightHasWeeklyAndMonthlyChange() throws {
        for (day, value) in [(-40, "83"), (-31, "82"), (-8, "81"), (-3, "80.6"), (0, "80.2")] as [(Double, String)] {
            try answered.add("bodyMass", value, day * 24 + 7)
        }
        #expect(
            try types().first?.changes == [
                ValueChange(days: 7, from: 81, to: 80.2), ValueChange(days: 30, from: 82, to: 80.2),
            ])
    }

    @Test func firstWeightHasNoChange() throws {
        try answered.add("bodyMass", "80", -20 * 24)
        try answered.add("bodyMass", "80", 7)
        #expect(try types().first?.changes == [])
    }

    /// Readings each quarter of an hour until noon. In the two hours of a dip there is one each minute, which counts no more.
    @Test func glucoseHasTimeInRange() throws {
        for quarter in 0..<48 where !(16..<24).contains(quarter) { try answered.add("bloodGlucose", "120", Double(quarter) / 4) }
        for minute in 0..<120 { try answered.add("bloodGlucose", "69", 4 + Double(minute) / 60) }
        try answered.add("bloodGlucose", "300", -5)
        let times = try #require(try types().first?.glucose)
        #expect(abs(times.inRange - 10.0 / 12) < 1e-9 && abs(times.shares[1] - 2.0 / 12) < 1e-9 && times.coverage == 1)
        // A few readings a day tell nothing about the time between them.
        #expect(try types(at: 20).first?.glucose == nil)
    }

    @Test func aPulseHasTheRangeOfTheDay() throws {
        for (index, value) in ["61", "48", "131", "70"].enumerated() { try answered.add("heartRate", value, Double(index)) }
        let day = try #require(try types().first?.day)
        #expect(day.minimum == 48 && day.maximum == 131 && day.count == 4)
    }

    /// 71 kg each morning, 72 kg each evening. At noon, today has only a morning.
    @Test func aMorningIsComparedWithMornings() throws {
        for day in -40...0 {
            try answered.add("bodyMass", "71", Double(day) * 24 + 7)
            if day < 0 { try answered.add("bodyMass", "72", Double(day) * 24 + 21) }
        }
        #expect(
            try types().first?.changes == [ValueChange(days: 7, from: 71, to: 71), ValueChange(days: 30, from: 71, to: 71)])
    }

    @Test func comparesWeightsOfSameScale() throws {
        try answered.add("bodyMass", "72.5", -8 * 24 + 7, source: "other scale")
        try answered.add("bodyMass", "71", 7, source: "scale")
        #expect(try types().first?.changes == [])
        try answered.add("bodyMass", "71.5", -9 * 24 + 7, source: "scale")
        #expect(try types().first?.changes == [ValueChange(days: 7, from: 71.5, to: 71)])
    }

    @Test func nightBelongsToDayOfEnd() throws {
        try answered.add("appleSleepingWristTemperature", "35.5", -1, to: 6)
        let wrist = try #require(try types().first { $0.type.id == "appleSleepingWristTemperature" })
        #expect(wrist.week == [nil, nil, nil, nil, nil, nil, nil, 35.5] && wrist.day?.average == 35.5)
        try answered.sleep("asleepCore", -1, to: 6)
        try answered.sleep("asleepCore", 10, to: 10.5)
        let sleep = try #require(try types().first { $0.type.id == "sleepAnalysis" })
        #expect(sleep.night?.asleep == 7 * 3_600_000_000 && sleep.naps.map(\.asleep) == [1_800_000_000])
    }
}
