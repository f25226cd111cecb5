import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// What went wrong elsewhere, and is put right here by a repair.
@Suite struct RepairStoriesTests {
    private func values(_ test: TestStore) throws -> [Double] { try test.samples().map(\.sample.value) }

    @Test("story 15: a scale sent pounds, kilograms were assumed: the whole history follows, not only what is new")
    func story15() throws {
        try TestStore.with { test in
            let scale = try SampleMaker(.bodyMass, source: "scale", device: Device(key: "S-17", firmware: "1.9"))
            let updated = try SampleMaker(.bodyMass, source: "scale", device: Device(key: "S-17", firmware: "2.0"))
            try test.keep([try scale("154.3", at: 0), try scale("155.1", at: 86_400), try updated("70.1", at: 172_800)])
            let pounds = RepairTests.known("[lb_av]")
            // 154 kg is a possible weight, so the user has to confirm it.
            let careful = try test.store.repairs.plan(TestStore.request(.unit(pounds), .bodyMass))
            #expect(careful.repaired == 0 && careful.left == [.bothPlausible: 3])
            let (plan, _) = try test.migrate(
                TestStore.request(.unit(pounds), .bodyMass, ambiguous: true) { $0.firmware = VersionRange("<2.0") })
            #expect(plan.matched == 2 && plan.repaired == 2)
            #expect(try values(test) == [69.989302691, 70.352176587, 70.1])
        }
    }

    @Test("story 16: per cent as 0..1 and 0..100 on one path: 3040 % becomes 30.40 %, and rows already right are skipped")
    func story16() throws {
        try TestStore.with { test in
            let index = try #require(SampleType("peripheralPerfusionIndex"))
            let maker = try SampleMaker(index)
            try test.keep([try maker("3040", at: 0), try maker("2.5", at: 1), try maker("0.4", at: 2), try maker("1250", at: 3)])
            let repair = Repair.scale(try Numeral("0.01"))
            let (plan, _) = try test.migrate(TestStore.request(repair, index))
            #expect(plan.repaired == 1 && plan.left[.bothPlausible] == 1 && plan.left[.alreadyPlausible] == 1)
            #expect(try values(test) == [3040, 2.5, 0.4, 12.5])
        }
        try TestStore.with { test in
            let fat = try #require(SampleType("bodyFatPercentage"))
            let maker = try SampleMaker(fat)
            try test.keep([try maker("0.304", at: 0), try maker("30.4", at: 1)])
            let (plan, _) = try test.migrate(TestStore.request(.scale(try Numeral("100")), fat))
            #expect(plan.repaired == 1 && plan.left == [.impossibleValue: 1])
            #expect(try values(test) == [30.4, 30.4])
            #expect(try test.samples().map(\.sample.numeral.text) == ["30.4", "30.4"])
        }
    }

