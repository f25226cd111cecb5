import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Repairs that move readings onto each other: a repair compares with readings outside of it, never with those that it moves itself.
@Suite struct RepairCollisionTests {
    private static let hour: Int64 = 3_600_000_000

    /// Checks a repair of a series by hand: all of it is moved or scaled and nothing is lost. Then undoes it.
    private static func check(_ test: TestStore, _ request: RepairRequest, _ expected: [String]) throws {
        let before = try test.lines()
        let count = before.count
        let (plan, repairID) = try test.migrate(request)
        #expect((plan.repaired, plan.merged) == (count, 0))
        #expect(try keys(test) == expected.sorted())
        #expect(try test.store.check(deep: true) == [])
        // Told the same by the feed.
        var live: Set<SampleIdentity> = []
        try test.store.changes.read(after: 0, types: nil) { change in
            switch change {
            case .added(let stored): live.insert(stored.uuid)
            case .deleted(let deletion): live.remove(deletion.uuid)
            }
        }
        #expect(live.count == count)
        #expect(try test.undo(try #require(repairID)) == count)
        #expect(try test.lines() == before)
        #expect(try test.store.check(deep: true) == [])
        // Once more: an undone repair is applied again.
        try test.migrate(request)
        #expect(try keys(test) == expected.sorted())
    }

    private static func keys(_ test: TestStore) throws -> [String] {
        try test.samples().map { "\(($0.sample.start.microseconds - 1_767_225_600_000_000) / 1_000_000) \($0.sample.value)" }
            .sorted()
    }

