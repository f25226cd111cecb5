import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

@Suite struct QuarantineTests {
    @Test func quarantined() throws {
        for skew in [0, 3] {
            try TestStore.with { test in
                let maker = try SampleMaker().local(skew)
                let bad = try maker(
                    "9.990e2", at: 0, lasting: 1, group: 5, metadata: Metadata([("a", .boolean(true))]), rule: .impossible)
                let worse = try maker("1000", at: 1, rule: .impossible)
                #expect(try test.keep([bad, worse, bad]).outcomes == [[.quarantined, .quarantined, .duplicate]])
                #expect(try test.samples().isEmpty)
                let quarantined = try test.store.quarantine.all()
                #expect(quarantined.map { TestStore.line($0.stored.sample) } == [bad, worse].map { TestStore.line($0.sample) })
                #expect(quarantined.map(\.rule) == ["impossible-value", "impossible-value"])
                #expect(quarantined.map(\.place) == ["line 1", "line 1"])
                #expect(quarantined.map(\.stored.ingest) == [1, 1])
                // The same readings again, under this zone and another.
                #expect(try test.keep([bad]).outcomes == [[.duplicate]])
                #expect(try test.keep([try maker.local(-2)("1000", at: 1, rule: .impossible)]).outcomes == [[.duplicate]])

                let later = Instant(seconds: 1_900_000_000)
                try test.store.quarantine.accept(
                    [quarantined[0].id], description: TestStore.description(.accept, received: later))
                try test.store.quarantine.reject(
                    [quarantined[1].id], description: TestStore.description(.reject, received: later))
                var accepted = bad.sample
                accepted.metadata = Metadata([("a", .boolean(true)), ("acceptedAgainst", .string("impossible-value"))])
                #expect(try test.lines() == [TestStore.line(accepted)])
                #expect(try test.keep([bad, worse]).outcomes == [[.duplicate, .duplicate]])
                #expect(try test.store.quarantine.all().isEmpty)
                #expect(try test.store.quarantine.all(state: "accepted").map(\.id) == [quarantined[0].id])
                #expect(try test.store.quarantine.all(state: "rejected").map(\.id) == [quarantined[1].id])
                guard case .live(let found) = try test.store.samples.lookup(bad.sample.identity) else {
                    Issue.record("the accepted sample is not found")
                    return
                }
                #expect(found.ingest == 4)
                #expect(try test.store.changedUUIDs() == [bad.sample.identity])
                // An accepted sample is deleted and restored like any other.
                try test.delete(bad)
                #expect(try test.keep([bad]).outcomes == [[.duplicate]])
                try test.restore(bad)
                #expect(try test.lines() == [TestStore.line(accepted)])
            }
        }
    }

    /// The cost of a person's quarantine does not depend on that of another.
    @Test func othersAreNotRead() throws {
        var steps: [Int] = []
        for others in [10, 1000] {
            try TestStore.with { test in
                let (maker, own) = (try SampleMaker(person: "9f2c0000-0000-4000-8000-000000000001"), try SampleMaker())
                try test.keep((0..<others).map { try maker("999", at: Double($0), rule: .impossible) })
                try test.keep((0..<3).map { try own("998", at: Double($0), rule: .impossible) })
                var count = 0
                let connection = try test.store.connection
                connection.onProgress(every: 1) {
                    count += 1
                    return false
                }
                defer { connection.onProgress(every: 0, nil) }
                let quarantined = try test.store.quarantine.all(of: TestStore.person, limit: 2)
                #expect(quarantined.map(\.id) == [Int64(others) + 1, Int64(others) + 2])
                #expect(try test.store.quarantine.counts(of: TestStore.person) == [.heartRate: 3])
                steps.append(count)
            }
        }
        #expect(steps[0] == steps[1])
    }

