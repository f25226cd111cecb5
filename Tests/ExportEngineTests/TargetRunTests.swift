import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// A target ends up with the content of the store, whatever fails on the way.
@Suite struct TargetRunTests {
    private let test: ExportedStore
    private var store: SampleStore { test.store }

    init() throws { test = try ExportedStore() }

    @Test func targetEqualsStore() throws {
        let target = ScriptedTarget()
        try test.add(try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) })
        let run = try test.run(target)
        try test.finish(run)
        #expect(try target.samples == test.contents())
        #expect(run.target.delivered == 50)
        // Back-dated by weeks, and gone again.
        try test.add([try test.sample(70, at: -3_000_000), try test.sample(71, at: -3_000_001)])
        _ = try store.samples.delete([try test.sample(60, at: 0).sample.identity], description: test.description(.delete))
        try test.finish(run)
        #expect(try target.samples == test.contents())
        #expect(try store.targets.all().map(\.delivered) == [53])
        // Idle means idle.
        let (deliveries, before) = (target.deliveries, try store.targets.all())
        #expect(try run.step() == .upToDate(again: nil))
        #expect(target.deliveries == deliveries)
        #expect(try store.targets.all() == before)
    }

    /// A target for one person gets no UUID of another person's sample. Without a filter, it gets the successor.
    @Test(arguments: [true, false]) func successorOfAnotherPersonIsNotSent(hasFilter: Bool) throws {
        let target = ScriptedTarget()
        let (assigned, repaired) = (try test.sample(61, at: 0), try test.sample(62, at: 60))
        try test.add([assigned, repaired])
        let filter = hasFilter ? SamplePredicate.person(test.origin.person) : nil
        let run = try test.run(target, TargetSettings(name: "other", filter: filter, filterText: "subject = me"))
        try test.finish(run)
        let other = "99999999-2222-4333-8444-555555555555"
        _ = try store.people.assign([assigned.sample.identity], to: other, now: ExportedStore.received)
        var request = RepairRequest(.shift(1_000_000), of: SampleConditions(types: [.heartRate]), now: ExportedStore.received)
        request.conditions.samples = [repaired.sample.identity]
        _ = try store.repairs.apply(request)
        try test.finish(run)
        #expect((target.successors[assigned.sample.identity] == nil) == hasFilter)
        // One that it receives is named.
        let successor = try #require(target.successors[repaired.sample.identity].flatMap { SampleIdentity($0) })
        #expect(target.samples[successor] == 62)
    }

    /// Unsupported samples are never delivered to the target, and are counted, however often a delivery fails.
    @Test(arguments: [0, 1, 2] as [UInt64]) func countsUnsupportedSamplesWithoutDelivery(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let target = ScriptedTarget()
        var expected: Set<SampleIdentity> = []
        let samples = try (0..<200).map { index in
            let isCategory = Int.random(in: 0..<3, using: &random) == 0
            let sample = try test.sample(isCategory ? index % 6 : 60, at: index, of: isCategory ? "sleepAnalysis" : "heartRate")
            if !isCategory { expected.insert(sample.sample.identity) }
            return sample
        }
        try test.add(samples)
        target.mood = {
            Int.random(in: 0..<3, using: &random) == 0 ? ScriptedTarget.Mood.allCases.randomElement(using: &random) : nil
        }
        let run = try test.run(target)
        try test.finish(run)
        #expect(Set(target.samples.keys) == expected)
        #expect(run.target.delivered == 200)
        #expect(run.target.leftOut == 200 - expected.count)
        // They are not differences.
        target.mood = { nil }
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: target, store: store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: expected.count))
        // One that holds all has them.
        let other = ScriptedTarget()
        other.kinds = Set(SampleKind.allCases)
        let whole = try TargetRun(
            TargetSettings(name: "whole"), exporter: other, reader: try SampleStore(path: store.path, access: .read),
            store: store,
            now: { ExportedStore.received })
        try test.finish(whole)
        #expect(other.samples.count == 200 && whole.target.leftOut == 0)
    }

    /// One refused record among many costs few deliveries, and the others are delivered.
    @Test func setsAsideRejectedRecords() throws {
        let target = ScriptedTarget()
        target.batchLimit = 1024
        target.refuses = { $0 == 99 }
        try test.add(try (0..<1024).map { try test.sample($0 == 700 ? 99 : 60, at: $0) })
        let run = try TargetRun(
            TargetSettings(name: "other", batchSize: 1024), exporter: target,
            reader: try SampleStore(path: store.path, access: .read), store: store, now: { ExportedStore.received })
        try test.finish(run)
        #expect(target.samples.count == 1023)
        #expect(target.deliveries <= 1 + 2 * 10)
        let aside = try store.targets.setAside(by: "other")
        #expect(aside.map(\.words) == ["no such value"])
        #expect(try aside.map(\.uuid) == [test.sample(99, at: 700).sample.identity])
        #expect(run.target.delivered == 1023)
    }

    @Test func stopsWhenUnauthorized() throws {
        final class Closed: Exporter {
            let batchLimit = 10
            let address = "closed"
            func check() -> [Finding] { [] }
            func finish() {}
            func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int { throw DeliveryError(.unauthorised, "401") }
        }
        try test.add([try test.sample(60, at: 0)])
        let run = try TargetRun(
            TargetSettings(name: "closed"), exporter: Closed(), reader: try SampleStore(path: store.path, access: .read),
            store: store,
            now: { ExportedStore.received })
        #expect(try run.step() == .stopped)
        let target = try #require(try store.targets.all().first)
        #expect(target.state == .stopped && target.words == "401" && target.backlog?.anchor == .beginning)
        #expect(try run.step() == .stopped)
    }

    /// A proxy answers 404 while the receiver restarts. Only after a while, a person has to act, and the target is still tried again.
    @Test func treatsErrorOfWorkingTargetAsOutage() throws {
        final class Proxied: Exporter {
            let batchLimit = 10
            let address = "proxied"
            var error: DeliveryError?
            func check() -> [Finding] { [] }
            func finish() {}
            func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
                if let error { throw error }
                return 0
            }
        }
        var time = ExportedStore.received
        let exporter = Proxied()
        let run = try TargetRun(
            TargetSettings(name: "proxied"), exporter: exporter, reader: try SampleStore(path: store.path, access: .read),
            store: store, now: { time })
        try test.add([try test.sample(60, at: 0)])
        try test.finish(run)
        exporter.error = DeliveryError(.unfit, "HTTP 404")
        try test.add([try test.sample(61, at: 1)])
        for second in [0, 599] {
            time = Instant(microseconds: ExportedStore.received.microseconds + Int64(second) * 1_000_000)
            guard case .wait = try run.step() else {
                Issue.record("it does not wait at \(second)")
                return
            }
            #expect(run.target.state == .waiting && run.target.words == "HTTP 404")
        }
        time = Instant(microseconds: ExportedStore.received.microseconds + 600_000_000)
        #expect(try run.step() == .stopped)
        #expect(run.target.state == .stopped && run.pauseOfStopped == .seconds(3600))
        exporter.error = nil
        #expect(try run.step() == .stopped)
        run.reconsider()
        try test.finish(run)
        #expect(run.target.delivered == 2 && run.target.state == .delivering)
        // A file that another program has changed is not an outage.
        exporter.error = DeliveryError(.unfit, "changed", isLasting: true)
        try test.add([try test.sample(62, at: 2)])
        #expect(try run.step() == .stopped)
    }

    /// Another filter changes the content, so the user has to confirm it.
    @Test func anotherFilterStopsIt() throws {
        try test.add([try test.sample(60, at: 0)])
        let target = ScriptedTarget()
        try test.finish(try test.run(target))
        let other = TargetSettings(name: "other", filter: .types([.bodyMass]), filterText: "bodyMass")
        let run = try test.run(target, other)
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("targets verify other") == true)
        #expect(target.samples.count == 1)
        let (differences, _) = try TargetComparison(other, exporter: target, store: store, now: { ExportedStore.received })
            .repair()
        #expect(differences == TargetDifferences(equal: 0, missing: 0, surplus: 1, foreign: 0))
        try test.finish(run)
        #expect(target.samples.isEmpty)
    }

    /// A backlog of years does not keep today's readings waiting.
    @Test func deliversNewReadingsBeforeBacklog() throws {
        let target = ScriptedTarget()
        try test.add(try (0..<500).map { try test.sample(60 + $0 % 3, at: $0) })
        let run = try test.run(target)
        _ = try run.step()
        let new = try test.sample(99, at: 1000)
        try test.add([new])
        for _ in 0..<2 { _ = try run.step() }
        #expect(target.samples[new.sample.identity] == 99)
        #expect(target.samples.count < 30)
        try test.finish(run)
        #expect(try target.samples == test.contents())
        #expect(try store.targets.all().first?.backlog == nil)
        #expect(try run.waiting == 0)
    }

    /// In a file of lines, older samples come first.
    @Test func inOneRowWhereOrderCounts() throws {
        let target = ScriptedTarget()
        target.isOrdered = true
        try test.add(try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) })
        let run = try test.run(target)
        _ = try run.step()
        let new = try test.sample(99, at: 1000)
        try test.add([new])
        for _ in 0..<4 { _ = try run.step() }
        #expect(target.samples[new.sample.identity] == nil && target.samples.count == 35)
        try test.finish(run)
        #expect(target.samples.count == 51)
    }

    /// However many records a target refuses, each is set aside, the others are delivered, and only the user drops them.
    @Test(arguments: [300, 7]) func continuesIfAllRecordsAreRejected(limit: Int) throws {
        let target = ScriptedTarget()
        target.batchLimit = limit
        target.refuses = { $0 == 60 }
        try test.add(try (0..<300).map { try test.sample(60, at: $0) })
        let run = try test.run(target)
        for _ in 0..<10 { _ = try run.step() }
        // Live readings are delivered at the same time.
        let live = try test.sample(61, at: 1000)
        try test.add([live])
        try test.finish(run)
        #expect(target.samples == [live.sample.identity: 61])
        #expect(try store.targets.target("other")?.state == .delivering)
        let summary = try store.targets.setAsideSummary(of: "other")
        #expect(summary.count == 300 && summary.words == "no such value")
        target.refuses = { _ in false }
        _ = try store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(target.samples.count == 301)
        #expect(try store.targets.setAsideSummary(of: "other").count == 0)
    }

    /// If a target reports which records of a batch it refused, the others are not sent again.
    @Test func someOfABatch() throws {
        final class Choosy: Exporter {
            let batchLimit = 100
            let address = "choosy"
            var taken: [SampleIdentity] = []
            var deliveries = 0
            func check() -> [Finding] { [] }
            func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
                deliveries += 1
                let old = batch.changes.indices.filter { batch.changes[$0].sample.value < 62 }
                taken += batch.changes.filter { $0.sample.value >= 62 }.map(\.uuid)
                guard old.isEmpty else { throw DeliveryError(.refusedSome(old), "too old") }
                return 0
            }
        }
        let target = Choosy()
        let samples = try (0..<40).map { try test.sample(60 + $0 % 4, at: $0) }
        try test.add(samples)
        let run = try test.run(target)
        try test.finish(run)
        #expect(target.deliveries == 1)
        #expect(Set(target.taken) == Set(samples.filter { $0.sample.value >= 62 }.map(\.sample.identity)))
        #expect(
            try Set(store.targets.setAside(by: "other").map(\.uuid))
                == Set(samples.filter { $0.sample.value < 62 }.map(\.sample.identity)))
        #expect(run.target.delivered == 20)
    }

    /// A repeated record is complete, because a target that keeps one version of a record has to know the record.
    @Test func retriesSetAsideRecordWithIdentifier() throws {
        let target = ScriptedTarget()
        (target.reportsRecords, target.refuses) = (true, { _ in true })
        let record = RecordIdentifier(id: "rec-1", version: 2)
        let sample = try test.sample(60, at: 0, record: record)
        try test.add([sample])
        let run = try test.run(target)
        try test.finish(run)
        #expect(target.samples.isEmpty)
        target.refuses = { _ in false }
        _ = try store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(target.records == [sample.sample.identity: record])
    }

    @Test func retriesSetAsideChanges() throws {
        let target = ScriptedTarget()
        target.refuses = { $0 >= 90 }
        let refused = try (0..<3).map { try test.sample(90 + $0, at: 100 + $0) }
        try test.add(try (0..<20).map { try test.sample(60, at: $0) } + refused)
        let run = try test.run(target)
        try test.finish(run)
        #expect(try store.targets.setAside(by: "other").count == 3)
        // One has been deleted here, which the target is notified of. One is dropped. One is now accepted.
        try test.delete(refused[0])
        try test.finish(run)
        #expect(try store.targets.setAside(by: "other").map(\.uuid) == refused.dropFirst().map(\.sample.identity))
        #expect(try store.targets.skip([refused[1].sample.identity], of: "other") == 1)
        #expect(throws: StoreError.self) { try store.targets.retry([refused[1].sample.identity], of: "other") }
        #expect(try store.targets.retry([], of: "other") == 1)
        try test.finish(run)
        // If it is refused again, it is not sent again automatically.
        #expect(try store.targets.setAside(by: "other").map(\.isRetried) == [false])
        target.refuses = { _ in false }
        _ = try store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(try store.targets.setAside(by: "other").isEmpty)
        #expect(target.samples[refused[2].sample.identity] == 92)
        #expect(target.samples.count == 21)
    }

    /// Samples under a source of the target's own came from there.
    @Test func doesNotReturnSamplesOfTargetsOwnSource() throws {
        try test.add([try test.sample(60, at: 0)])
        let target = ScriptedTarget()
        let run = try test.run(target, TargetSettings(name: "other", ownSources: ["strap"]))
        try test.finish(run)
        #expect(target.samples.isEmpty)
    }

    /// The store is restored from a backup and continues from there. The target contains samples that the store no longer has.
    @Test func aStorePutBackIsNoticed() throws {
        let target = ScriptedTarget()
        try test.add(try (0..<30).map { try test.sample(60, at: $0) })
        try test.finish(try test.run(target))
        let copy = test.folder.file("copy.db")
        try store.backup(to: copy)
        let lost = try test.sample(70, at: 500)
        try test.add([lost])
        try test.delete(try test.sample(60, at: 3))
        try test.finish(try test.run(target))
        #expect(target.samples.count == 30)
        let old = try SampleStore(path: copy, access: .write)
        let run = try TargetRun(
            TargetSettings(name: "other"), exporter: target, reader: try SampleStore(path: copy, access: .read), store: old,
            now: { ExportedStore.received })
        // The backup is older and contains its cursor. The samples that the target has in addition are unknown.
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("targets verify other") == true)
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: target, store: old, now: { ExportedStore.received })
        let (differences, refused) = try comparison.repair()
        #expect(differences == TargetDifferences(equal: 29, missing: 1, surplus: 0, foreign: 1))
        #expect(refused == 0)
        #expect(target.samples[lost.sample.identity] == 70)
        #expect(target.samples.count == 31)
    }

    /// Whatever another program changes in a target, comparing corrects it.
    @Test(arguments: 0..<20) func comparingMendsIt(seed: UInt64) throws {
        var random: any RandomNumberGenerator = SeededGenerator(seed: seed)
        func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }
        let target = ScriptedTarget()
        let all = try (0..<40).map { try test.sample(60 + $0 % 3, at: $0) }
        try test.add(all)
        let run = try test.run(target)
        try test.finish(run)
        for _ in 0..<10 { try? test.delete(all[roll(40)]) }
        if roll(2) == 0 { try test.finish(run) }
        let foreign = try test.sample(99, at: 5000).sample.identity
        target.meddle { stored in
            for _ in 0..<10 { stored[all[roll(40)].sample.identity] = roll(2) == 0 ? nil : 60 }
            stored[foreign] = 99
        }
        let comparison = TargetComparison(
            TargetSettings(name: "other", batchSize: 4), exporter: target, store: store, now: { ExportedStore.received })
        let differences = try comparison.compare()
        #expect(try comparison.repair().differences == differences)
        #expect(differences.foreign == 1)
        #expect(try Set(target.samples.keys) == Set(test.contents().keys).union([foreign]))
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count, missing: 0, surplus: 0, foreign: 1))
        try test.finish(run)
        #expect(try Set(target.samples.keys) == Set(test.contents().keys).union([foreign]))
    }

    /// Large samples are sent in smaller batches, because a whole batch is in memory during its delivery.
    @Test func bodiesWeigh() throws {
        let test = try ExportedStore()
        let target = ScriptedTarget()
        target.kinds = Set(SampleKind.allCases)
        target.batchLimit = 100
        var random = SeededGenerator(seed: 2)
        for number in 0..<6 {
            var sample = try test.object(.document, number, at: number)
            let text = (0..<(1 << 20)).map { _ in UInt8.random(in: 0x40...0x7E, using: &random) }
            let bytes = Array("<ClinicalDocument>".utf8) + text + Array("</ClinicalDocument>".utf8)
            sample.sample.body = try SampleBody(
                encoding: ClinicalDocument(title: "", patient: "", custodian: "", author: "", valid: false),
                content: PackedContent(bytes))
            try test.add([sample])
        }
        try test.finish(try test.run(target))
        #expect(target.samples.count == 6)
        #expect(target.deliveries >= 2)
    }

    /// Samples with unsupported values are not reported as missing.
    @Test func comparisonIgnoresUnsupportedValues() throws {
        let test = try ExportedStore()
        let target = ScriptedTarget()
        target.kinds = [.quantity, .category]
        target.hasPlace = { $0.value != 2 }
        try test.add(try [1, 2, 3].map { try test.sample($0, at: $0, of: "sleepAnalysis") })
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: target, store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(missing: 2))
    }

    /// Few values at few times, so that the same sample is added, deleted and added again. Failures of all kinds, kills between a delivery
    /// and its cursor, and a target that an earlier run filled halfway.
    @Test(arguments: 0..<40) func survivesRandomFailures(seed: UInt64) throws {
        var random: any RandomNumberGenerator = SeededGenerator(seed: seed)
        func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }
        let target = ScriptedTarget()
        target.refuses = { $0 == 63 }
        target.mood = { roll(3) == 0 ? ScriptedTarget.Mood.allCases[roll(5)] : nil }
        let readOnly = try SampleStore(path: store.path, access: .read)
        var current = try test.run(target)
        for _ in 0..<60 {
            switch roll(6) {
            case 0, 1: try test.add(try (0..<1 + roll(12)).map { _ in try test.sample(60 + roll(4), at: roll(30)) })
            case 2:
                let known = try test.contents().keys.sorted { $0.description < $1.description }
                if !known.isEmpty {
                    _ = try store.samples.delete([known[roll(known.count)]], description: test.description(.delete))
                }
            case 3:
                let deleted = try test.sample(60 + roll(4), at: roll(30)).sample.identity
                _ = try? store.samples.restore([deleted], description: test.description(.restore))
            case 4:
                // Killed after a delivery: the cursor does not move.
                let killed = try test.run(target, keeping: readOnly)
                do {
                    for _ in 0..<3 { _ = try killed.step() }
                } catch is StoreError {}
                current = try test.run(target)
            default: _ = try current.step()
            }
        }
        target.mood = { nil }
        try test.finish(try test.run(target))
        #expect(try target.samples == test.contents().filter { $0.value != 63 })
        #expect(try store.check().isEmpty)
    }

    /// A target is unreachable for an hour, measured by the delays, while twenty straps deliver. It is contacted rarely, and misses
    /// nothing.
    @Test func anHourWithoutIt() throws {
        let target = ScriptedTarget()
        target.batchLimit = 1000
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(target)
        try test.finish(run)
        target.mood = { .deleted }
        var (seconds, asked, reported) = (0.0, 0, 0)
        while seconds < 3600 {
            // The readings of that time: half a minute of twenty straps at once.
            let due = Int(seconds / 30)
            while reported < due {
                reported += 1
                try test.add(try (0..<20).map { try test.sample(60 + $0, at: reported * 30 + $0) })
            }
            guard case .wait(let pause) = try run.step() else {
                // Nothing has come yet.
                seconds += 1
                continue
            }
            #expect(pause <= .seconds(300))
            asked += 1
            seconds += max(0.001, Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18)
        }
        #expect(asked < 60, "it is left alone more and more")
        #expect(run.target.state == .waiting)
        #expect(target.samples.count == 1)
        target.mood = { nil }
        try test.finish(run)
        #expect(try target.samples == test.contents())
        #expect(try test.contents().count > 2000)
    }

    /// Every third request is refused, whatever it contains. Every fourth is accepted, but its answer is lost.
    @Test func everyThirdRequest() throws {
        let target = ScriptedTarget()
        try test.add(try (0..<300).map { try test.sample(60 + $0 % 4, at: $0) })
        let run = try test.run(target)
        target.mood = { target.deliveries % 3 == 0 ? .deleted : target.deliveries % 4 == 0 ? .deaf : nil }
        try test.finish(run)
        #expect(try target.samples == test.contents())
        // It has lost its memory.
        target.meddle { $0.removeAll() }
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: target, store: test.store, now: { ExportedStore.received })
        target.mood = { nil }
        #expect(try comparison.repair().differences.missing == 300)
        #expect(try target.samples == test.contents())
    }
}