    @Test("story 17: the account said mmol/L, the wire was always mg/dL: 11 that became 198 is 11 again") func story17() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bloodGlucose, unit: "mmol/L")
            try test.keep([try maker("110", at: 0), try maker("95", at: 300), try maker("5.5", at: 600)])
            let (plan, _) = try test.migrate(TestStore.request(.unit(RepairTests.known("mg/dL")), .bloodGlucose))
            // 110 mmol/L is 1982 mg/dL, which is impossible.
            #expect(plan.repaired == 2 && plan.left == [.alreadyPlausible: 1])
            #expect(try values(test).prefix(2) == [110, 95])
        }
    }

    @Test("story 18: values are converted, not relabelled, and statistics hold") func story18() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyTemperature)
            try test.keep([try maker("98.6", at: 0), try maker("37", at: 60)])
            try test.migrate(TestStore.request(RepairTests.fahrenheit, .bodyTemperature))
            let days = CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc))
            let statistics = try test.store.statistics(StatisticsQuery(type: .bodyTemperature, intervals: days))
            #expect(statistics.map(\.average) == [37])
            #expect(statistics.map(\.count) == [2])
        }
    }

    @Test("story 21: all times off by the UTC offset: moved, kept in the change log, and nothing twice when the file comes right")
    func story21() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyMass)
            let wrong = try (0..<3).map { try maker("7\($0)", at: Double($0) * 86_400) }
            try test.keep(wrong)
            let before = try test.lines()
            let (plan, repairID) = try test.migrate(TestStore.request(.shift(-3_600_000_000), .bodyMass))
            #expect(plan.repaired == 3)
            #expect(
                try test.samples().map(\.sample.start.microseconds)
                    == wrong.map { $0.sample.start.microseconds - 3_600_000_000 })
            // The app, put right, exports the same weighings at their right times.
            let right = try (0..<3).map { try maker("7\($0)", at: Double($0) * 86_400 - 3600) }
            #expect(try test.keep(right + wrong).account.duplicate == 6)
            try test.undo(try #require(repairID))
            #expect(try test.lines() == before)
        }
    }

    @Test(
        "story 21: local times read in the wrong zone: the wall clock stays, the file read in the right zone brings nothing new")
    func story21LocalTimes() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyMass)
            try test.keep([try maker.local(0)("70", at: 0), try maker.local(0)("71", at: 86_400)])
            let zone = TimeZoneRules(fixed: ZoneOffset(seconds: 7200))
            let (plan, _) = try test.migrate(TestStore.request(.zone(zone), .bodyMass))
            #expect(plan.repaired == 2)
            #expect(
                try test.samples().map(\.sample.start)
                    == [try maker.local(2)("70", at: 0), try maker.local(2)("71", at: 86_400)].map(\.sample.start))
            #expect(try test.samples().allSatisfy { $0.sample.zone == ZoneOffset(seconds: 7200) })
            #expect(try test.keep([try maker.local(2)("70", at: 0)]).account.duplicate == 1)
            #expect(try test.migrate(TestStore.request(.zone(zone), .bodyMass)).repairID == nil)
        }
    }

    @Test func anotherPersonsReadings() throws {
        try TestStore.with { test in
            let guest = "7f9c0000-0000-4000-8000-000000000001"
            let maker = try SampleMaker(.bodyMass)
            let theirs = try SampleMaker(.bodyMass, person: guest)
            try test.keep([try maker("15", at: 0), try maker("70", at: 60)])
            var request = TestStore.request(.person(guest), .bodyMass)
            request.conditions.condition = try SamplePredicate("value < 20 kg")
            #expect(try test.migrate(request).plan.repaired == 1)
            #expect(try test.samples(SampleQuery(person: guest)).map(\.sample.value) == [15])
            #expect(try test.samples(SampleQuery(person: TestStore.person)).map(\.sample.value) == [70])
            // The device's memory again, for any person.
            #expect(try test.keep([try maker("15", at: 0), try theirs("15", at: 0)]).account.duplicate == 2)
        }
    }

    @Test func bodyMassTakenForFatMass() throws {
        try TestStore.with { test in
            let fat = try #require(SampleType("bodyFatMass"))
            let maker = try SampleMaker(.bodyMass)
            try test.keep([try maker("15.20", at: 0)])
            let (plan, repairID) = try test.migrate(TestStore.request(.type(fat), .bodyMass))
            #expect(plan.repaired == 1)
            #expect(try test.samples().map(\.sample.origin.type) == [fat])
            #expect(try test.samples().map(\.sample.numeral.text) == ["15.20"])
            #expect(try test.store.repairs.plan(TestStore.request(.type(.heartRate), fat)).left == [.noConversion: 1])
            #expect(try test.undo(try #require(repairID)) == 1)
        }
    }

    @Test func durations() {
        for (text, microseconds) in [
            ("+1h", 3_600_000_000), ("-5h30min", -19_800_000_000), ("90s", 90_000_000), ("1d", 86_400_000_000),
        ] {
            #expect(Repair.duration(text) == Int64(microseconds))
            #expect(Repair.duration(Repair.duration(Int64(microseconds))) == Int64(microseconds))
        }
        for text in ["", "+", "1", "h", "1x", "0h", "1h-", "999999999d", "--1h", "1e9d"] { #expect(Repair.duration(text) == nil) }
    }
}