    @Test(arguments: [1, -1, 3, 47] as [Int64]) func movedOntoTheNeighbour(hours: Int64) throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep(try (0..<48).map { try steps("10", at: Double($0) * 3600, lasting: 600) })
            try Self.check(
                test, TestStore.request(.shift(hours * Self.hour), .stepCount),
                (0..<48).map { "\(($0 + Int(hours)) * 3600) 10.0" })
        }
    }

    /// One is moved away, and the other to its place. If the first repair were undone first, one measurement would be stored twice.
    @Test func refusesUndoOntoResultOfLaterRepair() throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep(try (0..<2).map { try steps("10", at: Double($0) * 3600, lasting: 600) })
            let before = try test.lines()
            func moved(from start: Int64) throws -> Int64 {
                let request = TestStore.request(.shift(Self.hour), .stepCount) {
                    $0.from = Instant(microseconds: 1_767_225_600_000_000 + start)
                    $0.to = Instant(microseconds: 1_767_225_600_000_000 + start + Self.hour)
                }
                return try #require(try test.migrate(request).repairID)
            }
            let (first, second) = (try moved(from: Self.hour), try moved(from: 0))
            let after = try test.lines()
            let error = #expect(throws: StoreError.self) { try test.undo(first) }
            #expect(error?.description.contains("'vitalgate repair undo \(second)' first") == true)
            #expect(try test.lines() == after)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.undo(second) == 1)
            #expect(try test.undo(first) == 1)
            #expect(try test.lines() == before)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The quarantined reading equals the result of a repair of another reading. An import would treat it as a duplicate.
    @Test func refusesAcceptingResultOfRepair() throws {
        try TestStore.with { test in
            let rates = try SampleMaker()
            try test.keep([try rates("60", at: 0), try rates("60", at: 3600, rule: .implausible)])
            let repairID = try #require(try test.migrate(TestStore.request(.shift(Self.hour), .heartRate)).repairID)
            let quarantined = try #require(try test.store.connection.integer("SELECT id FROM quarantine WHERE state = 'held'"))
            #expect(throws: StoreError.self) {
                try test.store.quarantine.accept([quarantined], description: TestStore.description(.accept))
            }
            #expect(try test.store.check(deep: true) == [])
            // After the undo, it is a separate reading.
            try test.undo(repairID)
            #expect(try test.store.quarantine.accept([quarantined], description: TestStore.description(.accept)).count == 1)
            #expect(try Self.keys(test) == ["0 60.0", "3600 60.0"])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// More than is looked at together, so that the neighbour is written already, or not yet.
    @Test(arguments: [30, -30] as [Int64]) func overTheEndOfAChunk(seconds: Int64) throws {
        try TestStore.with { test in
            let count = RepairReader.chunk * 2 + 100
            let rates = try SampleMaker()
            try test.keep(try (0..<count).map { try rates("60", at: Double($0) * 30) })
            try Self.check(
                test, TestStore.request(.shift(seconds * 1_000_000), .heartRate),
                (0..<count).map { "\($0 * 30 + Int(seconds)) 60.0" })
        }
    }

    @Test func scaledOntoOneAnother() throws {
        try TestStore.with { test in
            let rates = try SampleMaker()
            try test.keep([try rates("60", at: 0), try rates("120", at: 0), try rates("30", at: 0)])
            let two = Repair.scale(try Numeral("2"))
            try Self.check(test, TestStore.request(two, .heartRate, ambiguous: true), ["0 120.0", "0 240.0", "0 60.0"])
        }
    }

    /// 10 and 20 are one reading in two units only if the other one stays.
    @Test func twoPersonsMovedTogether() throws {
        try TestStore.with { test in
            let mine = try SampleMaker(.bodyMass)
            let theirs = try SampleMaker(.bodyMass, person: "unassigned")
            try test.keep([try mine("80", at: 0), try theirs("80", at: 0)])
            // Only the unassigned one is assigned. The other is outside of the repair and is the same reading.
            let request = TestStore.request(.person(TestStore.person), .bodyMass) { $0.person = "unassigned" }
            var reported = request
            reported.merging = .atMost(.max)
            let (plan, repairID) = try test.migrate(reported)
            #expect((plan.repaired, plan.merged) == (0, 1))
            #expect(try test.undo(try #require(repairID)) == 1)
            #expect(try test.samples().count == 2)
        }
    }

    /// Merges are counted, and made only on request.
    @Test func mergesOnlyOnRequest() throws {
        try TestStore.with { test in
            let steps = try SampleMaker(.stepCount)
            try test.keep(try (0..<4).map { try steps("10", at: Double($0) * 3600) })
            // The last of these is outside, at the place to which the one before it is moved.
            var request = TestStore.request(.shift(Self.hour), .stepCount) {
                $0.to = Instant(microseconds: 1_767_225_600_000_000 + 3 * Self.hour)
            }
            request.merging = .atMost(0)
            #expect(try test.store.repairs.plan(request).merged == 1)
            let before = try test.lines()
            #expect(throws: FewerReadings.self) { try test.migrate(request) }
            #expect(try test.lines() == before)
            #expect(try test.store.repairs.all().isEmpty)

            request.merging = .never
            let apart = try test.migrate(request)
            #expect((apart.plan.repaired, apart.plan.merged) == (3, 0))
            #expect(try test.samples().count == 4)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.undo(try #require(apart.repairID)) == 3)
            #expect(try test.lines() == before)

            request.merging = .atMost(.max)
            let merged = try test.migrate(request)
            #expect((merged.plan.repaired, merged.plan.merged) == (2, 1))
            #expect(try test.samples().count == 3)
            #expect(try test.undo(try #require(merged.repairID)) == 3)
            #expect(try test.lines() == before)
        }
    }

    /// If a repair merged its own readings, the deep check names the repair, and undoing it restores the readings.
    @Test(arguments: [1, -1] as [Int64]) func aDamagedStoreIsMended(hours: Int64) throws {
        let test = try TestStore()
        let steps = try SampleMaker(.stepCount)
        try test.keep(try (0..<48).map { try steps("10", at: Double($0) * 3600) })
        let before = try test.lines()
        let (_, repairID) = try test.migrate(TestStore.request(.shift(hours * Self.hour), .stepCount))
        try Self.damage(test, hours: hours)
        #expect(try test.samples().count == 1)
        let problems = try test.store.check(deep: true)
        #expect(problems.contains { $0.contains("repair 1: 47 readings") && $0.contains("repair undo 1") }, "\(problems)")
        #expect(try test.undo(try #require(repairID)) == 48)
        #expect(try test.lines() == before)
        #expect(try test.store.check(deep: true) == [])
        try test.close()
    }

    /// Damages a good repair: each moved sample but one is gone, and the old ones name their neighbours.
    private static func damage(_ test: TestStore, hours: Int64) throws {
        let connection = try test.store.connection
        let last = hours > 0 ? "max" : "min"
        func uuid(_ key: SampleKey) -> String { key.identity(skew: 0).description }
        let statement = try Statement(connection, "SELECT start, hash FROM deleted ORDER BY start")
        var old: [SampleKey] = []
        while try statement.step() {
            try old.append(SampleKey(series: 1, start: statement.integer(0), hash: statement.blob(1)))
        }
        if hours < 0 { old.reverse() }
        let numbers = try Statement(connection, "SELECT \(last)(start), max(seq) FROM sample")
        _ = try numbers.step()
        let retained = numbers.integer(0)
        numbers.reset()
        try connection.run("DELETE FROM repaired WHERE start <> ?", .integer(retained))
        try connection.run("DELETE FROM sample WHERE start <> ?", .integer(retained))
        for (one, next) in zip(old, old.dropFirst()) {
            try connection.run(
                "UPDATE deleted SET replaced_by = ? WHERE start = ? AND hash = ?", .text(uuid(next)), .integer(one.start),
                .blob(one.hash))
            try connection.run(
                "INSERT INTO repaired VALUES(1, ?, ?, 1, ?, ?, 1, 1)", .integer(next.start), .blob(next.hash),
                .integer(one.start),
                .blob(one.hash))
        }
        try connection.run("DELETE FROM reading_alias WHERE nominal <> ?", .integer(retained))
        try connection.run("UPDATE migration SET repaired = 1, merged = 47")
        try connection.run("UPDATE ingest SET stored = 1 WHERE kind = 'migrate'")
    }
}
