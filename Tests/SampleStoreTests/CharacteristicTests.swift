import HealthModel
import PipelineTesting
import Testing

@testable import SampleStore

/// A person's characteristics: which value counts, from which day on, and what an undo restores.
@Suite struct CharacteristicTests {
    private static func time(_ day: String) throws -> Instant { try Instant("\(day)T12:00:00+00:00") }

    private static func value(_ type: CharacteristicType, _ text: String) throws -> Characteristic {
        try #require(Characteristic(type, text))
    }

    /// Imports the values of an export from that day.
    @discardableResult
    private static func take(
        _ reported: [Characteristic], exported: String?, in test: TestStore, today: String = "2026-11-24"
    ) throws -> (ingest: Int64, set: [CharacteristicType], retained: [CharacteristicType]) {
        let ingest = try test.store.beginIngest(TestStore.description())
        let taken = try test.store.people.take(
            reported, of: TestStore.person, date: exported, recorded: try exported.map(time), today: today, ingest: ingest.id)
        _ = try ingest.finish(at: TestStore.received.microseconds)
        return (ingest.id, taken.set, taken.retained)
    }

    private static func now(_ type: CharacteristicType, in test: TestStore, on day: String = "2026-11-24") throws -> String? {
        try test.store.people.characteristics(of: TestStore.person).value(of: type, on: day)?.value
    }

    @Test func laterValueReplacesEarlier() throws {
        try TestStore.with { test in
            let (yes, no) = (try Self.value(.wheelchairUse, "yes"), try Self.value(.wheelchairUse, "no"))
            try test.store.people.set(
                .wheelchairUse, to: yes, of: TestStore.person, from: "2026-11-10", recorded: Self.time("2026-11-10"))
            #expect(try Self.now(.wheelchairUse, in: test) == "yes")
            #expect(try Self.now(.wheelchairUse, in: test, on: "2026-11-09") == nil)
            // An earlier export applies to earlier days.
            let old = try Self.take([no], exported: "2026-10-01", in: test)
            #expect(old.set.isEmpty && old.retained == [.wheelchairUse])
            #expect(try Self.now(.wheelchairUse, in: test) == "yes")
            #expect(try Self.now(.wheelchairUse, in: test, on: "2026-11-09") == "no")
            // An export without a date overrides nothing.
            let undated = try Self.take([no], exported: nil, in: test)
            #expect(undated.retained == [.wheelchairUse])
            #expect(try Self.now(.wheelchairUse, in: test, on: "2026-09-01") == "no")
            // One of after counts.
            let new = try Self.take([no], exported: "2026-11-20", in: test)
            #expect(new.set == [.wheelchairUse] && new.retained.isEmpty)
            #expect(try Self.now(.wheelchairUse, in: test) == "no")
            #expect(try Self.now(.wheelchairUse, in: test, on: "2026-11-15") == "yes")
            // So does a person's word, from any day on.
            try test.store.people.set(
                .wheelchairUse, to: yes, of: TestStore.person, from: "2026-01-01", recorded: Self.time("2026-11-22"))
            #expect(try Self.now(.wheelchairUse, in: test) == "yes")
            #expect(try Self.now(.wheelchairUse, in: test, on: "2025-12-31") == "no")
            try test.store.people.set(
                .wheelchairUse, to: nil, of: TestStore.person, from: "2026-11-23", recorded: Self.time("2026-11-23"))
            #expect(try Self.now(.wheelchairUse, in: test) == nil)
            #expect(try Self.now(.wheelchairUse, in: test, on: "2026-11-22") == "yes")
            try test.reopen()
            #expect(try test.store.people.characteristics(of: TestStore.person).entries.count == 6)
        }
    }

    @Test func exportWithoutValueChangesNothing() throws {
        try TestStore.with { test in
            let blood = try Self.value(.bloodType, "aPositive")
            try Self.take([blood, try Self.value(.biologicalSex, "female")], exported: "2026-11-01", in: test)
            let taken = try Self.take([try Self.value(.bloodType, "notSet")], exported: "2026-11-02", in: test)
            #expect(taken.set.isEmpty && taken.retained.isEmpty)
            #expect(try Self.now(.bloodType, in: test) == "aPositive")
            // The same export again is nothing new.
            let again = try Self.take([blood], exported: "2026-11-01", in: test)
            #expect(try !test.store.people.hasCharacteristics(ingestedBy: again.ingest))
            #expect(try test.store.people.peopleWithCharacteristics() == [TestStore.person])
        }
    }