    /// The hub counts the quarantine with each status, on the thread that serves its devices. The time does not depend on the number.
    @Test func countingReadsNoReadings() throws {
        var steps: [Int] = []
        for number in [10, 1000] {
            try TestStore.with { test in
                let maker = try SampleMaker()
                try test.keep((0..<number).map { try maker("999", at: Double($0), rule: .impossible) })
                var count = 0
                let connection = try test.store.connection
                connection.onProgress(every: 1) {
                    count += 1
                    return false
                }
                defer { connection.onProgress(every: 0, nil) }
                #expect(try test.store.quarantine.summary().map(\.count) == [number])
                #expect(try test.store.quarantine.count() == number)
                #expect(try test.store.quarantine.counts(of: TestStore.person) == [.heartRate: number])
                steps.append(count)
            }
        }
        #expect(steps[0] == steps[1])
    }

    /// The counts are those of the rows, after decisions, undo, and erasure.
    @Test func countsFollowEveryChange() throws {
        try TestStore.with { test in
            let (own, other) = (try SampleMaker(), try SampleMaker(person: "9f2c0000-0000-4000-8000-000000000001"))
            func check() throws {
                let quarantined = try test.store.quarantine.all()
                let rules = Dictionary(grouping: quarantined, by: \.rule)
                let summary = try test.store.quarantine.summary()
                #expect(Dictionary(uniqueKeysWithValues: summary.map { ($0.rule, $0.count) }) == rules.mapValues(\.count))
                #expect(summary.map(\.count) == summary.map(\.count).sorted(by: >))
                for each in summary { #expect(each.since == rules[each.rule]?.first?.stored.sample.received) }
                #expect(try test.store.quarantine.count() == quarantined.count)
                for person in [TestStore.person, other.origin.person] {
                    let count = quarantined.count { $0.stored.sample.origin.person == person }
                    #expect(try test.store.quarantine.counts(of: person) == (count == 0 ? [:] : [.heartRate: count]))
                }
            }
            try check()
            let first = try test.keep((0..<4).map { try own("999", at: Double($0), rule: .impossible) }).account.id
            try check()
            try test.keep(
                (0..<3).map { try other("998", at: Double($0), rule: .impossible) }
                    + (3..<5).map { try own("250", at: 60 + Double($0), rule: .implausible) })
            try check()
            let numbers = try test.store.quarantine.all().map(\.id)
            let accepted = try test.store.quarantine.accept(
                [numbers[0], numbers[7]], description: TestStore.description(.accept)
            ).ingest
            try check()
            _ = try test.store.quarantine.reject([numbers[1], numbers[4]], description: TestStore.description(.reject))
            try check()
            try test.store.ledger.undo(accepted, forget: false, description: TestStore.description(.undo))
            try check()
            try test.store.ledger.undo(first, forget: false, description: TestStore.description(.undo))
            try check()
            #expect(try test.store.quarantine.count() == 4)
        }
    }

    /// Readings of files and clients that would exceed a person's share are refused. Those of devices, of others, and known ones are not.
    @Test func aPersonHasAShare() throws {
        try TestStore.with { test in
            let (own, other) = (try SampleMaker(), try SampleMaker(person: "9f2c0000-0000-4000-8000-000000000001"))
            func bad(_ maker: SampleMaker, _ second: Int) throws -> GatedSample {
                try maker("999", at: Double(second), rule: .impossible)
            }
            func store(_ kind: IngestKind, _ batch: [GatedSample]) throws -> [SampleOutcome] {
                let ingest = try test.store.beginIngest(TestStore.description(kind))
                if ingest.room != nil { ingest.room = QuarantineRoom(try test.store.connection, maximum: 3) }
                defer { _ = try? ingest.finish(at: 0) }
                return try ingest.store(batch)
            }
            #expect(
                try store(.import, [bad(own, 0), bad(own, 1), own("60", at: 2), bad(own, 3), bad(own, 4)])
                    == [.quarantined, .quarantined, .stored, .quarantined, .refused])
            #expect(try store(.import, [bad(own, 0), bad(own, 4), bad(other, 0)]) == [.duplicate, .refused, .quarantined])
            let refusal = try #require(try test.store.ledger.refusals(of: 2).first)
            #expect(refusal.reason == IngestAccount.quarantineFull && refusal.count == 1)
            #expect(throws: RefusedObject.self) { try store(.save, [bad(own, 5)]) }
            #expect(try store(.live, [bad(own, 6)]) == [.quarantined])
            // Judged readings make room.
            try test.store.quarantine.reject([1, 2], description: TestStore.description(.reject))
            #expect(try store(.import, [bad(own, 4), bad(own, 5)]) == [.quarantined, .refused])
        }
    }

