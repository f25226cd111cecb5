import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A record with its maker's number: a higher version replaces it, and an equal or lower one is ignored, also after deletion. This applies
/// across files, and for clients that save across devices.
@Suite struct SyncVersionTests {
    private static func maker(_ device: String?) throws -> SampleMaker {
        try SampleMaker(.bodyMass, source: "app", device: device.map { Device(key: $0) })
    }

    private static func version(_ version: Int64, _ numeral: String, device: String? = nil, at second: Double = 0) throws
        -> GatedSample
    {
        try maker(device)(numeral, at: second, record: RecordIdentifier(id: "r", version: version))
    }

    private func save(_ test: TestStore, _ batch: [GatedSample], acrossDevices: Bool = true) throws -> [SampleOutcome] {
        var description = TestStore.description(.live)
        description.replacesAcrossDevices = acrossDevices
        let ingest = try test.store.beginIngest(description)
        defer { _ = try? ingest.finish(at: 0) }
        return try ingest.store(batch)
    }

    @Test func higherVersionReplacesRecordOfOtherDevice() throws {
        try TestStore.with { test in
            #expect(try save(test, [try Self.version(1, "80", device: "a")]) == [.stored])
            #expect(try save(test, [try Self.version(3, "81", device: "b", at: 10)]) == [.stored])
            for lower in [1, 2, 3] as [Int64] {
                #expect(try save(test, [try Self.version(lower, "90", at: 20)]) == [.duplicate])
            }
            #expect(try test.samples().map(\.sample.value) == [81])
            // The replaced version refers to the other one, and is not restored next to it.
            let first = try Self.version(1, "80", device: "a").sample.identity
            guard case .deleted(_, let successor?)? = try test.store.samples.lookup(first) else {
                Issue.record("\(first) is no tombstone")
                return
            }
            #expect(SampleIdentity(successor) == (try test.identities()).first)
            #expect(throws: StoreError.self) {
                try test.store.samples.restore([first], description: TestStore.description(.restore))
            }
            // Also after deletion.
            try test.store.samples.delete(try test.identities(), description: TestStore.description(.delete))
            #expect(try save(test, [try Self.version(3, "81", at: 10)]) == [.duplicate])
            #expect(try save(test, [try Self.version(4, "82", at: 10)]) == [.stored])
            #expect(try test.samples().map(\.sample.value) == [82])
        }
    }

    /// Two devices of one source in an export are two records.
    @Test func anImportKeepsDevicesApart() throws {
        try TestStore.with { test in
            let batch = [try Self.version(1, "80", device: "a"), try Self.version(2, "81", device: "b", at: 10)]
            #expect(try test.keep(batch).outcomes[0] == [.stored, .stored])
            #expect(try test.samples().count == 2)
            // The same file again.
            #expect(try test.keep(batch).outcomes[0] == [.duplicate, .duplicate])
        }
    }

    @Test func theHighestOfABatch() throws {
        try TestStore.with { test in
            let batch = [
                try Self.version(2, "81", device: "b", at: 10), try Self.version(3, "82"), try Self.version(1, "80", device: "a"),
            ]
            #expect(try save(test, batch) == [.duplicate, .stored, .duplicate])
            #expect(try test.samples().map(\.sample.value) == [82])
        }
    }

    /// A record in parts, such as a night in stages: a later version may have fewer parts, or only one. Undoing it restores the parts.
    @Test func partsOfARecord() throws {
        try TestStore.with { test in
            func part(_ number: Int, _ version: Int64, _ numeral: String) throws -> GatedSample {
                let id = number == 0 ? "r" : RecordIdentifier.part(number, of: "r")
                return try Self.maker(nil)(numeral, at: Double(number), record: RecordIdentifier(id: id, version: version))
            }
            try test.keep([try part(0, 1, "80")])
            try test.keep([try part(2, 2, "83"), try part(0, 2, "81"), try part(1, 2, "82")])
            #expect(try test.samples().map(\.sample.value).sorted() == [81, 82, 83])
            try test.keep([try part(0, 3, "84"), try part(1, 3, "85")])
            #expect(try test.samples().map(\.sample.value).sorted() == [84, 85])
            // The same edition again, and an older one.
            #expect(try test.keep([try part(0, 3, "84"), try part(1, 3, "85"), try part(2, 2, "83")]).account.duplicate == 3)
            #expect(try test.samples().map(\.sample.value).sorted() == [84, 85])
            #expect(try test.store.check(deep: true) == [])
        }
        // The older export comes second.
        try TestStore.with { test in
            try test.keep([try Self.version(3, "84")])
            let part = try Self.maker(nil)(
                "85", at: 1, record: RecordIdentifier(id: RecordIdentifier.part(1, of: "r"), version: 2))
            #expect(try test.keep([try Self.version(2, "81"), part]).outcomes == [[.duplicate, .duplicate]])
        }
    }

    private static func day(_ numeral: String, isSentAgain: Bool) throws -> GatedSample {
        try maker(nil)(numeral, at: 0, record: .open("day", number: 0, isSentAgain: isSentAgain))
    }

    private static let others = "7f9c0000-0000-4000-8000-000000000001"

    private static func assigned(_ test: TestStore, _ version: Int64, _ numeral: String) throws {
        let sample = try SampleMaker(.bodyMass, source: "app", person: others)(
            numeral, at: 0, record: RecordIdentifier(id: "r", version: version))
        try test.keep([sample])
        _ = try test.store.people.assign([sample.sample.identity], to: TestStore.person, now: TestStore.later)
    }

    /// The version that was reported for the person itself counts, and comes forward again.
    @Test func equalVersionThatIsAssigned() throws {
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80")])
            try Self.assigned(test, 1, "81")
            #expect(try test.samples().map(\.sample.value) == [80])
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.store.repairs.undo(1, at: TestStore.later).count == 1)
            #expect(try test.samples().map(\.sample.value).sorted() == [80, 81])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A deletion of a version is one of the lower versions, also when the import of the deleted version is forgotten.
    @Test func lowerVersionOfForgottenDeletion() throws {
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80"), try Self.version(1, "70", device: "b")])
            let higher = try test.keep([try Self.version(2, "81", at: 10)]).account.id
            let lower = try Self.version(1, "80").sample.identity
            let deleted = try Self.version(2, "81", at: 10).sample.identity
            try test.store.samples.delete([deleted], description: TestStore.description(.delete))
            try test.store.ledger.undo(higher, forget: true, description: TestStore.description(.undo))
            #expect(try test.samples().map(\.sample.value) == [70])
            #expect(try test.store.check(deep: true) == [])
            try test.store.samples.restore([lower], description: TestStore.description(.restore))
            #expect(try test.samples().map(\.sample.value).sorted() == [70, 80])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The person's own report of a reading was joined with one that was assigned to them. The first person's source then replaces and deletes
    /// its own record, which does not concern the report.
    @Test(arguments: [true, false]) func ownReportOutlivesAnothersVersions(isOwnFirst: Bool) throws {
        try TestStore.with { test in
            let theirs = try SampleMaker(.bodyMass, source: "app", person: Self.others)
            func version(_ number: Int64, _ numeral: String) throws -> GatedSample {
                try theirs(numeral, at: 0, record: RecordIdentifier(id: "r", version: number))
            }
            let (own, first) = (try Self.version(1, "80"), try version(1, "80"))
            for sample in isOwnFirst ? [own, first] : [first, own] { try test.keep([sample]) }
            _ = try test.store.people.assign([first.sample.identity], to: TestStore.person, now: TestStore.later)
            #expect(try test.samples().map(\.sample.value) == [80])
            let third = try version(3, "99")
            try test.keep([third])
            func values(of person: String) throws -> [Double] {
                try test.samples().filter { $0.sample.origin.person == person }.map(\.sample.value)
            }
            #expect(try values(of: TestStore.person) == [80] && values(of: Self.others) == [99])
            #expect(try test.store.check(deep: true) == [])
            try test.store.samples.delete([third.sample.identity], description: TestStore.description(.delete))
            #expect(try values(of: TestStore.person) == [80] && values(of: Self.others).isEmpty)
            #expect(try test.store.check(deep: true) == [])
            #expect(try test.store.repairs.undo(1, at: TestStore.later).count == 0)
            #expect(try values(of: TestStore.person) == [80] && values(of: Self.others).isEmpty)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// `store check --deep` compares versions of other devices, and those that an assignment moved.
    @Test func checksVersionsOfOtherSeries() throws {
        func expectProblem(_ test: TestStore) throws {
            #expect(try test.store.check(deep: true) == [])
            test.isSound = false
            try test.store.connection.run("UPDATE record SET version = 9 WHERE version = 1", [])
            #expect(try test.store.check(deep: true).contains { $0.contains("contradicts") })
        }
        try TestStore.with { test in
            _ = try save(test, [try Self.version(1, "80", device: "a"), try Self.version(2, "81", device: "b")])
            try expectProblem(test)
        }
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80")])
            try Self.assigned(test, 2, "81")
            try expectProblem(test)
        }
    }

    /// An hour of a phone is corrected, and the phone sends more of it later. The correction does not count beside the new value.
    @Test func laterValueOfACorrectedRecord() throws {
        try TestStore.with { test in
            func send(_ numeral: String) throws -> Int64 {
                try test.keep([try Self.day(numeral, isSentAgain: true)]).account.id
            }
            _ = try send("420")
            try Self.correct(test, "400", at: 1)
            try Self.correct(test, "410", at: 2)
            // The old value again changes nothing.
            _ = try send("420")
            #expect(try test.samples().map(\.sample.value) == [410])
            let later = try send("520")
            #expect(try test.samples().map(\.sample.value) == [520])
            #expect(try test.store.check(deep: true) == [])
            try test.store.ledger.undo(later, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().map(\.sample.value) == [410])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    private static func correct(_ test: TestStore, _ numeral: String, at seconds: Int64) throws {
        let correction = Correction(amounts: [
            Correction.Amount(numeral: try Numeral(numeral), unit: SampleType.bodyMass.canonicalUnit)
        ])
        _ = try test.store.samples.correct(
            try test.identities(), with: correction, received: Instant(seconds: 1_795_000_000 + seconds))
    }

    /// A corrected reading and its correction count once, whichever is restored.
    @Test func restoringACorrectedReading() throws {
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80")])
            let old = try test.identities()
            try Self.correct(test, "82", at: 1)
            try Self.correct(test, "83", at: 2)
            let new = try test.identities()
            try test.store.samples.restore(old, description: TestStore.description(.restore))
            #expect(try test.samples().map(\.sample.value) == [80])
            try test.store.samples.restore(new, description: TestStore.description(.restore))
            #expect(try test.samples().map(\.sample.value) == [83])
            // The source knows more now. Its value counts until the correction is restored.
            try test.keep([try Self.version(2, "84")])
            #expect(try test.samples().map(\.sample.value) == [84])
            try test.store.samples.restore(new, description: TestStore.description(.restore))
            #expect(try test.samples().map(\.sample.value) == [83])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func undoingTheDeletionOfACorrection() throws {
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80")])
            try Self.correct(test, "82", at: 1)
            let entries = try test.store.ledger.accounts().filter { $0.name == "correction" }
            let deletion = try #require(entries.first { $0.kind == .delete })
            let new = try #require(entries.first { $0.kind == .import })
            func undo(_ entry: IngestAccount) throws {
                try test.store.ledger.undo(entry.id, forget: false, description: TestStore.description(.undo))
            }
            let refusal = #expect(throws: StoreError.self) { try undo(deletion) }
            #expect(refusal?.message.contains("a part of a correction") == true)
            #expect(try test.samples().map(\.sample.value) == [82])
            try undo(new)
            try undo(deletion)
            #expect(try test.samples().map(\.sample.value) == [80])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A source that sends a corrected value in a higher version knows no more than before.
    @Test func higherVersionOfACorrectedValue() throws {
        try TestStore.with { test in
            try test.keep([try Self.version(1, "80")])
            try Self.correct(test, "82", at: 1)
            #expect(try test.keep([try Self.version(2, "80")]).outcomes == [[.duplicate]])
            let corrected = try #require(try test.identities().first)
            #expect(try test.samples().map(\.sample.value) == [82])
            #expect(try test.store.check(deep: true) == [])
            try test.store.samples.undoCorrection(corrected, received: Instant(seconds: 1_795_000_002))
            #expect(try test.samples().map(\.sample.value) == [80])
            try Self.correct(test, "82", at: 3)
            #expect(try test.keep([try Self.version(3, "81")]).outcomes == [[.stored]])
            #expect(try test.samples().map(\.sample.value) == [81])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A restoration concerns the record of one person.
    @Test func restoresOnlyThePersonsRecord() throws {
        try TestStore.with { test in
            try Self.assigned(test, 2, "80")
            try test.keep([try Self.version(5, "85")])
            let later = try SampleMaker(.bodyMass, source: "app", person: Self.others)(
                "83", at: 0, record: RecordIdentifier(id: "r", version: 3))
            try test.keep([later])
            #expect(try test.samples().map(\.sample.value).sorted() == [83, 85])
            let own = try Self.version(5, "85")
            try test.delete(own)
            try test.delete(later)
            try test.restore(own)
            #expect(try test.samples().map(\.sample.value) == [85])
        }
    }

    /// A phone that was offline sends an old sum late, and then the whole day again.
    @Test(arguments: [true, false]) func valueThatIsSentAgain(isSentAgain: Bool) throws {
        try TestStore.with { test in
            func send(_ numerals: String...) throws -> Int64 {
                try test.keep(numerals.map { try Self.day($0, isSentAgain: isSentAgain) }).account.id
            }
            func expect(_ value: Double, _ comment: Comment) throws {
                #expect(try test.samples().map(\.sample.value) == [value], comment)
                #expect(try test.store.check(deep: true) == [], comment)
            }
            _ = try send("8342")
            let late = try send("5000")
            try expect(5000, "the later value wins")
            let again = try send("8342")
            // Otherwise an old file was read again.
            try expect(isSentAgain ? 8342 : 5000, "the first value again")
            let entries = try test.store.lastChange()
            _ = try send("8342")
            try expect(isSentAgain ? 8342 : 5000, "the latest value again")
            if isSentAgain { #expect(try test.store.lastChange() == entries) }
            guard isSentAgain else { return }
            let sample = try #require(try test.samples().first).sample
            #expect(try test.store.samples.record(of: sample)?.version == 3)
            let undoing = try test.store.ledger.undo(again, forget: false, description: TestStore.description(.undo)).ingest
            try expect(5000, "the last import is undone")
            #expect(try test.store.samples.record(of: sample)?.version == 1)
            _ = try test.store.ledger.undo(undoing, forget: false, description: TestStore.description(.undo))
            try expect(8342, "the undo is undone")
            _ = try test.store.ledger.undo(late, forget: true, description: TestStore.description(.undo))
            try expect(8342, "the late value is forgotten")
            _ = try send("5000", "8342")
            try expect(8342, "both in one file")
            _ = try send("8342", "5000")
            try expect(5000, "both in one file, the other last")
            _ = try send("6000")
            _ = try send("5000")
            _ = try send("8342")
            try expect(8342, "several times")
            // Its own export has the version of the store, which is the highest.
            let exported = try #require(try test.samples().first.map { try test.store.samples.record(of: $0.sample) } ?? nil)
            let versions = try test.store.connection.list("SELECT version FROM record") { $0.integer(0) }
            #expect(exported.version == versions.max())
            _ = try send("5000")
            _ = try test.keep([try Self.maker(nil)("8342", at: 0, record: exported)])
            try expect(5000, "an old export is read again")
        }
    }

    @Test(arguments: [true, false]) func valueThatAFileHasTwice(isSentAgain: Bool) throws {
        for numerals in [["8342", "8342"], ["8342", "5000", "8342"], ["5000", "8342", "8342"]] {
            try TestStore.with { test in
                let batch = try numerals.map { try Self.day($0, isSentAgain: isSentAgain) }
                #expect(try test.keep(batch).account.stored == 1)
                #expect(try test.keep(batch).account.stored == 0)
                #expect(try test.samples().map(\.sample.value) == [8342])
            }
        }
    }

    /// A sum until 10:00 arrives after the one until 11:00, twice with different values.
    @Test(arguments: [true, false]) func lateValueOfAnEarlierEnd(isSentAgain: Bool) throws {
        try TestStore.with { test in
            for (numeral, number) in [("100", 10), ("150", 11), ("90", 10)] as [(String, Int64)] {
                let record = RecordIdentifier.open("steps", number: number, isSentAgain: isSentAgain)
                let outcome = try test.keep([try Self.maker(nil)(numeral, at: 0, record: record)]).outcomes
                #expect(outcome != [[.quarantined]])
            }
            #expect(try test.samples().map(\.sample.value) == [150])
        }
    }

    @Test func keysOfMetadata() throws {
        let both = Metadata([
            ("syncIdentifier", .string("r")), ("HKMetadataKeySyncVersion", .number(Numeral(coefficient: 4))),
            ("wasUserEntered", .boolean(true)),
        ])
        let (record, rest) = try RecordIdentifier.taken(from: both)
        #expect(record == RecordIdentifier(id: "r", version: 4))
        #expect(rest == Metadata([("wasUserEntered", .boolean(true))]))
        #expect(try RecordIdentifier.taken(from: rest).record == nil)
        for lone in [
            Metadata([("syncIdentifier", .string("r"))]), Metadata([("syncVersion", .number(Numeral(coefficient: 4)))]),
            Metadata([("syncIdentifier", .string("")), ("syncVersion", .number(Numeral(coefficient: 4)))]),
            Metadata([("syncIdentifier", .string("r")), ("syncVersion", .number(Numeral(coefficient: 45, exponent: -1)))]),
        ] {
            #expect(throws: UnpairedSyncKey.self) { try RecordIdentifier.taken(from: lone) }
        }
    }
}
