import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Repairs that move a reading to the place of another one of the same repair: no reading is lost, and everything can be undone.
@Suite struct NeighbourRepairTests {
    static let hour: Int64 = 3_600_000_000

    /// 48 readings of 10 steps, one each hour.
    static func hourly(_ count: Int = 48) throws -> [GatedSample] {
        let maker = try SampleMaker(.stepCount, source: "phone")
        return try (0..<count).map { try maker("10", at: Double($0) * 3600, lasting: 600) }
    }

    static func sum(_ test: TestStore) throws -> Double { try test.samples().reduce(0) { $0 + $1.sample.value } }

    /// The content of a reader that has read the change log from the beginning.
    static func reported(_ test: TestStore) throws -> Set<SampleIdentity> {
        var known: Set<SampleIdentity> = []
        try test.store.changes.read(after: 0, types: nil) { change in
            switch change {
            case .added(let stored): known.insert(stored.uuid)
            case .deleted(let deletion): known.remove(deletion.uuid)
            }
        }
        return known
    }

    @Test("a shift onto the next reading keeps every reading", arguments: [1, -1, 7, -47] as [Int64]) func shift(hours: Int64)
        throws
    {
        try TestStore.with { test in
            let readings = try Self.hourly()
            try test.keep(readings)
            let before = try test.lines()
            let moved = Set(readings.map { $0.sample.start.microseconds + hours * Self.hour })
            let (plan, repairID) = try test.migrate(TestStore.request(.shift(hours * Self.hour), .stepCount))
            #expect(plan.matched == 48 && plan.repaired == 48 && plan.merged == 0)
            #expect(try Self.sum(test) == 480)
            #expect(Set(try test.samples().map { $0.sample.start.microseconds }) == moved)
            #expect(try Self.reported(test) == Set(try test.identities()))
            #expect(try test.store.check(deep: true) == [])
            // The old file again brings nothing.
            #expect(try test.keep(readings).account.stored == 0)
            #expect(try test.undo(try #require(repairID)) == 48)
            #expect(try test.lines() == before)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test("there and back are two repairs, taken back one behind the other") func thereAndBack() throws {
        try TestStore.with { test in
            try test.keep(try Self.hourly(5))
            let before = try test.lines()
            let there = try #require(try test.migrate(TestStore.request(.shift(Self.hour), .stepCount)).repairID)
            let back = try #require(try test.migrate(TestStore.request(.shift(-Self.hour), .stepCount)).repairID)
            #expect(try Self.sum(test) == 50)
            #expect(throws: StoreError.self) { try test.undo(there) }
            #expect(try test.undo(back) == 5)
            #expect(try test.undo(there) == 5)
            #expect(try test.lines() == before)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test("60 and 120 at one instant, times two, are 120 and 240") func scale() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.heartRate)
            try test.keep([try maker("60", at: 0), try maker("120", at: 0)])
            let before = try test.lines()
            let (plan, repairID) = try test.migrate(TestStore.request(.scale(try Numeral("2")), .heartRate, ambiguous: true))
            #expect(plan.repaired == 2 && plan.merged == 0)
            #expect(try test.samples().map(\.sample.value).sorted() == [120, 240])
            #expect(try test.undo(try #require(repairID)) == 2)
            #expect(try test.lines() == before)
        }
    }

    @Test("more than is looked at together, onto neighbours on both sides", arguments: [30_000_000, -30_000_000] as [Int64])
    func many(step: Int64) throws {
        try TestStore.with { test in
            let count = RepairReader.chunk * 2 + 100
            let maker = try SampleMaker(.heartRate)
            try test.keep(try (0..<count).map { try maker("\(60 + $0 / 50 % 3)", at: Double($0) * 30) })
            let before = try test.lines()
            let (plan, repairID) = try test.migrate(TestStore.request(.shift(step), .heartRate))
            #expect(plan.repaired == count && plan.merged == 0)
            #expect(try test.samples().count == count)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.undo(try #require(repairID)) == count)
            #expect(try test.lines() == before)
        }
    }

    @Test("a deleted neighbour is no right form of the reading before it") func deletedNeighbour() throws {
        try TestStore.with { test in
            let readings = try Self.hourly(4)
            try test.keep(readings)
            try test.delete(readings[2])
            let plan = try test.migrate(TestStore.request(.shift(Self.hour), .stepCount)).plan
            #expect(plan.repaired == 3 && plan.left.isEmpty)
            try test.restore(readings[2])
            #expect(try Self.sum(test) == 40)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test("the hub's own clock, set forward onto its next reading") func ownClock() throws {
        try TestStore.with { test in
            var maker = try SampleMaker(.heartRate)
            maker.timeOrigin = .receipt
            let ingest = try test.store.beginIngest(TestStore.description(.live))
            let mark = try test.store.clock.mark()
            for index in 0..<5 {
                maker.received = Instant(microseconds: TestStore.received.microseconds + Int64(index) * 1_000_000)
                _ = try ingest.store([try maker("60", at: 0)])
            }
            _ = try ingest.finish(at: maker.received.microseconds)
            let clock = UnsetClock(boot: "a", began: TestStore.received.microseconds, mark: mark)
            #expect(
                try test.store.clock.correct(1_000_000, of: clock, uptime: 60_000_000, next: nil, now: TestStore.later) == 5)
            #expect(
                try test.samples().map { $0.sample.start.microseconds - TestStore.received.microseconds }
                    == (1...5).map {
                        Int64($0) * 1_000_000
                    })
            #expect(try test.store.check(deep: true) == [])
        }
    }
}

