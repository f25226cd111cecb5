import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Samples that ended before the earliest permitted date of their type are permanently removed: none of them returns, and every reader is
/// notified.
@Suite struct RetentionTests {
    private static func at(_ seconds: Int64) -> Instant { Instant(microseconds: 1_767_225_600_000_000 + seconds * 1_000_000) }

    private func prune(_ test: TestStore, _ dates: [SampleType: Instant]) throws -> PruneResult {
        try test.store.prune(dates, description: TestStore.description(.prune))
    }

    private func beats(_ range: Range<Int>) throws -> [GatedSample] {
        try range.map { try SampleMaker()("\(60 + $0 % 5)", at: Double($0) * 10) }
    }

    @Test func prunesSamplesEndedBefore() throws {
        try TestStore.with { test in
            let beats = try self.beats(0..<10)
            let steps = try (0..<5).map { try SampleMaker(.stepCount)("5", at: Double($0) * 20, lasting: 20) }
            try test.keep(beats, steps)
            try test.delete(beats[1], beats[8])
            let would = try test.store.prunable([.heartRate: Self.at(50), .stepCount: Self.at(50)])
            #expect((would.samples, would.tombstones) == (6, 1))
            #expect(try test.samples().count == 13)
            let result = try prune(test, [.heartRate: Self.at(50), .stepCount: Self.at(50)])
            #expect((result.samples, result.tombstones, result.waiting, result.repaired) == (6, 1, 0, 0))
            // By their end: the steps from 40 to 60 stay.
            let left = beats[5...].filter { $0.sample.identity != beats[8].sample.identity } + steps[2...]
            #expect(Set(try test.identities()) == Set(left.map(\.sample.identity)))
            #expect(
                try test.store.samples.lookup(beats[0].sample.identity) == nil
                    && test.store.samples.lookup(beats[1].sample.identity) == nil)
            // Nothing more, and nothing to take back.
            #expect(try prune(test, [.heartRate: Self.at(50)]).ingest == 0)
            #expect(throws: StoreError.self) {
                try test.store.ledger.undo(result.ingest, forget: false, description: TestStore.description(.undo))
            }
            #expect(try test.store.ledger.account(of: result.ingest)?.deleted == 6)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    @Test func theSameReadingAgainIsRefused() throws {
        try TestStore.with { test in
            let beats = try self.beats(0..<10)
            try test.keep(beats)
            _ = try prune(test, [.heartRate: Self.at(50)])
            let weight = try SampleMaker(.bodyMass)("80", at: 0)
            let (outcomes, account) = try test.keep(beats + [weight])
            #expect(outcomes[0] == Array(repeating: .refused, count: 5) + Array(repeating: .duplicate, count: 5) + [.stored])
            #expect((account.stored, account.duplicate, account.refused) == (1, 5, 5))
            #expect(try test.store.ledger.refusals(of: account.id).count > 0)
            // An earlier date brings nothing back.
            _ = try prune(test, [.heartRate: Self.at(10)])
            #expect(try test.store.earliestPermittedDates() == [.heartRate: Self.at(50)])
            #expect(try test.samples().count == 6)
        }
    }

    /// A pruning by age removes no part that none before it would have removed, until a person confirms it. A date that was set too late can
    /// be set back.
    @Test func unusualAmountsAreConfirmed() throws {
        try TestStore.with { test in
            let beats = try self.beats(0..<10)
            try test.keep(beats)
            func byAge(_ seconds: Int64, isConfirmed: Bool = false) throws -> Int {
                try test.store.prune(
                    [.heartRate: Self.at(seconds)], byAge: true, isConfirmed: isConfirmed,
                    description: TestStore.description(.prune)
                ).samples
            }
            func refusal(_ seconds: Int64) -> String? {
                let error = thrown(StoreError.self) { _ = try byAge(seconds) }
                #expect(error?.kind == .invalid)
                return error?.message
            }
            // The first one removes at most half.
            #expect(refusal(60)?.contains("6 of 10 samples") == true)
            #expect(try test.store.earliestPermittedDates().isEmpty && test.samples().count == 10)
            #expect(try byAge(50) == 5)
            // The next ones continue, also after some weeks.
            let day: Int64 = 86_400
            #expect(refusal(50 + 40 * day)?.contains("'heartRate' from 40 more days") == true)
            #expect(try test.samples().count == 5 && test.store.earliestPermittedDates() == [.heartRate: Self.at(50)])
            #expect(try byAge(60 - 30 * day) == 0)
            #expect(try byAge(60) == 1)
            #expect(try byAge(50 + 40 * day, isConfirmed: true) == 4)
            #expect(try test.keep(beats).outcomes[0].allSatisfy { $0 == .refused })

            #expect(try test.store.setEarliestBack([.heartRate: Self.at(0)]) == [.heartRate: Self.at(50 + 40 * day)])
            #expect(try test.store.setEarliestBack([.heartRate: Self.at(10), .stepCount: Self.at(10)]).isEmpty)
            #expect(try test.keep(beats).outcomes[0].allSatisfy { $0 == .stored })
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A pruning with a short period may not remove everything after a jump of some days either.
    @Test func shortPeriods() throws {
        try TestStore.with { test in
            let now = TestStore.received
            let day: Int64 = 86_400
            let first = Double(now.microseconds / 1_000_000 - 1_767_225_600 - 10 * day)
            try test.keep(try (0..<11).map { try SampleMaker()("60", at: first + Double($0) * Double(day)) })
            func prune(after days: Int64) throws -> Int {
                let now = Instant(microseconds: now.microseconds + days * Calendar.day)
                var description = TestStore.description(.prune)
                description.received = now.microseconds
                let date = Instant(microseconds: now.microseconds - 7 * Calendar.day)
                return try test.store.prune([.heartRate: date], byAge: true, description: description).samples
            }
            #expect(try prune(after: 0) == 3)
            #expect(try prune(after: 3) == 3)
            #expect(throws: StoreError.self) { try prune(after: 20) }
            #expect(try test.samples().count == 5)
        }
    }

    /// A reader that saw everything is notified. One that did not has to read everything again. A new one reads the current samples.
    @Test func readersLearnOfPruning() throws {
        try TestStore.with { test in
            let beats = try self.beats(0..<10)
            try test.keep(Array(beats[..<3]))
            var (old, ahead) = (Anchor.beginning, Anchor.beginning)
            try test.store.changes.read(after: .beginning, types: nil) { old = $1 }
            try test.keep(Array(beats[3...]))
            try test.store.changes.read(after: old, types: nil) { ahead = $1 }
            let result = try prune(test, [.heartRate: Self.at(50)])
            let error = thrown(StoreError.self) { try test.store.changes.read(after: old, types: nil) { _, _ in } }
            #expect(error?.kind == .invalid && error?.message.contains("--after 0") == true)
            #expect(try !test.store.changes.knows(old) && test.store.changes.knows(ahead))
            var (reported, changes): ([Pruning], Int) = ([], 0)
            try test.store.changes.read(
                after: ahead, types: nil,
                pruned: {
                    reported.append($0)
                    ahead = $1
                }, { _, _ in changes += 1 })
            let origin = beats[0].sample.origin
            let series = (origin.person, SampleType.heartRate, origin.source.id, origin.device?.key ?? "")
            #expect(
                reported == [Pruning(of: series, from: Self.at(0), before: Self.at(50), ingest: result.ingest, seq: 11)]
                    && changes == 0)
            // Told once.
            reported = []
            try test.store.changes.read(after: ahead, types: nil, pruned: { pruning, _ in reported.append(pruning) }, { _, _ in })
            #expect(reported.isEmpty)
            var seen: [SampleIdentity] = []
            try test.store.changes.read(after: .beginning, types: nil) { change, _ in seen.append(change.uuid) }
            #expect(seen == beats[5...].map(\.sample.identity))
        }
    }

    /// Samples that a target has not received yet are kept for it.
    @Test func keepsSamplesForTargets() throws {
        try TestStore.with { test in
            try test.keep(try self.beats(0..<3))
            var anchor = Anchor.beginning
            try test.store.changes.read(after: .beginning, types: nil) { anchor = $1 }
            try test.store.targets.save(Target(name: "archive", after: anchor, filter: "", at: Self.at(0)))
            try test.keep(try self.beats(3..<10))
            let result = try prune(test, [.heartRate: Self.at(50)])
            #expect((result.samples, result.waiting) == (3, 2))
            #expect(try test.samples().count == 7)
            try test.store.changes.read(after: anchor, types: nil) { anchor = $1 }
            try test.store.targets.save(Target(name: "archive", after: anchor, filter: "", at: Self.at(0)))
            #expect(try prune(test, [.heartRate: Self.at(50)]).samples == 2)
            #expect(try test.store.changes.knows(anchor))
        }
    }

    /// The result of a repair stays as long as the repair can be undone.
    @Test func repairsCanBeUndone() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.bodyTemperature)
            try test.keep([try maker("98.6", at: 0), try maker("36.6", at: 10), try maker("37", at: 20)])
            let repair = TestStore.request(RepairTests.fahrenheit, .bodyTemperature) {
                $0.condition = try? SamplePredicate("value > 50")
            }
            let repairID = try #require(try test.migrate(repair).repairID)
            let result = try prune(test, [.bodyTemperature: Self.at(100)])
            #expect((result.samples, result.tombstones, result.repaired) == (2, 0, 2))
            try test.undo(repairID)
            #expect(try test.samples().map(\.sample.value) == [98.6])
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// Once the repair is undone, its result and the replaced samples are pruned like any other.
    @Test func prunesSamplesOfUndoneRepair() throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.stepCount)
            try test.keep([try maker("10", at: 0, lasting: 3600), try maker("11", at: 3600, lasting: 3600)])
            let request = TestStore.request(.shift(3_600_000_000), .stepCount)
            let repairID = try #require(try test.migrate(request).repairID)
            try test.undo(repairID)
            // Of the second one the tombstone of the repaired sample ended later.
            let result = try prune(test, [.stepCount: Self.at(7300)])
            #expect((result.samples, result.tombstones, result.repaired) == (2, 1, 0))
            #expect(try test.samples().isEmpty && test.store.check(deep: true) == [])
            #expect(try prune(test, [.stepCount: Self.at(100_000)]).tombstones == 1)
            #expect(try test.store.connection.integer("SELECT count(*) FROM repaired") == 0)
            #expect(try test.store.check(deep: true) == [])
        }
    }

    /// A failed pruning leaves neither its date nor an entry. One that fails later has removed what its entry reports.
    @Test func aFailedPruningLeavesNothing() throws {
        try TestStore.with { test in
            let beats = try self.beats(0..<10)
            try test.keep(beats)
            let store = try test.store
            store.stepRows = 4
            for transactions in [0, 1] {
                var left = transactions
                store.connection.onChange = { () throws(StoreError) in
                    guard left > 0 else { throw StoreError(.full, "no space left") }
                    left -= 1
                }
                #expect(thrown(StoreError.self) { _ = try prune(test, [.heartRate: Self.at(200)]) }?.kind == .full)
                store.connection.onChange = nil
                #expect(try test.samples().count == 10 - 4 * transactions)
                #expect(try store.earliestPermittedDates().count == transactions)
                #expect(try store.ledger.accounts().count == 1 + transactions)
            }
            #expect(try store.ledger.account(of: 2).map { [$0.state, "\($0.deleted)"] } == ["interrupted", "4"])
            // A follower drops no sample that still exists.
            let first = try #require(try test.samples().map(\.sample.start).min())
            #expect(try announced(store).allSatisfy { $0 <= first })
            #expect(try prune(test, [.heartRate: Self.at(200)]).samples == 6)
            #expect(try announced(store).max() == Self.at(200))
            #expect(try store.check(deep: true) == [])
        }
    }

    /// A follower of a pruning that was interrupted has the samples that the store has, also where several have the same start.
    @Test(arguments: 1...10) func aFollowerOfAnInterruptedPruning(rows: Int) throws {
        try TestStore.with { test in
            let maker = try SampleMaker(.heartRate)
            let beats = try [0, 10, 10, 10, 20, 30, 30, 40].enumerated().map { try maker("\(60 + $0)", at: Double($1)) }
            try test.keep(beats)
            let store = try test.store
            store.stepRows = rows
            var steps = 1
            store.connection.onChange = { () throws(StoreError) in
                guard steps > 0 else { throw StoreError(.full, "no space left") }
                steps -= 1
            }
            _ = try? prune(test, [.heartRate: Self.at(35)])
            store.connection.onChange = nil
            let live = try Set(test.samples().map(\.sample.identity))
            #expect(try follow(store, with: beats) == live)
            _ = try prune(test, [.heartRate: Self.at(35)])
            #expect(try test.samples().count == 1 && store.check(deep: true) == [])
        }
    }

    /// The samples that a follower has who saw these being added, and then obeyed each pruning.
    private func follow(_ store: SampleStore, with samples: [GatedSample]) throws -> Set<SampleIdentity> {
        var copy = samples.map(\.sample)
        try store.changes.read(
            after: .beginning, types: nil,
            pruned: { pruning, _ in copy.removeAll { pruning.removes(StoredSample(sample: $0, ingest: 1, seq: 1)) } }, { _, _ in }
        )
        return Set(copy.map(\.identity))
    }

    /// A pruning names its person, source and device, and the samples that stay: repaired ones, and those that a target has not received.
    @Test(arguments: 1...6) func followerKeepsRemainingSamples(rows: Int) throws {
        try TestStore.with { test in
            var copy = Follower()
            let scale = try SampleMaker(.bodyTemperature, source: "scale")
            let diary = try SampleMaker(.bodyTemperature, source: "diary")
            try test.keep([try scale("36.6", at: 0), try scale("36.7", at: 10, lasting: 1000), try scale("36.8", at: 20)])
            try test.keep([try diary("98.6", at: 0), try diary("36.5", at: 5), try diary("99.5", at: 15)])
            _ = try test.migrate(
                TestStore.request(RepairTests.fahrenheit, .bodyTemperature) {
                    $0.condition = try? SamplePredicate("value > 50")
                })
            try copy.follow(test.store)
            try test.store.targets.save(Target(name: "archive", after: copy.anchor, filter: "", at: Self.at(0)))
            try test.keep([try scale("36.9", at: 12), try diary("36.4", at: 40)])
            try copy.follow(test.store)
            try test.store.stepRows = rows
            for date in [30, 60, 2000] {
                _ = try prune(test, [.bodyTemperature: Self.at(Int64(date))])
                try copy.follow(test.store)
                #expect(Set(copy.samples.map(\.uuid)) == Set(try test.identities()), "\(date)")
            }
            #expect(copy.samples.count == 4)
            // Samples that waited are removed later.
            let latest = copy.anchor
            try test.store.targets.save(Target(name: "archive", after: latest, filter: "", at: Self.at(0)))
            _ = try prune(test, [.bodyTemperature: Self.at(2000)])
            try copy.follow(test.store)
            #expect(try copy.samples.count == 2 && Set(copy.samples.map(\.uuid)) == Set(test.identities()))
        }
    }

    /// A reader of the change log that has a copy of the samples.
    private struct Follower {
        var samples: [StoredSample] = []
        var anchor = Anchor.beginning

        mutating func follow(_ store: SampleStore) throws {
            var (copy, end) = (samples, anchor)
            try store.changes.read(
                after: anchor, types: nil,
                pruned: { pruning, old in
                    copy.removeAll { pruning.removes($0) }
                    end = old
                },
                { change, old in
                    switch change {
                    case .added(let stored): copy.append(stored)
                    case .deleted(let deletion): copy.removeAll { $0.uuid == deletion.uuid }
                    }
                    end = old
                })
            (samples, anchor) = (copy, end)
        }
    }

    /// The ends up to which the change log reports pruned samples.
    private func announced(_ store: SampleStore) throws -> [Instant] {
        var reported: [Instant] = []
        try store.changes.read(
            after: .beginning, types: nil, pruned: { pruning, _ in reported.append(pruning.before) }, { _, _ in })
        return reported
    }

    /// The cost of a pruning does not grow with what repairs touched in other series.
    @Test func aPruningLooksRowsUp() throws {
        var costs: [Int] = []
        for repaired in [10, 400] {
            try TestStore.with { test in
                try test.keep(try self.beats(0..<100))
                let maker = try SampleMaker(.stepCount)
                try test.keep(try (0..<repaired).map { try maker("1\($0 % 7)", at: Double($0) * 60, lasting: 60) })
                _ = try test.migrate(TestStore.request(.shift(3_600_000_000), .stepCount))
                costs.append(try test.store.connection.work { _ = try prune(test, [.heartRate: Self.at(100_000)]) })
            }
        }
        #expect(costs[1] < costs[0] * 2, "\(costs)")
    }

    /// Random stores and dates: the samples that ended later remain, readers agree, and the store is consistent.
    @Test func matchesListModel() throws {
        var random = SeededGenerator(seed: 31)
        var removed = 0
        for _ in 0..<25 {
            try TestStore.with { test in
                var live: [SampleIdentity: (SampleType, Instant)] = [:]
                var earliest: [SampleType: Instant] = [:]
                var copy = Follower()
                for _ in 0..<12 {
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0, 1:
                        var batch: [GatedSample] = []
                        for _ in 0..<Int.random(in: 1...12, using: &random) {
                            let type: SampleType = Bool.random(using: &random) ? .heartRate : .stepCount
                            let source = ["a", "b"].randomElement(using: &random) ?? "a"
                            let maker = try SampleMaker(type, source: source).local(Int.random(in: 0...1, using: &random))
                            batch.append(
                                try maker(
                                    "\(Int.random(in: 1...2, using: &random))",
                                    at: Double(Int.random(in: 0..<12, using: &random)) * 10,
                                    lasting: type == .stepCount ? Double(Int.random(in: 0..<3, using: &random)) * 10 : 0))
                        }
                        let outcomes = try test.keep(batch).outcomes[0]
                        for (gated, outcome) in zip(batch, outcomes) {
                            let isLate = earliest[gated.sample.origin.type].map { gated.sample.end < $0 } ?? false
                            #expect((outcome == .refused) == isLate)
                            if outcome == .stored { live[gated.sample.identity] = (gated.sample.origin.type, gated.sample.end) }
                        }
                    case 2:
                        guard let one = live.keys.sorted().randomElement(using: &random) else { continue }
                        try test.store.samples.delete([one], description: TestStore.description(.delete))
                        live[one] = nil
                    default:
                        let type: SampleType = Bool.random(using: &random) ? .heartRate : .stepCount
                        // Local times lie an hour before.
                        let date = Self.at(
                            Int64.random(in: 0..<14, using: &random) * 10 - (Bool.random(using: &random) ? 3600 : 0))
                        removed += try prune(test, [type: date]).samples
                        earliest[type] = max(earliest[type] ?? date, date)
                        live = live.filter { $0.value.0 != type || $0.value.1 >= earliest[type] ?? date }
                    }
                    #expect(Set(try test.identities()) == Set(live.keys))
                    try copy.follow(test.store)
                    #expect(Set(copy.samples.map(\.uuid)) == Set(live.keys))
                    var reported: Set<SampleIdentity> = []
                    try test.store.changes.read(after: .beginning, types: nil) { change, _ in
                        if case .added = change { reported.insert(change.uuid) }
                    }
                    #expect(reported == Set(live.keys))
                }
                #expect(try test.store.check(deep: true) == [])
            }
        }
        #expect(removed > 50, "\(removed)")
    }
}
