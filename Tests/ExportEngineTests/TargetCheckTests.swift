import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import ExportEngine

/// A cursor is valid only for the target that was filled, as it was, by the store that filled it.
@Suite struct TargetCheckTests {
    private let test: ExportedStore
    private let target = ScriptedTarget()
    private var store: SampleStore { test.store }

    init() throws {
        test = try ExportedStore()
        try test.add(try (0..<30).map { try test.sample(60 + $0 % 3, at: $0) })
    }

    private func settings(_ holder: String = "", shape: String = "") -> TargetSettings {
        TargetSettings(
            name: "other", shapeText: shape, holder: StoreHolder(id: holder, name: holder.isEmpty ? "" : "'\(holder)'"))
    }

    private func comparison(_ settings: TargetSettings? = nil) -> TargetComparison {
        TargetComparison(settings ?? self.settings(), exporter: target, store: store, now: { ExportedStore.received })
    }

    /// Stopped with a message that explains what to do. Nothing was delivered.
    private func expectStopped(_ run: TargetRun, _ words: String) throws {
        let before = target.samples
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains(words) == true, "\(run.target.words ?? "")")
        #expect(run.target.words?.contains("vitalgate ") == true)
        #expect(target.samples == before)
        #expect(try store.targets.target("other")?.state == .stopped)
    }

    /// Another database, folder or host with the same name, or one that was dropped and created again.
    @Test func anotherTargetUnderTheSameName() throws {
        try test.finish(try test.run(target))
        target.meddle { $0.removeAll() }
        (target.identity, target.mark) = ("another", nil)
        let run = try test.run(target)
        try expectStopped(run, "another one with the same name")
        // The user confirms the change.
        #expect(try comparison().repair().differences == TargetDifferences(missing: 30))
        try test.add([try test.sample(99, at: 500)])
        try test.finish(run)
        #expect(try target.samples == test.contents())
    }

    /// A target without an identity is identified by its address.
    @Test func anotherAddress() throws {
        target.storesMarks = false
        try test.finish(try test.run(target))
        target.address = "elsewhere"
        target.meddle { $0.removeAll() }
        let run = try test.run(target)
        try expectStopped(run, "its address differs")
        try store.targets.restart(target: "other", isOrdered: false, filter: "", at: ExportedStore.received)
        try test.finish(run)
        #expect(try target.samples == test.contents())
    }

    /// The target was restored to a time before its last delivery, or before any delivery.
    @Test(arguments: [false, true]) func aTargetPutBack(wholly: Bool) throws {
        let run = try test.run(target)
        try test.finish(run)
        let (samples, mark) = (target.samples, target.mark)
        try test.add([try test.sample(99, at: 500)])
        try test.finish(run)
        target.meddle { $0 = samples }
        target.mark = wholly ? nil : mark
        try expectStopped(try test.run(target), wholly ? "it no longer contains" : "restored from a backup")
        #expect(try comparison().repair().differences == TargetDifferences(equal: 30, missing: 1))
        try test.finish(try test.run(target))
        #expect(try target.samples == test.contents())
    }

    /// The next target that a run connects to is also compared.
    @Test func aTargetPutBackWhileItRuns() throws {
        let run = try test.run(target)
        try test.finish(run)
        let (samples, mark) = (target.samples, target.mark)
        try test.add([try test.sample(99, at: 500)])
        try test.finish(run)
        target.meddle { $0 = samples }
        target.mark = mark
        try test.add([try test.sample(98, at: 501)])
        guard case .wait = try run.step() else { return #expect(Bool(false), "it went on") }
        try expectStopped(run, "restored from a backup")
    }

    /// A store that was put back, and a copy with the same fingerprint: the target has changes that it never made.
    @Test func changesThatTheStoreNeverMade() throws {
        try test.finish(try test.run(target))
        let mark = try #require(target.mark)
        target.mark = TargetMark(
            identity: mark.identity, count: mark.count + 1, anchor: "0123456789abcdef-77", holder: mark.holder)
        try expectStopped(try test.run(target), "changes that this store never made")
    }

    /// A store that was put back from before the first delivery knows nothing of the target, which knows it.
    @Test func aStoreFromBeforeTheFirstDelivery() throws {
        try test.finish(try test.run(target))
        try store.targets.forget(target: "other")
        let mark = try #require(target.mark)
        target.mark = TargetMark(identity: mark.identity, count: mark.count, anchor: "0123456789abcdef-77", holder: mark.holder)
        let run = try test.run(target)
        try expectStopped(run, "changes that this store never made")
        try store.targets.restart(target: "other", isOrdered: false, filter: "", at: ExportedStore.received)
        try test.finish(try test.run(target))
        #expect(try target.samples == test.contents())
    }

    /// If an answer was lost, the target is ahead because of our own delivery.
    @Test func continuesAfterLostAnswer() throws {
        let run = try test.run(target)
        target.mood = { .deaf }
        for _ in 0..<3 { _ = try run.step() }
        target.mood = { nil }
        try test.finish(try test.run(target))
        #expect(try target.samples == test.contents())
    }

    /// A copy of a store at another place: the second one is refused with both names, until a person decides.
    @Test func aCopyOfTheStore() throws {
        try test.finish(try test.run(target, settings("one")))
        let run = try test.run(target, settings("two"))
        try expectStopped(run, "the same store sends to it from 'one', and this is 'two'")
        #expect(throws: DeliveryError.self) { try comparison(settings("two")).repair() }
        // The first one continues.
        try test.add([try test.sample(99, at: 500)])
        let first = try test.run(target, settings("one"))
        #expect(try first.step() == .more)
        // It has moved: the other one is refused from now on.
        var moved = settings("two")
        moved.takesOver = true
        try test.finish(try test.run(target, moved))
        try expectStopped(try test.run(target, settings("one")), "from 'two', and this is 'one'")
    }

    /// A run whose clock is this many days after the first one's.
    private func run(_ holder: String, day: Int64, clock: Clock = Clock(), isClockSet: Bool = true) throws -> TargetRun {
        clock.day = day
        return try TargetRun(
            settings(holder), exporter: target, reader: try SampleStore(path: store.path, access: .read), store: store,
            generator: SeededGenerator(seed: 1), now: { clock.now }, isClockSet: { isClockSet })
    }

    private final class Clock {
        var day: Int64 = 0
        var now: Instant { Instant(microseconds: ExportedStore.received.microseconds + day * 86_400_000_000) }
    }

    /// A hub that is gone does not block its successor. If it returns, it is refused.
    @Test func aClaimExpires() throws {
        try test.finish(try run("one", day: 0))
        try expectStopped(try run("two", day: 30), "the same store sends to it from 'one', and this is 'two'")
        try test.add([try test.sample(99, at: 500)])
        try test.finish(try run("two", day: 31))
        #expect(try target.samples == test.contents())
        try expectStopped(try run("one", day: 32), "the same store sends to it from 'two', and this is 'one'")
    }

    /// A clock that is not set, such as one that starts in 1970 or runs ahead, neither ends a claim nor dates one.
    @Test func unsetClockEndsNoClaim() throws {
        try test.finish(try run("one", day: 0))
        try expectStopped(
            try run("two", day: 3000, isClockSet: false), "the same store sends to it from 'one', and this is 'two'")
        try test.add([try test.sample(99, at: 500)])
        try test.finish(try run("one", day: -20_000, isClockSet: false))
        #expect(target.mark?.time == nil)
        try expectStopped(try run("two", day: 400), "the same store sends to it from 'one', and this is 'two'")
        // Once it is set, the claim is dated, and expires.
        try test.add([try test.sample(98, at: 600)])
        try test.finish(try run("one", day: 2))
        try test.finish(try run("two", day: 33))
        #expect(try target.samples == test.contents())
    }

    /// A hub that is there and has nothing to deliver keeps its claim.
    @Test func aClaimIsRenewed() throws {
        let clock = Clock()
        let first = try run("one", day: 0, clock: clock)
        try test.finish(first)
        #expect(try first.step() == .upToDate(again: .seconds(86_400)))
        let mark = target.mark
        #expect(try first.step() == .upToDate(again: .seconds(86_400)))
        #expect(target.mark == mark)
        clock.day = 20
        #expect(try first.step() == .upToDate(again: .seconds(86_400)))
        try expectStopped(try run("two", day: 40), "the same store sends to it from 'one', and this is 'two'")
    }

    /// A target that was known by its address and now reports an identity is the same target.
    @Test func acceptsIdentityReportedLater() throws {
        target.storesMarks = false
        try test.finish(try test.run(target))
        target.storesMarks = true
        try test.add([try test.sample(99, at: 500)])
        try test.finish(try test.run(target))
        #expect(try target.samples == test.contents())
        #expect(try store.targets.target("other")?.identity == "itself")
    }

    @Test func copiedStoreAdoptsNewIdentity() throws {
        try test.finish(try test.run(target, settings("one")))
        let name = store.identifier
        #expect(try store.targets.adoptIdentity() != name)
        #expect(try store.targets.all().isEmpty)
        #expect(try SampleStore(path: store.path, access: .read).identifier != name)
    }

    /// Settings that change the stored content stop the target until it is rewritten, by comparing or by restarting.
    @Test(arguments: [false, true]) func otherSettings(byComparing: Bool) throws {
        try test.finish(try test.run(target, settings(shape: "units.heartRate=/min")))
        target.factor = 2
        let other = settings(shape: "units.heartRate=/s")
        let run = try test.run(target, other)
        try test.add([try test.sample(99, at: 500)])
        try expectStopped(
            run, "filled with other settings (units.heartRate=/min) than the configuration has now (units.heartRate=/s)")
        if byComparing {
            #expect(try comparison(other).compare() == TargetDifferences(missing: 1, differing: 30))
            #expect(try comparison(other).repair().differences == TargetDifferences(missing: 1, differing: 30))
        } else {
            try store.targets.restart(target: "other", isOrdered: false, filter: "", at: ExportedStore.received)
        }
        try test.finish(try test.run(target, other))
        #expect(try target.samples == test.contents().mapValues { $0 * 2 })
        #expect(try comparison(other).compare() == TargetDifferences(equal: 31))
    }

    /// Changes made by others are found by comparing the content, and corrected.
    @Test func otherContent() throws {
        try test.finish(try test.run(target))
        let one = try #require(target.samples.keys.first)
        target.meddle { $0[one] = 1 }
        #expect(try comparison().repair().differences == TargetDifferences(equal: 29, differing: 1))
        #expect(try target.samples == test.contents())
    }
}