/// A store that the first releases damaged: a moved reading was mistaken for the next one of the same repair.
@Suite struct DamagedRepairTests {
    /// As they did it: each reading makes way for the next, the last for its repaired one.
    static func damage(_ test: TestStore, _ readings: [GatedSample]) throws -> Int64 {
        let repair = Repair.shift(NeighbourRepairTests.hour)
        let store = try test.store
        let ingest = try store.beginIngest(TestStore.description(.migrate))
        try store.connection.transaction {
            let writer = try ReplacementWriter(store, ingest: ingest.id, repairID: 1)
            let keys = try readings.map { reading in
                let series = try store.connection.integer("SELECT id FROM series")
                return SampleKey(
                    series: try #require(series), start: reading.sample.start.microseconds, of: reading.sample.identity)
            }
            for index in readings.indices.dropLast() {
                try writer.write([
                    Replacement(
                        order: 0, old: keys[index], arrival: .present, new: keys[index + 1],
                        uuid: readings[index + 1].sample.identity,
                        ingestID: ingest.id)
                ])
            }
            let last = try #require(readings.last).sample
            let moved = last.start.microseconds + NeighbourRepairTests.hour
            let identity = SampleIdentity(
                series: last.origin.seriesKey, start: moved, repaired: last.identity, by: repair.text)
            var made = Replacement(
                order: 0, old: try #require(keys.last), arrival: .made,
                new: SampleKey(series: try #require(keys.last).series, start: moved, of: identity), uuid: identity,
                ingestID: ingest.id)
            made.value = last.value
            made.context = try #require(try store.connection.integer("SELECT min(id) FROM context"))
            made.duration = last.end.microseconds - last.start.microseconds
            try writer.write([made])
            try writer.finish()
            try store.repairs.closeAccount(ingest.id, writer, at: TestStore.later)
            try store.connection.run(
                """
                INSERT INTO migration(id, ingest, repair, conditions, applied, state, matched, repaired, merged, already_right, ambiguous,
                    impossible) VALUES(1, ?, ?, '{}', ?, 'applied', ?, 1, ?, 0, 0, 0)
                """, .integer(ingest.id), .text(repair.text), .integer(TestStore.later.microseconds),
                .integer(Int64(readings.count)), .integer(Int64(readings.count - 1)))
        }
        return 1
    }

    @Test("a repair that ate its readings is found, and its undoing gives them back") func foundAndUndone() throws {
        try TestStore.with { test in
            let readings = try NeighbourRepairTests.hourly()
            try test.keep(readings)
            let before = try test.lines()
            let repairID = try Self.damage(test, readings)
            #expect(try NeighbourRepairTests.sum(test) == 10)
            let problems = try test.store.check(deep: true)
            #expect(problems.contains { $0.contains("repair 1") && $0.contains("47") }, "\(problems)")
            #expect(problems.contains { $0.contains("vitalgate repair undo 1") }, "\(problems)")
            #expect(try test.undo(repairID) == 48)
            #expect(try test.lines() == before)
            #expect(try NeighbourRepairTests.reported(test) == Set(try test.identities()))
            #expect(try test.store.check(deep: true) == [])
            // And now the repair as it should have been.
            #expect(try test.migrate(TestStore.request(.shift(NeighbourRepairTests.hour), .stepCount)).plan.repaired == 48)
            #expect(try NeighbourRepairTests.sum(test) == 480)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test("what a person deleted of it since stays deleted, and the others come back") func deletedSince() throws {
        try TestStore.with { test in
            let readings = try NeighbourRepairTests.hourly(4)
            try test.keep(readings)
            let repairID = try Self.damage(test, readings)
            _ = try test.store.samples.delete(try test.identities(), description: TestStore.description(.delete))
            #expect(try test.undo(repairID) == 3)
            #expect(try test.identities() == readings.dropLast().map(\.sample.identity))
        }
    }
}
