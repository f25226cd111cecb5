import EventLoopKit
import HealthModel
import Testing

@testable import Hub
@testable import SampleStore

/// A hub whose store takes nothing for a while.
@Suite struct LockedStoreTests {
    /// 36.6 °C of a Temperature Measurement without a time.
    private static let frame: [UInt8] = [0, 0x6E, 0x01, 0x00, 0xFF]

    private func bench() throws -> RadioBench {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        return bench
    }

    /// Another program's connection, in the middle of a change.
    private func locked(_ bench: RadioBench) throws -> SampleStore {
        let other = try SampleStore(path: bench.store.path, access: .write)
        try other.connection.execute("BEGIN IMMEDIATE")
        return other
    }

    private func reported(_ bench: RadioBench) -> [SourceNotice] { bench.notices.filter { $0.component == "store" } }

    /// A repair of ten years of readings runs in between. New readings wait, are tried again every second, and are stored once.
    @Test func anotherProgramInTheMiddleOfAChange() throws {
        let bench = try bench()
        let other = try locked(bench)
        bench.receive("gatt:2A1C", Self.frame)
        for _ in 1...10 { bench.pass(.seconds(1)) }
        #expect(bench.live.failures == 10 && bench.live.waitingSamples == 1)
        #expect(!bench.live.isStuck, "to start the hub again would lose the reading")
        #expect(reported(bench).isEmpty, "imports take as long")
        for _ in 1...10 { bench.pass(.seconds(1)) }
        #expect(reported(bench).map(\.weight) == [.action], "once")
        try other.connection.execute("COMMIT")
        bench.pass(.seconds(1))
        #expect(reported(bench).map(\.weight) == [.action, .information])
        #expect(bench.live.waitingSamples == 0 && bench.live.failures == 0)
        #expect(try bench.samples().count == 1)
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
    }

    /// A short lock is not reported.
    @Test func doesNotReportShortLock() throws {
        let bench = try bench()
        let other = try locked(bench)
        bench.receive("gatt:2A1C", Self.frame)
        for _ in 1...3 { bench.pass(.seconds(1)) }
        try other.connection.execute("COMMIT")
        bench.pass(.seconds(1))
        #expect(reported(bench).isEmpty)
        try bench.stop()
        #expect(try bench.samples().count == 1)
    }

    /// The kernel remounts a damaged file system read-only. Restarting the hub may help.
    @Test func reportsReadOnlyStore() throws {
        let bench = try bench()
        try bench.store.connection.execute("PRAGMA query_only = 1")
        bench.receive("gatt:2A1C", Self.frame)
        bench.pass(.seconds(1))
        #expect(bench.live.isStuck)
        #expect(reported(bench).map(\.weight) == [.action], "at once")
        try bench.store.connection.execute("PRAGMA query_only = 0")
        bench.pass(.seconds(1))
        #expect(!bench.live.isStuck)
        try bench.stop()
        #expect(try bench.samples().count == 1)
    }

    /// Each way of failing is spoken of, however the store failed before, and so is the end of it.
    @Test func onceInTheWayAndThenUnwritable() throws {
        let bench = try bench()
        let other = try locked(bench)
        bench.receive("gatt:2A1C", Self.frame)
        for _ in 1...20 { bench.pass(.seconds(1)) }
        try other.connection.execute("COMMIT")
        try bench.store.connection.execute("PRAGMA query_only = 1")
        bench.pass(.seconds(1))
        #expect(reported(bench).map(\.weight) == [.action, .action])
        #expect(bench.live.failures == 1 && bench.live.isStuck)
        try other.connection.execute("BEGIN IMMEDIATE")
        try bench.store.connection.execute("PRAGMA query_only = 0")
        bench.pass(.seconds(1))
        #expect(reported(bench).count == 2, "that lock may be short")
        for _ in 1...20 { bench.pass(.seconds(1)) }
        #expect(reported(bench).map(\.weight) == [.action, .action, .action])
        try other.connection.execute("COMMIT")
        bench.pass(.seconds(1))
        #expect(reported(bench).map(\.weight) == [.action, .action, .action, .information])
        try bench.stop()
        #expect(try bench.samples().count == 1)
    }
}
