import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A workout's figures come from its samples, or from its source if there are none.
@Suite struct WorkoutStatisticsTests {
    /// From 0 to 1800 seconds after the beginning of 2026, of the watch.
    private static func workout(pauses: [(Int64, Int64?)] = [], statistics: [Workout.Statistics] = []) throws -> GatedSample {
        let start = Instant(seconds: 1_767_225_600)
        var events: [Workout.Event] = []
        for (begin, end) in pauses {
            events.append(.init(type: "pause", start: begin * 1_000_000, end: begin * 1_000_000))
            if let end { events.append(.init(type: "resume", start: end * 1_000_000, end: end * 1_000_000)) }
        }
        let reading = Reading(
            origin: Origin(
                person: TestStore.person, type: try #require(SampleType("workout")),
                source: SourceRevision(id: "watch", name: "watch", version: nil), device: nil),
            numeral: Numeral(coefficient: 37), unit: .one,
            time: .instants(start: start, end: Instant(seconds: 1_767_225_600 + 1800), offset: .utc),
            body: try SampleBody(encoding: Workout(events: events, statistics: statistics)), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: TestStore.received).first)
    }

    private static func maker(_ id: String, _ source: String = "watch", person: String = TestStore.person) throws -> SampleMaker {
        try SampleMaker(try #require(SampleType(id)), source: source, sourceName: source, person: person)
    }

    @Test func statisticsOfSamples() throws {
        try TestStore.with { test in
            let (heart, energy) = (try Self.maker("heartRate"), try Self.maker("activeEnergyBurned"))
            let reported: [Workout.Statistics] = [
                .init(type: "activeEnergyBurned", sum: Amount(try Numeral("999"), try Unit(ucum: "kcal"))),
                .init(type: "distanceWalkingRunning", sum: Amount(try Numeral("5.2"), try Unit(ucum: "km"))),
                .init(type: "HKQuantityTypeIdentifierNew", average: Amount(try Numeral("3"), nil)),
            ]
            let workout = try Self.workout(pauses: [(600, 900)], statistics: reported)
            try test.keep([
                workout,
                try heart("90", at: -1), try heart("100", at: 0), try heart("140", at: 599), try heart("10", at: 600),
                try heart("10", at: 899), try heart("150", at: 900), try heart("10", at: 1800),
                try Self.maker("heartRate", "strap")("200", at: 30), try Self.maker("heartRate", person: "anna")("210", at: 30),
                // Half before the start, a third within the pause, completely within it, half after the end.
                try energy("20", at: -60, lasting: 120), try energy("30", at: 500, lasting: 150),
                try energy("40", at: 700, lasting: 60), try energy("50", at: 1770, lasting: 60),
            ])
            let figures = try test.store.workoutStatistics(of: workout.sample)
            #expect(
                figures.map(\.type) == [
                    "HKQuantityTypeIdentifierNew", "activeEnergyBurned", "distanceWalkingRunning", "heartRate",
                ])
            #expect(figures.map(\.from) == [.source, .samples, .source, .samples])
            #expect(abs((figures[1].sum ?? 0) - (10 + 20 + 25)) < 1e-9)
            #expect(figures[2].sum == 5200 && figures[2].unit?.code == "m")
            #expect(figures[0].average == 3 && figures[0].unit == nil)
            // 100 lasts for 599 s, 140 for one second. 150, before a long silence, lasts as long as the one before it.
            let average = (100.0 * 599 + 140 + 150) / 601
            #expect(abs((figures[3].average ?? 0) - average) < 1e-9 && figures[3].minimum == 100 && figures[3].maximum == 150)
            #expect(figures[3].count == 3)
            // All of the person's: the watch and the strap.
            let all = try test.store.workoutStatistics(of: workout.sample, sources: .all(priority: []))
            #expect(all.first { $0.type == "heartRate" }?.maximum == 200)
        }
    }

    /// Two sources report the same minutes, and one counts. A pause without an end excludes the rest.
    @Test func ofSeveralSources() throws {
        try TestStore.with { test in
            let workout = try Self.workout(pauses: [(1200, nil)])
            try test.keepExactly([
                workout, try Self.maker("stepCount")("100", at: 0, lasting: 600),
                try Self.maker("stepCount", "phone")("90", at: 0, lasting: 600),
                try Self.maker("stepCount", "phone")("60", at: 900, lasting: 600),
            ])
            func steps(_ sources: SampleStore.WorkoutSources) throws -> Double? {
                try test.store.workoutStatistics(of: workout.sample, sources: sources).first?.sum
            }
            #expect(try steps(.same) == 100)
            #expect(try steps(.all(priority: [])) == 130)
            #expect(try steps(.all(priority: ["phone"])) == 120)
        }
    }

    @Test func withoutSamples() throws {
        try TestStore.with { test in
            let reported = Workout.Statistics(type: "heartRate", average: Amount(try Numeral("120"), .one))
            let workout = try Self.workout(pauses: [(0, nil)], statistics: [reported])
            try test.keep([workout, try Self.maker("heartRate")("100", at: 10)])
            let figures = try test.store.workoutStatistics(of: workout.sample)
            // An amount in a unit of another dimension does not change.
            #expect(figures.map(\.from) == [.source] && figures.first?.average == 120 && figures.first?.unit == Unit.one)
            let other = try Self.maker("heartRate")("100", at: 10)
            #expect(try test.store.workoutStatistics(of: other.sample).isEmpty)
        }
    }

    /// Sums and counts without pauses against a walk through the seconds.
    @Test(arguments: 0..<40) func anyPauses(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func second(_ range: ClosedRange<Int64>) -> Int64 { 60 * Int64.random(in: range, using: &random) }
        var pauses: [(Int64, Int64?)] = []
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            let begin = second(-5...35)
            pauses.append((begin, Int.random(in: 0..<4, using: &random) == 0 ? nil : begin + second(0...10)))
        }
        let workout = try Self.workout(pauses: pauses)
        let decoded = try #require(try workout.sample.body?.decoded(as: Workout.self))
        // By the events, second by second.
        var isPaused = [Bool](repeating: false, count: 1800)
        var (paused, next) = (false, 0)
        let events = decoded.events.sorted { $0.start < $1.start }
        for second in -300..<1800 {
            while next < events.count, events[next].start <= Int64(second) * 1_000_000 {
                paused = events[next].type == "pause"
                next += 1
            }
            if second >= 0 { isPaused[second] = paused }
        }
        try TestStore.with { test in
            var (batch, sum, highest) = ([workout], 0.0, nil as Double?)
            var seen: Set<[Int64]> = []
            for _ in 0..<20 {
                let (start, length, value) = (second(-5...32), second(0...5), Int64.random(in: 1...3, using: &random) * 60)
                guard seen.insert([start, length, value]).inserted else { continue }
                batch.append(try Self.maker("stepCount")("\(value)", at: Double(start), lasting: Double(length)))
                batch.append(try Self.maker("heartRate")("\(value)", at: Double(start), lasting: Double(length)))
                func counts(_ second: Int64) -> Bool { (0..<1800).contains(second) && !isPaused[Int(second)] }
                if counts(start) { highest = max(highest ?? 0, Double(value)) }
                if length == 0 { sum += counts(start) ? Double(value) : 0 }
                for second in start..<start + length where counts(second) { sum += Double(value) / Double(length) }
            }
            try test.keepExactly(batch)
            let figures = try test.store.workoutStatistics(of: workout.sample)
            #expect(abs((figures.first { $0.type == "stepCount" }?.sum ?? 0) - sum) < 1e-6, "\(pauses)")
            #expect(figures.first { $0.type == "heartRate" }?.maximum == highest)
            let running = isPaused.count { !$0 }
            #expect(decoded.seconds(from: workout.sample.start, to: workout.sample.end) == Double(running))
        }
    }
}
