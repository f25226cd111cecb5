import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct RemovalTests {
    // MARK: deleted stays deleted

    @Test func deletedStaysDeleted() throws {
        for skew in [0, 2] {
            try TestStore.with { test in
                let maker = try SampleMaker().local(skew)
                let sample = try maker("72", at: 0)
                try test.keep([sample, try maker("73", at: 1)])
                try test.delete(sample)
                #expect(try test.samples().count == 1)
                #expect(try test.keep([sample]).outcomes == [[.duplicate]])
                try test.reopen()
                #expect(try test.keep([sample]).outcomes == [[.duplicate]])
                // Under another zone it meets its tombstone as well.
                #expect(try test.keep([try maker.local(-7)("72", at: 0)]).outcomes == [[.duplicate]] || skew == 0)
                guard case .deleted(let found, let replacedBy) = try test.store.samples.lookup(sample.sample.identity) else {
                    Issue.record("no tombstone")
                    return
                }
                #expect(TestStore.line(found.sample) == TestStore.line(sample.sample))
                #expect(replacedBy == nil)
            }
        }
    }

    /// An import read without a zone and one read with it meet each other's tombstones.
    @Test func tombstonesUnderAnotherZone() throws {
        for (first, second) in [(0, 3), (3, 0), (3, -4)] {
            try TestStore.with { test in
                let maker = try SampleMaker()
                let sample = try maker.local(first)("72", at: 0)
                try test.keep([sample])
                try test.delete(sample)
                #expect(
                    try test.keep([try maker.local(second)("72", at: 0)]).outcomes == [[.duplicate]], "\(first) then \(second)")
            }
        }
    }

    /// Restored long after: the very same line, the time of receipt with it.
    @Test func restoreGivesTheSameLine() throws {
        try TestStore.with { test in
            var late = try SampleMaker(source: "late")
            late.received = Instant(seconds: 1_700_000_000)
            var receipt = try SampleMaker(source: "receipt")
            receipt.timeOrigin = .receipt
            let samples = [
                try SampleMaker().local(5)("98.60", at: 0, lasting: 3, group: 7, metadata: Metadata([("a", .boolean(true))])),
                try late("+5", at: 1),
                try receipt("60", at: 0), try SampleMaker()("61", at: 9),
            ]
            try test.keep(samples)
            let lines = try test.lines()
            for round in 1...2 {
                try test.store.samples.delete(samples.map(\.sample.identity), description: TestStore.description(.delete))
                #expect(try test.samples().isEmpty)
                let later = Instant(seconds: 1_900_000_000 + Int64(round))
                try test.store.samples.restore(
                    samples.map(\.sample.identity), description: TestStore.description(.restore, received: later))
                #expect(try test.lines() == lines)
            }
            #expect(try test.keep(samples).account.duplicate == 4)
            for sample in samples {
                guard case .live = try test.store.samples.lookup(sample.sample.identity) else {
                    Issue.record("\(sample.sample.identity) is not found")
                    continue
                }
            }
        }
    }

    @Test func refusesInvalidDeletionsAndRestorations() throws {
        try TestStore.with { test in
            let one = try SampleMaker()("72", at: 0)
            let other = try SampleMaker()("73", at: 1)
            try test.keep([one, other])
            #expect(throws: StoreError.self) { try test.restore(one) }
            // All or nothing.
            let unknown = try SampleMaker()("74", at: 2)
            let error = thrown(StoreError.self) { _ = try test.delete(one, unknown) }
            #expect(error?.kind == .invalid)
            #expect(try test.samples().count == 2)
            try test.delete(one)
            #expect(throws: StoreError.self) { try test.delete(one) }
            #expect(throws: StoreError.self) { try test.restore(one, other) }
            #expect(try test.samples().count == 1)
            try test.restore(one)
            let again = thrown(StoreError.self) { _ = try test.restore(one) }
            #expect(again?.kind == .invalid)
            #expect(try test.store.samples.lookup(unknown.sample.identity) == nil)
            // What failed left nothing in the ledger.
            #expect(try test.store.ledger.accounts().map(\.kind) == [.import, .delete, .restore])
        }
    }

    @Test func deleteByQuery() throws {
        try TestStore.with { test in
            let makers = [try SampleMaker(), try SampleMaker(source: "b"), try SampleMaker(.bodyMass)]
            try test.keep(try (0..<90).map { try makers[$0 % 3]("\($0)", at: Double($0)) })
            let (_, count) = try test.store.samples.delete(
                matching: SampleQuery(types: [.heartRate], where: try SamplePredicate("value < 30")),
                description: TestStore.description(.delete))
            #expect(count == 20)
            #expect(try test.samples().count == 70)
            #expect(
                try test.store.samples.delete(matching: SampleQuery(), description: TestStore.description(.delete)).count == 70)
        }
    }

    // MARK: undo

    @Test func undoAnImport() throws {
        try TestStore.with { test in
            let maker = try SampleMaker().local(2)
            let first = try maker("70", at: 0)
            let batch = try (1..<20).map { try maker("72", at: Double($0)) }
            try test.keep([first])
            let ingest = try test.keep([first] + batch).account.id
            let (undo, count) = try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo))
            #expect(count == 19)
            #expect(try test.identities() == [first.sample.identity])
            #expect(try test.store.ledger.account(of: ingest)?.state == "undone")
            #expect(try test.keep(batch).account.duplicate == 19)
            // To undo the undoing gives all back.
            let lines = Set(batch.map { TestStore.line($0.sample) }).union([TestStore.line(first.sample)])
            #expect(try test.store.ledger.undo(undo, forget: false, description: TestStore.description(.undo)).count == 19)
            #expect(try test.lines() == lines)
            #expect(throws: StoreError.self) {
                try test.store.ledger.undo(99, forget: false, description: TestStore.description(.undo))
            }
        }
    }

    @Test func undoAndForget() throws {
        for skew in [0, 2] {
            try TestStore.with { test in
                let maker = try SampleMaker().local(skew)
                let batch = try (0..<20).map { try maker("72", at: Double($0)) }
                let ingest = try test.keep(batch).account.id
                let undo = try test.store.ledger.undo(ingest, forget: true, description: TestStore.description(.undo)).ingest
                #expect(try test.samples().isEmpty)
                // Read again in the right zone.
                let right = try (0..<20).map { try maker.local(1)("72", at: Double($0)) }
                #expect(try test.keep(right).account.stored == 20)
                #expect(try test.lines() == Set(right.map { TestStore.line($0.sample) }))
                // A forgotten import cannot be restored.
                #expect(try test.store.ledger.undo(undo, forget: false, description: TestStore.description(.undo)).count == 0)
                // And deleted once more.
                try test.store.samples.delete(right.map(\.sample.identity), description: TestStore.description(.delete))
                #expect(try test.keep(right).account.duplicate == 20)
                #expect(try test.store.check() == [])
            }
        }
    }

    /// The very same readings, forgotten, imported, deleted, restored: one place is used again and again.
    @Test func forgottenAndBackAgain() throws {
        for skew in [0, 2] {
            try TestStore.with { test in
                let sample = try SampleMaker().local(skew)("72", at: 0)
                for _ in 0..<3 {
                    let ingest = try test.keep([sample]).account.id
                    #expect(try test.samples().count == 1)
                    try test.store.ledger.undo(ingest, forget: true, description: TestStore.description(.undo))
                    let forgotten = thrown(StoreError.self) { _ = try test.restore(sample) }
                    #expect(forgotten?.kind == .invalid)
                    #expect(try test.store.samples.lookup(sample.sample.identity) == nil)
                }
                try test.keep([sample])
                #expect(try test.store.check() == [])
                try test.delete(sample)
                #expect(try test.store.check() == [])
                try test.restore(sample)
                #expect(try test.keep([sample]).outcomes == [[.duplicate]])
                #expect(try test.lines() == [TestStore.line(sample.sample)])
            }
        }
    }

    @Test func undoADeletion() throws {
        try TestStore.with { test in
            let one = try SampleMaker().local(1)("72", at: 0)
            let other = try SampleMaker()("73", at: 1)
            let ingest = try test.keep([one, other]).account.id
            let deletion = try test.delete(one)
            // Undoing the import does not affect samples that a user has deleted since.
            let taken = try test.store.ledger.undo(ingest, forget: false, description: TestStore.description(.undo)).ingest
            #expect(try test.samples().isEmpty)
            // No import reports it any more, whether it is deleted or not.
            #expect(try test.store.ledger.undo(deletion, forget: false, description: TestStore.description(.undo)).count == 0)
            #expect(try test.samples().isEmpty)
            let restored = try test.restore(other)
            #expect(try test.lines() == [TestStore.line(other.sample)])
            #expect(try test.store.ledger.undo(restored, forget: false, description: TestStore.description(.undo)).count == 1)
            #expect(try test.samples().isEmpty)
            #expect(try test.store.ledger.undo(taken, forget: false, description: TestStore.description(.undo)).count == 2)
            #expect(try test.lines() == [TestStore.line(one.sample), TestStore.line(other.sample)])
        }
    }

    // MARK: records

    private static func record(
        _ value: String, _ version: Int64, at seconds: Double = 0, id: String = "r", rule: GateRule? = nil
    ) throws -> GatedSample {
        try SampleMaker()(value, at: seconds, record: RecordIdentifier(id: id, version: version), rule: rule)
    }

    @Test func higherVersionsReplace() throws {
        try TestStore.with { test in
            let versions = try [Self.record("70", 1), Self.record("71", 2), Self.record("72", 3)]
            #expect(try test.keep([versions[0]]).outcomes == [[.stored]])
            #expect(try test.keep([versions[1]]).outcomes == [[.stored]])
            #expect(try test.keep([versions[0], versions[1]]).outcomes == [[.duplicate, .duplicate]])
            // The same version with another value contradicts the stored one.
            #expect(try test.keep([try Self.record("99", 2, at: 5)]).outcomes == [[.quarantined]])
            #expect(try test.store.quarantine.all().map(\.rule) == [GateRule.versionConflict.name])
            #expect(try test.identities() == [versions[1].sample.identity])
            try test.delete(versions[1])
            // Equal and lower versions are ignored after deletion too. A higher one is new.
            #expect(try test.keep(versions).outcomes == [[.duplicate, .duplicate, .stored]])
            guard case .deleted(_, let replacedBy) = try test.store.samples.lookup(versions[0].sample.identity) else {
                Issue.record("no tombstone")
                return
            }
            #expect(replacedBy == versions[1].sample.identity.description)
        }
    }

    @Test func versionsWithinOneBatch() throws {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1], [2, 1, 3], [3, 3, 1]] as [[Int64]] {
            for start in [0, 1] as [Int64] {
                try TestStore.with { test in
                    if start > 0 { try test.keep([try Self.record("60", 0)]) }
                    // The time may change with the version, in either direction.
                    let batch = try order.map { try Self.record("\(60 + $0)", $0, at: Double($0) * (start > 0 ? 1 : -1)) }
                    let outcomes = try test.keep(batch).outcomes[0]
                    #expect(outcomes.count { $0 == .stored } == 1)
                    #expect(zip(order, outcomes).allSatisfy { $1 != .stored || $0 == 3 })
                    #expect(try test.samples().map(\.sample.value) == [63])
                    #expect(try test.store.changedUUIDs() == Set([batch[order.firstIndex(of: 3) ?? 0].sample.identity]))
                }
            }
        }
    }

    /// One version twice in one batch at two times, and versions of other records and series in the same batch.
    @Test func recordsAreTheirSeries() throws {
        try TestStore.with { test in
            let other = try SampleMaker(source: "other")("80", at: 0, record: RecordIdentifier(id: "r", version: 1))
            let batch = [try Self.record("70", 1), try Self.record("70", 1, at: 9), other, try Self.record("71", 1, id: "s")]
            #expect(try test.keep(batch).outcomes == [[.stored, .quarantined, .stored, .stored]])
        }
    }

    /// Undoing the import of a version restores the one before, and later versions of the record are accepted.
    @Test func undoAVersion() throws {
        for forget in [false, true] {
            try TestStore.with { test in
                let versions = try (1...3).map { try Self.record("\(70 + $0)", $0) }
                try test.keep([versions[0]])
                let ingest = try test.keep([versions[1]]).account.id
                try test.store.ledger.undo(ingest, forget: forget, description: TestStore.description(.undo))
                #expect(try test.identities() == [versions[0].sample.identity])
                #expect(try test.keep([versions[0]]).outcomes == [[.duplicate]])
                #expect(try test.keep([versions[1]]).outcomes == [[forget ? .stored : .duplicate]])
                try test.keep([versions[2]])
                // Never two versions of one record at once.
                #expect(try test.identities() == [versions[2].sample.identity])
            }
        }
    }

    /// A replaced version was not deleted by a user: it returns only instead of its successor.
    @Test func doesNotRestoreReplacedVersionWithSuccessor() throws {
        try TestStore.with { test in
            let versions = try (1...2).map { try Self.record("\(70 + $0)", $0) }
            try test.keep([versions[0]])
            try test.keep([versions[1]])
            let error = thrown(StoreError.self) { _ = try test.restore(versions[0]) }
            #expect(error?.kind == .invalid)
            #expect(try test.identities() == [versions[1].sample.identity])
        }
    }

    /// A quarantined version replaces nothing until a user accepts it.
    @Test func quarantinedVersionReplacesNothing() throws {
        try TestStore.with { test in
            let first = try Self.record("70", 1)
            try test.keep([first])
            #expect(try test.keep([try Self.record("7000", 2, rule: .impossible)]).outcomes == [[.quarantined]])
            #expect(try test.identities() == [first.sample.identity])
        }
    }
}

extension SampleStore {
    /// The samples that a reader of the whole change log ends with.
    func changedUUIDs() throws -> Set<SampleIdentity> {
        var live: Set<SampleIdentity> = []
        try changes.read(after: 0, types: nil) { change in
            switch change {
            case .added(let stored): live.insert(stored.uuid)
            case .deleted(let deletion): live.remove(deletion.uuid)
            }
        }
        return live
    }
}