    @Test func undoingAnImport() throws {
        try TestStore.with { test in
            func undo(_ ingest: Int64, forget: Bool = false) throws -> Int64 {
                try test.store.ledger.undo(ingest, forget: forget, description: TestStore.description(.undo)).ingest
            }
            let (a, b) = (try Self.value(.bloodType, "aPositive"), try Self.value(.bloodType, "bNegative"))
            try Self.take([a], exported: "2026-11-01", in: test)
            let second = try Self.take([b], exported: "2026-11-02", in: test).ingest
            #expect(try Self.now(.bloodType, in: test) == "bNegative")
            let undone = try undo(second)
            #expect(undone > 0)
            #expect(try Self.now(.bloodType, in: test) == "aPositive")
            // Undone values stay undone, like samples.
            try Self.take([b], exported: "2026-11-02", in: test)
            #expect(try Self.now(.bloodType, in: test) == "aPositive")
            let redone = try undo(undone)
            #expect(try Self.now(.bloodType, in: test) == "bNegative")
            _ = try undo(redone)
            #expect(try Self.now(.bloodType, in: test) == "aPositive")
            _ = try undo(second, forget: true)
            try Self.take([b], exported: "2026-11-02", in: test)
            #expect(try Self.now(.bloodType, in: test) == "bNegative")
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func refusesCharacteristicsOfUnassigned() throws {
        try TestStore.with { test in
            let blood = try Self.value(.bloodType, "oNegative")
            let error = thrown(StoreError.self) {
                try test.store.people.set(
                    .bloodType, to: blood, of: Origin.unassigned, from: "2026-11-01", recorded: TestStore.received)
            }
            #expect(error?.kind == .invalid)
            #expect(
                thrown(StoreError.self) {
                    try test.store.people.set(
                        .bloodType, to: blood, of: TestStore.person, from: "2026-02-30", recorded: TestStore.received)
                }?.kind == .invalid)
            #expect(
                thrown(StoreError.self) {
                    try test.store.people.set(
                        .biologicalSex, to: blood, of: TestStore.person, from: "2026-02-01", recorded: TestStore.received)
                }?.kind == .invalid)
            #expect(try test.store.people.peopleWithCharacteristics().isEmpty)
        }
    }

    /// The check finds rows that no version wrote, and its message contains no value.
    @Test func theCheckKnowsTheTable() throws {
        let test = try TestStore()
        test.isSound = false
        try test.execute(
            """
            INSERT INTO characteristic(subject, type, value, holds_from, said) VALUES('x', 'bloodType', 'cPositive', '2026-01-01', 1);
            INSERT INTO characteristic(subject, type, value, holds_from, said) VALUES('x', 'shoeSize', '43', '2026-01-01', 1);
            INSERT INTO characteristic(subject, type, value) VALUES('x', 'bloodType', 'aPositive');
            INSERT INTO characteristic(subject, type, value, ingest) VALUES('x', 'bloodType', 'aPositive', 77);
            """)
        let problems = try test.store.check()
        #expect(problems.count == 3)
        #expect(!problems.joined().contains("ositive") && !problems.joined().contains("43"))
        #expect(thrown(StoreError.self) { _ = try test.store.people.characteristics(of: "x") } != nil)
    }

    /// Any sequence of settings, imports and undos gives the result of a simple list of them.
    @Test(arguments: 0..<30) func anySequence(seed: Int) throws {
        struct Word {
            var from: String
            var recorded: Int
            var value: String?
            var ingest: Int64?
            var number: Int
        }
        var random = SeededGenerator(seed: UInt64(seed))
        let values = ["aPositive", "bNegative", "oPositive"]
        func day(_ number: Int) -> String { "2026-11-\(10 + number)" }
        try TestStore.with { test in
            var words: [Word] = []
            var undone: Set<Int64> = []
            var latestUndo: [Int64: Int64] = [:]
            for step in 0..<40 {
                let recorded = Int.random(in: 0..<6, using: &random)
                let value = values[Int.random(in: 0..<3, using: &random)]
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    let from = Int.random(in: 0..<8, using: &random)
                    let isCleared = Int.random(in: 0..<4, using: &random) == 0
                    try test.store.people.set(
                        .bloodType, to: isCleared ? nil : Self.value(.bloodType, value), of: TestStore.person, from: day(from),
                        recorded: Self.time(day(recorded)))
                    words.append(Word(from: day(from), recorded: recorded, value: isCleared ? nil : value, number: step))
                case 1, 2:
                    let known = words.contains { $0.ingest != nil && $0.recorded == recorded && $0.value == value }
                    let ingest = try Self.take([Self.value(.bloodType, value)], exported: day(recorded), in: test).ingest
                    if !known {
                        words.append(Word(from: day(recorded), recorded: recorded, value: value, ingest: ingest, number: step))
                    }
                case 3:
                    guard let ingest = words.compactMap(\.ingest).randomElement(using: &random), !undone.contains(ingest) else {
                        break
                    }
                    let description = TestStore.description(.undo)
                    latestUndo[ingest] = try test.store.ledger.undo(ingest, forget: false, description: description).ingest
                    undone.insert(ingest)
                default:
                    guard let ingest = undone.sorted().randomElement(using: &random) else { break }
                    if Bool.random(using: &random) {
                        try test.store.ledger.undo(ingest, forget: true, description: TestStore.description(.undo))
                        words.removeAll { $0.ingest == ingest }
                    } else {
                        let undo = try #require(latestUndo[ingest])
                        try test.store.ledger.undo(undo, forget: false, description: TestStore.description(.undo))
                    }
                    undone.remove(ingest)
                }
                for number in 0..<8 {
                    let counting = words.filter { !undone.contains($0.ingest ?? -1) && $0.from <= day(number) }
                    let last = counting.max { ($0.recorded, $0.number) < ($1.recorded, $1.number) }
                    #expect(try Self.now(.bloodType, in: test, on: day(number)) == last?.value, "step \(step), day \(number)")
                }
            }
        }
    }
}
