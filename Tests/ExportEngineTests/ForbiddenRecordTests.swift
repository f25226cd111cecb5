import ExportEngine
import ExportTesting
import HealthModel
import Pipeline
import SampleStore
import Testing

/// A target that answers 403 for some records gets the others. One that answers 403 for everything is stopped.
@Suite struct ForbiddenRecordTests {
    private let test: ExportedStore
    private let target = ScriptedTarget()

    init() throws { test = try ExportedStore() }

    /// - Parameter count: The number of records that are forbidden, before 50 that are not.
    @Test(arguments: [1, 100], [7, 1000]) func aForbiddenKindIsSetAside(count: Int, limit: Int) throws {
        target.batchLimit = limit
        target.forbids = { $0 == 60 }
        try test.add(try (0..<count + 50).map { try test.sample($0 < count ? 60 : 61, at: $0) })
        let run = try test.run(target)
        try test.finish(run)
        #expect(target.samples.count == 50)
        #expect(try test.store.targets.target("other")?.state == .delivering)
        #expect(try test.store.targets.setAsideSummary(of: "other").count == count)
        #expect(try test.store.targets.setAsideSummary(of: "other").words == "HTTP 403")
        // Later records go on, and forbidden ones of a batch of their own are set aside too.
        try test.add([try test.sample(60, at: 5000)])
        try test.finish(run)
        try test.add([try test.sample(61, at: 5001)])
        try test.finish(run)
        #expect(target.samples.count == 51)
        #expect(try test.store.targets.setAsideSummary(of: "other").count == count + 1)
    }

    @Test func stopsIfTargetForbidsEverything() throws {
        target.batchLimit = 1000
        target.isClosed = true
        try test.add(try (0..<300).map { try test.sample(60, at: $0) })
        let run = try test.run(target)
        #expect(try run.step() == .stopped)
        #expect(try test.store.targets.target("other")?.state == .stopped)
        #expect(try test.store.targets.target("other")?.words == "HTTP 403")
        #expect(try test.store.targets.setAsideSummary(of: "other").count == 0)
        #expect(target.deliveries == 1 && target.accessChecks == 1)
        #expect(try run.step() == .stopped)
        #expect(target.deliveries == 1)
        // An exporter that is started again tries once.
        target.isClosed = false
        try test.finish(try test.run(target))
        #expect(target.samples.count == 300)
    }

    /// A comparison sets the forbidden records aside too.
    @Test func comparisonSetsAsideForbiddenRecords() throws {
        target.forbids = { $0 == 60 }
        try test.add(try (0..<40).map { try test.sample(60 + $0 % 2, at: $0) })
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: target, store: test.store, now: { ExportedStore.received })
        #expect(try comparison.repair().refused == 20)
        #expect(target.samples.count == 20)
        #expect(target.accessChecks <= 6)
    }
}