    /// Readings that may be right are read in pieces, and only those of the given series.
    @Test func doubtfulReadingsInPieces() throws {
        try TestStore.with { test in
            let (own, other) = (try SampleMaker(), try SampleMaker(person: "9f2c0000-0000-4000-8000-000000000001"))
            let batch = try (0..<1200).map { (index: Int) throws -> GatedSample in
                let maker = index % 7 == 3 ? other : own
                let rule: GateRule = index % 5 == 4 ? .sentinel : .implausible
                return try maker("999", at: Double(index), rule: rule)
            }
            try test.keep(batch)
            let series = try test.store.allSeries().filter { $0.person == TestStore.person }.map(\.id)
            var read: [Int64] = []
            try test.store.quarantine.readDoubtful(after: 2, through: 1100, of: series) { read.append($0.id) }
            let quarantined = try test.store.quarantine.all().filter { quarantined in
                quarantined.stored.sample.origin.person == TestStore.person && quarantined.rule == GateRule.implausible.name
            }
            let expected = quarantined.map(\.id).filter { $0 > 2 && $0 <= 1100 }
            #expect(read == expected)
            try test.store.quarantine.readDoubtful(after: 0, through: 1200, of: []) { _ in Issue.record("it has no series") }
        }
    }

    @Test func refusesDecisionsOnOtherReadings() throws {
        try TestStore.with { test in
            try test.keep([
                try SampleMaker()("999", at: 0, rule: .impossible), try SampleMaker()("998", at: 0, rule: .impossible),
            ])
            // All or nothing.
            #expect(throws: StoreError.self) {
                try test.store.quarantine.accept([1, 77], description: TestStore.description(.accept))
            }
            #expect(throws: StoreError.self) {
                try test.store.quarantine.reject([2, 77], description: TestStore.description(.reject))
            }
            #expect(try test.store.quarantine.all().map(\.id) == [1, 2])
            try test.store.quarantine.reject([1], description: TestStore.description(.reject))
            let error = thrown(StoreError.self) {
                _ = try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            }
            #expect(error?.kind == .invalid)
        }
    }

    /// An accepted reading is live while its import and its acceptance are active.
    @Test func acceptedReadingsFollowTheirImport() throws {
        try TestStore.with { test in
            func undo(_ entry: Int64) throws -> Int64 {
                try test.store.ledger.undo(entry, forget: false, description: TestStore.description(.undo)).ingest
            }
            let bad = try SampleMaker()("999", at: 0, rule: .impossible)
            let good = try SampleMaker()("72", at: 0)
            let ingest = try test.keep([bad, good]).account.id
            let acceptance = try test.store.quarantine.accept([1], description: TestStore.description(.accept)).ingest
            #expect(try test.identities().count == 2)
            let undoing = try undo(ingest)
            #expect(try test.samples().isEmpty && test.store.quarantine.all().isEmpty)
            #expect(try test.store.check(deep: true) == [])
            let second = try undo(acceptance)
            #expect(try test.samples().isEmpty && test.store.quarantine.all().isEmpty)
            #expect(try test.keep([bad]).outcomes == [[.duplicate]])
            // The import applies again, and the reading waits for a decision.
            _ = try undo(undoing)
            #expect(try test.identities() == [good.sample.identity])
            #expect(try test.store.quarantine.all().map(\.id) == [1])
            _ = try undo(second)
            #expect(try test.identities().count == 2)
            #expect(try test.store.quarantine.all(state: "accepted").map(\.id) == [1])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func forgetsAcceptedReadingsWithTheirImport() throws {
        try TestStore.with { test in
            let bad = try SampleMaker()("999", at: 0, rule: .impossible)
            let ingest = try test.keep([bad]).account.id
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            try test.store.ledger.undo(ingest, forget: true, description: TestStore.description(.undo))
            #expect(try test.samples().isEmpty)
            #expect(try test.store.check() == [])
            #expect(try test.keep([bad]).outcomes == [[.quarantined]])
        }
    }

    @Test func undoOfARejection() throws {
        try TestStore.with { test in
            try test.keep([try SampleMaker()("999", at: 0, rule: .impossible)])
            let rejection = try test.store.quarantine.reject([1], description: TestStore.description(.reject)).ingest
            try test.store.ledger.undo(rejection, forget: false, description: TestStore.description(.undo))
            #expect(try test.store.quarantine.all().map(\.id) == [1])
        }
    }

    /// A rejected reading stays out, even if the gate would let it pass now.
    @Test func rejectedStaysRejected() throws {
        try TestStore.with { test in
            let quarantined = try SampleMaker()("350", at: 0, rule: .impossible)
            try test.keep([quarantined])
            try test.store.quarantine.reject([1], description: TestStore.description(.reject))
            var passing = quarantined
            passing.rule = nil
            #expect(try test.keep([passing]).outcomes == [[.duplicate]])
            #expect(try test.samples().isEmpty)
        }
    }

    /// A file that is imported again after it was forgotten is judged again.
    @Test func forgottenQuarantine() throws {
        try TestStore.with { test in
            let bad = try SampleMaker()("999", at: 0, rule: .impossible)
            let ingest = try test.keep([bad]).account.id
            try test.store.ledger.undo(ingest, forget: true, description: TestStore.description(.undo))
            #expect(try test.store.quarantine.all().isEmpty)
            #expect(try test.keep([bad]).outcomes == [[.quarantined]])
        }
    }

    /// The gate changes: a reading that was quarantined passes now and leaves quarantine.
    @Test func acceptsReadingStoredAlready() throws {
        try TestStore.with { test in
            let quarantined = try SampleMaker()("350", at: 0, rule: .impossible)
            try test.keep([quarantined])
            var passing = quarantined
            passing.rule = nil
            let released = try test.keep([passing]).account.id
            #expect(try test.store.quarantine.all().isEmpty)
            #expect(try test.store.quarantine.all(state: "released").map(\.id) == [1])
            let error = thrown(StoreError.self) {
                _ = try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            }
            #expect(error?.kind == .invalid)
            #expect(try test.identities() == [quarantined.sample.identity])
            try test.store.ledger.undo(released, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().isEmpty)
            #expect(try test.store.quarantine.all().map(\.id) == [1])
        }
    }

    /// An accepted version of a record replaces the lower one, and comes forward when a higher one is undone.
    @Test func acceptingAVersion() throws {
        func record(_ version: Int64, rule: GateRule? = nil) throws -> GatedSample {
            try SampleMaker()("\(300 + version)", at: 0, record: RecordIdentifier(id: "r", version: version), rule: rule)
        }
        try TestStore.with { test in
            try test.keep([try record(1)])
            try test.keep([try record(2, rule: .impossible)])
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try test.samples().map(\.sample.value) == [302])
            try test.keep([try record(3, rule: .impossible)])
            let highest = try test.keep([try record(4)]).account.id
            try test.store.quarantine.accept([2], description: TestStore.description(.accept))
            #expect(try test.samples().map(\.sample.value) == [304])
            try test.store.ledger.undo(highest, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().map(\.sample.value) == [303])
        }
    }

    /// Several values of one version are accepted one after the other. The last one counts.
    @Test func acceptingSeveralValuesOfAVersion() throws {
        func record(_ numeral: String) throws -> GatedSample {
            try SampleMaker(.bodyMass)(numeral, at: 0, record: RecordIdentifier(id: "r", version: 2))
        }
        try TestStore.with { test in
            func accept(_ ids: Int64...) throws -> Int64 {
                try test.store.quarantine.accept(ids, description: TestStore.description(.accept)).ingest
            }
            func values() throws -> [Double] { try test.samples().map(\.sample.value) }
            for numeral in ["80", "81", "82"] { try test.keep([try record(numeral)]) }
            #expect(thrown(StoreError.self) { _ = try accept(1, 2) }?.kind == .invalid)
            #expect(try values() == [80])
            let first = try accept(1)
            #expect(try values() == [81])
            _ = try accept(2)
            #expect(try values() == [82])
            try test.store.ledger.undo(first, forget: false, description: TestStore.description(.undo))
            #expect(try values() == [82])
            _ = try accept(1)
            #expect(try values() == [81])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func acceptingALowerVersionAgain() throws {
        func record(_ version: Int64, rule: GateRule? = nil) throws -> GatedSample {
            try SampleMaker()("\(300 + version)", at: 0, record: RecordIdentifier(id: "r", version: version), rule: rule)
        }
        try TestStore.with { test in
            try test.keep([try record(3, rule: .impossible)])
            let higher = try test.keep([try record(4)]).account.id
            let accept = { try test.store.quarantine.accept([1], description: TestStore.description(.accept)).ingest }
            try test.store.ledger.undo(try accept(), forget: false, description: TestStore.description(.undo))
            _ = try accept()
            #expect(try test.samples().map(\.sample.value) == [304])
            try test.store.ledger.undo(higher, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().map(\.sample.value) == [303])
        }
    }

    /// The source corrects a record in the same version, as a repair did before.
    @Test func recordThatArrivesAsRepaired() throws {
        func record(_ unit: String) throws -> GatedSample {
            try SampleMaker(.bodyMass, unit: unit)("170", at: 0, record: RecordIdentifier(id: "r", version: 1))
        }
        try TestStore.with { test in
            try test.keep([try record("kg")])
            let request = TestStore.request(.unit(try Unit(ucum: "[lb_av]")), .bodyMass, ambiguous: true)
            #expect(try test.migrate(request).plan.repaired == 1)
            let lines = try test.lines()
            #expect(try test.keep([try record("[lb_av]")]).outcomes == [[.duplicate]])
            #expect(try test.lines() == lines)
        }
    }

    /// A record of another person was assigned to me. My own report of the same version has another value.
    @Test func acceptingAConflictWithAnAssignedVersion() throws {
        func record(_ numeral: String, of person: String) throws -> GatedSample {
            try SampleMaker(.bodyMass, person: person)(numeral, at: 0, record: RecordIdentifier(id: "r", version: 3))
        }
        try TestStore.with { test in
            try test.keep([try record("80.1", of: "7f9c0000-0000-4000-8000-000000000001")])
            let result = try test.store.repairs.apply(
                TestStore.request(.person(TestStore.person), .bodyMass, ambiguous: true) {
                    $0.person = "7f9c0000-0000-4000-8000-000000000001"
                })
            #expect(result.repairID != nil, "\(result)")
            #expect(try test.keep([try record("80.1", of: TestStore.person)]).outcomes == [[.duplicate]])
            let conflict = try test.keep([try record("80.2", of: TestStore.person)])
            #expect(conflict.outcomes == [[.quarantined]])
            #expect(try test.samples().map(\.sample.value) == [80.1])
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try test.samples().map(\.sample.value) == [80.2])
            // It replaces the assigned version while its import is active.
            let undo = try test.store.ledger.undo(conflict.account.id, forget: false, description: TestStore.description(.undo))
                .ingest
            #expect(try test.samples().map(\.sample.value) == [80.1])
            try test.store.ledger.undo(undo, forget: false, description: TestStore.description(.undo))
            #expect(try test.samples().map(\.sample.value) == [80.2])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// The owner assigned a member's reading to himself. A file of the member does not replace it, and the member cannot accept or restore what
    /// would.
    @Test func membersDoNotReplaceAssignedReadings() throws {
        let member = "7f9c0000-0000-4000-8000-000000000001"
        func record(_ numeral: String, _ version: Int64) throws -> GatedSample {
            try SampleMaker(.bodyMass, person: member)(numeral, at: 0, record: RecordIdentifier(id: "r", version: version))
        }
        func isOthers(_ error: (any Error)?) -> Bool { "\(String(describing: error))".contains("assigned to another person") }
        try TestStore.with { test in
            func bring(_ samples: GatedSample..., isOfMember: Bool) throws -> (outcomes: [SampleOutcome], entry: Int64) {
                var description = TestStore.description()
                description.isOfMember = isOfMember
                let ingest = try test.store.beginIngest(description)
                defer { _ = try? ingest.finish(at: 0) }
                return (try ingest.store(samples), ingest.id)
            }
            func values(_ person: String) throws -> [Double] {
                try test.samples().map(\.sample).filter { $0.origin.person == person }.map(\.value)
            }
            var byMember = TestStore.description(.accept)
            (byMember.isOfMember, byMember.people) = (true, [member])
            _ = try bring(record("80.1", 1), isOfMember: true)
            // The import of a higher version was undone, and the reading assigned.
            let undone = try bring(record("80.3", 3), isOfMember: true)
            try test.store.ledger.undo(undone.entry, forget: false, description: TestStore.description(.undo))
            _ = try test.store.repairs.apply(
                TestStore.request(.person(TestStore.person), .bodyMass, ambiguous: true) { $0.person = member })
            #expect(try values(TestStore.person) == [80.1])

            #expect(try bring(record("80.2", 2), isOfMember: true).outcomes == [.quarantined])
            #expect(try bring(record("80.9", 1), isOfMember: true).outcomes == [.quarantined])
            #expect(
                try test.store.quarantine.all().map(\.rule) == [GateRule.assignedReading.name, GateRule.versionConflict.name])
            for number in [1, 2] as [Int64] {
                #expect(
                    isOthers(
                        #expect(throws: StoreError.self) {
                            try test.store.quarantine.accept([number], description: byMember)
                        }))
            }
            byMember.kind = .restore
            let identity = try record("80.3", 3).sample.identity
            #expect(
                isOthers(#expect(throws: StoreError.self) { try test.store.samples.restore([identity], description: byMember) }))
            #expect(try values(TestStore.person) == [80.1])
            #expect(try values(member) == [])

            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try values(TestStore.person) == [])
            #expect(try values(member) == [80.2])
            #expect(try bring(record("80.4", 4), isOfMember: false).outcomes == [.stored])
            #expect(try values(member) == [80.4])

            // A report over another path is more precise. It is quarantined alone.
            _ = try bring(SampleMaker(.bodyMass, person: member)("90.1", at: 86_400), isOfMember: true)
            _ = try test.store.repairs.apply(
                TestStore.request(.person(TestStore.person), .bodyMass, ambiguous: true) {
                    $0.person = member
                    $0.from = Instant(microseconds: 1_767_225_600_000_000 + 86_000_000_000)
                })
            #expect(try values(TestStore.person) == [90.1])
            let other = try SampleMaker(.bodyMass, source: "other", person: member)
            let batch = try bring(
                other("70.1", at: 43_200), other("90.13", at: 86_400), other("90.2", at: 129_600), isOfMember: true)
            #expect(batch.outcomes == [.stored, .quarantined, .stored])
            #expect(try values(TestStore.person) == [90.1])
            #expect(try values(member) == [80.4, 70.1, 90.2])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A client's version replaces those of other devices, also if it was quarantined first.
    @Test func acceptedClientVersionReplacesOtherDevices() throws {
        try TestStore.with { test in
            func save(_ version: Int64, _ numeral: String, device: String, rule: GateRule? = nil) throws {
                var description = TestStore.description(.save)
                description.replacesAcrossDevices = true
                let ingest = try test.store.beginIngest(description)
                let maker = try SampleMaker(.bodyMass, source: "app", device: Device(key: device))
                _ = try ingest.store([
                    try maker(numeral, at: Double(version), record: RecordIdentifier(id: "r", version: version), rule: rule)
                ])
                _ = try ingest.finish(at: 0)
            }
            try save(1, "80", device: "a")
            try save(2, "700", device: "b", rule: .implausible)
            #expect(try test.samples().map(\.sample.value) == [80])
            try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(try test.samples().map(\.sample.value) == [700])
        }
    }

    /// A higher version is stored.
    @Test func countsAcceptedReadingsThatAreNoSamples() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyMass)
            try test.keep([try maker("700", at: 0, record: RecordIdentifier(id: "r", version: 1), rule: .implausible)])
            try test.keep([try maker("80", at: 0, record: RecordIdentifier(id: "r", version: 2))])
            let result = try test.store.quarantine.accept([1], description: TestStore.description(.accept))
            #expect(result.count == 1 && result.duplicates == 1)
            #expect(try test.samples().map(\.sample.value) == [80])
        }
    }

    /// A quantity whose type an earlier version did not know was stored without conversion. It becomes the sample that an import makes of it.
    @Test func releasesTypesThatThisVersionKnows() throws {
        try TestStore.with { test in
            func quarantined(_ type: SampleType, _ number: String, unit: String, at seconds: Double) throws -> GatedSample {
                var gated = try SampleMaker(type, unit: unit)(number, at: seconds, rule: .unknownType)
                gated.sample.value = try Double(#require(Double(number)))
                return gated
            }
            let known = try quarantined(.heartRate, "1.20", unit: "/s", at: 0)
            let impossible = try quarantined(.heartRate, "-1", unit: "/s", at: 60)
            let future = try quarantined(
                #require(SampleType(quantity: "HKQuantityTypeIdentifierAuraStrength")), "3", unit: "m", at: 120)
            #expect(try test.keep([known, impossible, future]).outcomes == [[.quarantined, .quarantined, .quarantined]])
            let store = try test.store
            let refusal = thrown(StoreError.self) {
                _ = try store.quarantine.accept([3], description: TestStore.description(.accept))
            }
            #expect(refusal?.kind == .invalid && refusal?.message.contains("does not know its type") == true)
            #expect(try store.quarantine.releaseKnown(received: 1_900_000_000_000_000) == 1)
            #expect(try store.quarantine.releaseKnown(received: 1_900_000_000_000_000) == 0)
            let expected = try SampleMaker(.heartRate, unit: "/s")("1.20", at: 0)
            #expect(try test.lines() == [TestStore.line(expected.sample)])
            #expect(try test.samples().map(\.sample.value) == [72])
            #expect(try store.quarantine.all().map(\.stored.sample.origin.type.id) == ["heartRate", "auraStrength"])
            #expect(try test.keep([expected, future]).outcomes == [[.duplicate, .duplicate]])
        }
    }

    /// Cases that an earlier version did not know become samples without a second import, which then brings duplicates.
    @Test func releasesCasesThatThisVersionKnows() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(#require(SampleType("sleepAnalysis")), unit: "1")
            func quarantined(_ word: String, at seconds: Double, ordinal: UInt32) throws -> GatedSample {
                var gated = try maker("-1", at: seconds, lasting: 60, ordinal: ordinal, rule: .unknownValue)
                gated.frame = FrameText(
                    RawFrame(
                        payload: .malformed("Record,HKCategoryTypeIdentifierSleepAnalysis,Watch,11,\(word),2026-01-01"),
                        place: gated.place, received: TestStore.received))
                return gated
            }
            let known = try quarantined("HKCategoryValueSleepAnalysisAsleepREM", at: 0, ordinal: 77)
            let unknown = try quarantined("HKCategoryValueSleepAnalysisDreaming", at: 60, ordinal: 78)
            #expect(try test.keep([known, unknown]).outcomes == [[.quarantined, .quarantined]])
            let store = try test.store
            #expect(try store.quarantine.releaseKnown(received: 1_900_000_000_000_000) == 1)
            #expect(try store.quarantine.releaseKnown(received: 1_900_000_000_000_000) == 0)
            let expected = try maker("5", at: 0, lasting: 60)
            #expect(try test.lines() == [TestStore.line(expected.sample)])
            #expect(try store.quarantine.all().map(\.id) == [2] && store.quarantine.all(state: "released").map(\.id) == [1])
            #expect(try test.keep([expected, unknown]).outcomes == [[.duplicate, .duplicate]])
            // An undo puts the reading back.
            let entry = try #require(try store.ledger.accounts().first { $0.kind == .release })
            _ = try store.ledger.undo(entry.id, forget: false, description: TestStore.description(.undo))
            #expect(try test.lines().isEmpty)
        }
    }
}
