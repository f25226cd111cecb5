import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A day's rings: Apple's if there are any, otherwise computed from the person's samples.
@Suite struct ActivityDaysTests {
    private static func seconds(_ text: String) throws -> Double {
        Double(try Instant(text).microseconds - 1_767_225_600_000_000) / 1e6
    }

    private static func type(_ id: String) throws -> SampleType { try #require(SampleType(id)) }

    static func summary(_ date: String, energy: String, source: String = "apple-health", version: Int64 = 1) throws -> GatedSample
    {
        var summary = ActivitySummary(date: date)
        summary.activeEnergyBurned = Amount(try Numeral(energy), try Unit(ucum: "kcal"))
        summary.activeEnergyBurnedGoal = Amount(try Numeral("500"), try Unit(ucum: "kcal"))
        let start = try Instant("\(date)T00:00:00+00:00")
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: try type("activitySummary"),
                source: SourceRevision(id: source, name: source, version: nil), device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: nil),
            record: RecordIdentifier(id: date, version: version), body: try SampleBody(encoding: summary), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    /// A watch and a phone: if both report, the watch counts. Steps across midnight count on both days.
    @Test func aDayOfSamples() throws {
        try TestStore.with { test in
            func maker(_ id: String, _ source: String = "watch") throws -> SampleMaker {
                try SampleMaker(Self.type(id), source: source, sourceName: source)
            }
            let (steps, phone) = (try maker("stepCount"), try maker("stepCount", "phone"))
            let (energy, exercise, hours) = (
                try maker("activeEnergyBurned"), try maker("appleExerciseTime"), try maker("appleStandHour")
            )
            try test.keep([
                try steps("1000", at: Self.seconds("2026-11-20T23:50:00+01:00"), lasting: 1200),
                try steps("300", at: Self.seconds("2026-11-20T08:00:00+01:00"), lasting: 600),
                try phone("290", at: Self.seconds("2026-11-20T08:00:00+01:00"), lasting: 600),
                try phone("70", at: Self.seconds("2026-11-20T09:00:00+01:00"), lasting: 60),
                try energy("20.5", at: Self.seconds("2026-11-20T08:00:00+01:00"), lasting: 600),
                try energy("400", at: Self.seconds("2026-11-20T17:00:00+01:00"), lasting: 3600),
                try exercise("31", at: Self.seconds("2026-11-20T17:00:00+01:00"), lasting: 3600),
                try hours("0", at: Self.seconds("2026-11-20T08:00:00+01:00"), lasting: 3600),
                try hours("1", at: Self.seconds("2026-11-20T09:00:00+01:00"), lasting: 3600),
                try hours("0", at: Self.seconds("2026-11-20T17:00:00+01:00"), lasting: 3600),
            ])
            let query = ActivityQuery(zone: try .berlin)
            let days = try test.store.activity.days(query).map(\.day)
            #expect(days.map(\.date) == ["2026-11-20", "2026-11-21"])
            #expect(days.allSatisfy { $0.isDerived && $0.move.goal == nil && $0.stand.goal == nil })
            #expect(days[0].move == .init(value: 420.5, unit: ActivityDay.kilocalorie))
            #expect(days[0].exercise == .init(value: 31, unit: ActivityDay.minute))
            #expect(days[0].stand == .init(value: 2))
            #expect(days.map(\.steps) == [870, 500])
            #expect(days[1].move.value == nil && days[1].exercise.value == nil && days[1].stand.value == nil)
            // Another zone has other days.
            let tokyo = ActivityQuery(zone: TimeZoneRules(fixed: ZoneOffset(seconds: 9 * 3600)))
            #expect(try test.store.activity.days(tokyo).map(\.day.steps) == [370, 1000])
            // One day alone.
            let one = ActivityQuery(
                zone: try .berlin, from: try Instant("2026-11-20T12:00:00+01:00"),
                to: try Instant("2026-11-20T12:00:00.000001+01:00"))
            #expect(try test.store.activity.days(one).map(\.day) == [days[0]])
            let none = ActivityQuery(
                zone: try .berlin, from: try Instant("2026-11-20T12:00:00+01:00"), to: try Instant("2026-11-20T00:00:00+01:00"))
            #expect(try test.store.activity.days(none).isEmpty)
        }
    }

    /// A summary from Apple is returned unchanged. The day before has none and is derived.
    @Test func returnsReportedSummary() throws {
        try TestStore.with { test in
            let energy = try SampleMaker(Self.type("activeEnergyBurned"))
            try test.keep([
                try energy("100", at: Self.seconds("2026-11-19T08:00:00+01:00"), lasting: 600),
                try energy("200", at: Self.seconds("2026-11-20T08:00:00+01:00"), lasting: 600),
                try Self.summary("2026-11-20", energy: "421.5"),
            ])
            let days = try test.store.activity.days(ActivityQuery(zone: try .berlin))
            #expect(days.map(\.day.move.value) == [100, 421.5])
            #expect(days.map(\.day.move.goal) == [nil, 500])
            #expect(days.map(\.day.isDerived) == [true, false])
            #expect(days.map { $0.summary == nil } == [true, false])
            // It is deleted, and the day is derived. Nothing of it was ever stored.
            let changes = try test.store.lastChange()
            let reported = try #require(days[1].summary)
            try test.store.samples.delete([reported.uuid], description: TestStore.description(.delete))
            #expect(try test.store.activity.days(ActivityQuery(zone: try .berlin)).map(\.day.move.value) == [100, 200])
            #expect(try test.store.lastChange() == changes + 1)
        }
    }

    /// A goal applies until it is changed. Days before it, and days a month later, have none.
    @Test func aDerivedDayHasTheLastGoal() throws {
        try TestStore.with { test in
            let energy = try SampleMaker(Self.type("activeEnergyBurned"))
            let days = ["2026-10-19", "2026-10-21", "2026-11-20", "2026-11-21"]
            try test.keep(try days.map { try energy("100", at: Self.seconds("\($0)T08:00:00+01:00"), lasting: 600) })
            try test.keep([try Self.summary("2026-10-20", energy: "421.5")])
            let query = ActivityQuery(zone: try .berlin)
            #expect(try test.store.activity.days(query).map(\.day.move.goal) == [nil, 500, 500, 500, nil])
            let late = ActivityQuery(
                zone: try .berlin, from: try Instant("2026-11-20T00:00:00+01:00"), to: try Instant("2026-11-21T00:00:00+01:00"))
            #expect(try test.store.activity.days(late).map(\.day.move.goal) == [500])
        }
    }

    /// No repair of times moves a day of the calendar.
    @Test func doesNotMoveReportedSummary() throws {
        try TestStore.with { test in
            try test.keep([try Self.summary("2026-11-20", energy: "421.5")])
            let request = RepairRequest(
                .shift(3_600_000_000), of: SampleConditions(), takesAmbiguous: true, now: TestStore.received)
            #expect(try test.store.repairs.apply(request).plan.repaired == 0)
        }
    }

    /// Standing minutes give hours if there are no stand hours. They do not count for a wheelchair user.
    @Test func aWheelchairUsersDay() throws {
        try TestStore.with { test in
            let (time, pushes) = (try SampleMaker(Self.type("appleStandTime")), try SampleMaker(Self.type("pushCount")))
            let (hours, steps) = (try SampleMaker(Self.type("appleStandHour")), try SampleMaker(.stepCount))
            for day in ["2026-11-19", "2026-11-20", "2026-11-21"] {
                try test.keep([
                    // Half a minute in each of two hours, and a whole one in a third.
                    try time("1", at: Self.seconds("\(day)T09:59:30+01:00"), lasting: 60),
                    try time("1", at: Self.seconds("\(day)T14:00:00+01:00"), lasting: 60),
                    try time("0.9", at: Self.seconds("\(day)T15:00:00+01:00"), lasting: 60),
                    try pushes("800", at: Self.seconds("\(day)T14:00:00+01:00"), lasting: 600),
                    try steps("12", at: Self.seconds("\(day)T15:00:00+01:00"), lasting: 600),
                ])
            }
            try test.keep([try hours("0", at: Self.seconds("2026-11-21T14:00:00+01:00"), lasting: 3600)])
            func days() throws -> [ActivityDay] { try test.store.activity.days(ActivityQuery(zone: try .berlin)).map(\.day) }
            #expect(try days().map(\.steps) == [12, 12, 12])
            #expect(try days().map(\.stand.value) == [1, 1, 1])
            // From a day on. Earlier days do not change.
            try test.store.people.set(
                .wheelchairUse, to: Characteristic(.wheelchairUse, "yes"), of: TestStore.person, from: "2026-11-20",
                recorded: TestStore.received)
            #expect(try days().map(\.usesWheelchair) == [false, true, true])
            #expect(try days().map(\.steps) == [12, 800, 800])
            #expect(try days().map(\.stand.value) == [1, nil, 1])
        }
    }

    /// A move ring of minutes.
    @Test func aRingOfMinutes() throws {
        try TestStore.with { test in
            let energy = try SampleMaker(Self.type("activeEnergyBurned"))
            let time = try SampleMaker(Self.type("appleMoveTime"))
            try test.keep([try energy("100", at: 0, lasting: 600), try time("7", at: 0, lasting: 600)])
            try test.store.people.set(
                .activityMoveMode, to: Characteristic(.activityMoveMode, "appleMoveTime"), of: TestStore.person,
                from: "2025-01-01", recorded: TestStore.received)
            let day = try #require(try test.store.activity.days(ActivityQuery(zone: TimeZoneRules(fixed: .utc))).first?.day)
            #expect(day.move == .init(value: 7, unit: ActivityDay.minute) && day.movesByTime)
        }
    }

    /// A day that the zone skipped has no samples.
    @Test func aSkippedDay() throws {
        try TestStore.with { test in
            let zone = try TimeZoneRules(rule: "<-10>10<+14>-14,M3.5.0/0,M10.5.0/0", identifier: "Apia")
            let steps = try SampleMaker(.stepCount)
            try test.keep([
                try steps("2400", at: Self.seconds("2026-03-28T12:00:00-10:00"), lasting: 24 * 3600),
                try Self.summary("2026-03-29", energy: "1"),
            ])
            let days = try test.store.activity.days(ActivityQuery(zone: zone)).map(\.day)
            #expect(days.map(\.date) == ["2026-03-28", "2026-03-29", "2026-03-30"])
            #expect(days.map(\.steps) == [1200, nil, 1200])
        }
    }

    /// Unassigned samples have no rings unless requested, and two people have separate rings.
    @Test func eachPersonsOwn() throws {
        try TestStore.with { test in
            let other = "a1b2c3d4-0000-4000-8000-000000000001"
            for (index, person) in [other, Origin.unassigned, TestStore.person].enumerated() {
                try test.keep([try SampleMaker(.stepCount, person: person)("\(index + 1)", at: 0)])
            }
            var query = ActivityQuery(zone: TimeZoneRules(fixed: .utc))
            #expect(try test.store.activity.days(query).map(\.day.steps) == [3, 1])
            query.person = Origin.unassigned
            #expect(try test.store.activity.days(query).map(\.day.steps) == [2])
            query.person = "nobody"
            #expect(try test.store.activity.days(query).isEmpty)
        }
    }

    /// Days years apart are found without reading the days in between.
    @Test func daysFarApart() throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep([try steps("1", at: -40 * 365 * 86400), try steps("2", at: 0), try steps("3", at: 86400 * 1500)])
            #expect(try test.store.activity.days(ActivityQuery(zone: .berlin)).map(\.day.steps) == [1, 2, 3])
        }
    }
}
