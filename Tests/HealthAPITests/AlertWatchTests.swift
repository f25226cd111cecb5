import Glibc
import HealthModel
import HealthServingTesting
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthServing

/// Alerts are checked after a commit and when a reading is missing, and never otherwise.
@Suite struct AlertWatchTests {
    private let folder: TemporaryFolder
    private let store: SampleStore
    private let checks = Counter()
    private let reports = Reports()
    private let clock = Clock()

    private final class Counter: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    /// The reports that alerts are not evaluated, or that they are again.
    private final class Reports: Sendable {
        private let errors = Mutex<[String?]>([])
        var all: [String?] { errors.withLock { $0 } }
        func add(_ error: String?) { errors.withLock { $0.append(error) } }
    }

    private final class Clock: Sendable {
        private let time = Mutex((now: ServedStore.now, uptime: Duration.seconds(1000)))
        var now: Instant { time.withLock { $0.now } }
        var uptime: Duration { time.withLock { $0.uptime } }
        /// Time passes, or only the clock is set.
        func pass(_ seconds: Int, setsClockOnly: Bool = false) {
            time.withLock {
                $0.now = Instant(microseconds: $0.now.microseconds + Int64(seconds) * 1_000_000)
                if !setsClockOnly { $0.uptime += .seconds(seconds) }
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: ServedStore.person, time: 0))
    }

    private func watch(quiet: Duration = .zero, idle: Duration = .seconds(600)) throws -> AlertWatch {
        var limits = AlertWatch.Limits()
        (limits.idle, limits.retry) = (idle, .milliseconds(50))
        (limits.pause, limits.settling, limits.quiet) = (.milliseconds(1), .zero, quiet)
        return AlertWatch(
            path: store.path, bell: try CommitBell(store: store.path), limits: limits, now: { [clock] in clock.now },
            uptime: { [clock] in clock.uptime }, onCheck: { [checks] in checks.add() },
            onFailure: { [reports] in reports.add($0) })
    }

    private func eventually(_ isSo: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<60_000 {
            if try isSo() { return true }
            usleep(5000)
        }
        return false
    }

    private func addAlert(hours: Double) throws {
        try store.alerts.add(of: ServedStore.person, type: .heartRate, .missing, bound: hours, at: clock.now)
    }

    private var isRaised: Bool { (try? store.alerts.all().first?.raised) != nil }

    @Test func anIdleStoreIsNotChecked() throws {
        let watch = try watch()
        defer { watch.stop() }
        #expect(eventually { checks.count > 0 })
        try addAlert(hours: 100)
        usleep(300_000)
        let count = checks.count
        // The check that followed the commit closed nothing and wrote nothing, which would ring the bell again.
        usleep(1_000_000)
        #expect(checks.count == count && count < 10)
        try addAlert(hours: 200)
        #expect(eventually { checks.count > count })
    }

    @Test func aMissingReadingWakesIt() throws {
        try addAlert(hours: 0.0001)
        let watch = try watch()
        defer { watch.stop() }
        #expect(eventually { checks.count > 0 })
        #expect(!isRaised)
        clock.pass(1)
        // No commit: the timer of 0.36 s.
        #expect(eventually { isRaised })
    }

    @Test func aStartIsQuiet() throws {
        try addAlert(hours: 1)
        clock.pass(7200)
        let watch = try watch(quiet: .milliseconds(500))
        defer { watch.stop() }
        #expect(eventually { checks.count > 0 })
        #expect(!isRaised)
        clock.pass(1)
        #expect(eventually { isRaised })
    }

    /// A disk that is away makes no commits. It is found and reported once after a minute, and its return, too.
    @Test func reportsAMissingStore() throws {
        try addAlert(hours: 100)
        let watch = try watch(idle: .milliseconds(50))
        defer { watch.stop() }
        #expect(eventually { checks.count > 1 })
        try #require(rename(store.path, store.path + ".away") == 0)
        usleep(300_000)
        #expect(reports.all.isEmpty)
        clock.pass(61)
        #expect(eventually { reports.all.count == 1 })
        usleep(300_000)
        #expect(reports.all.count == 1 && reports.all.first != .some(nil))
        try #require(rename(store.path + ".away", store.path) == 0)
        #expect(eventually { reports.all.count == 2 })
        #expect(reports.all.last == .some(nil))
    }

    @Test func clockStepRestartsQuietTime() {
        var quiet = QuietTime(.seconds(300), now: clock.now, uptime: clock.uptime)
        func remaining() -> Duration? { quiet.remaining(now: clock.now, uptime: clock.uptime).rest }
        #expect(remaining() == .seconds(300))
        clock.pass(100)
        #expect(remaining() == .seconds(200))
        clock.pass(200)
        #expect(remaining() == nil)
        // A correction of seconds is none.
        clock.pass(5, setsClockOnly: true)
        #expect(remaining() == nil)
        for step in [86_400, -86_400, 3600] {
            clock.pass(step, setsClockOnly: true)
            #expect(remaining() == .seconds(300))
            clock.pass(300)
            #expect(remaining() == nil)
        }
    }
}
