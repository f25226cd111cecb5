import EventLoopKit
import FoundationEssentials
import Glibc
import HealthModel
import HubBackup
import Ingestion
import PipelineTesting
import SampleStore
import Testing

@testable import Hub

/// The hub starts its backups by itself, by a clock that the test sets.
@Suite final class BackupProcessTests {
    private let folder: TemporaryFolder
    private let clock = RadioBench.Clock()
    private let loop: EventLoop
    private let store: SampleStore
    private let backups: BackupProcess
    private var isClockRight = true
    private var notices: [String] = []

    init() throws {
        folder = try TemporaryFolder()
        loop = EventLoop(clock: clock)
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
        var isRight: () -> Bool = { true }
        backups = BackupProcess(loop: loop, store: store) { isRight() }
        isRight = { [unowned self] in isClockRight }
        backups.onNotice = { [unowned self] in notices.append("\($0)") }
        clock.now = try time(12)
        mkdir(folder.file("usb"), 0o755)
        try connect()
    }

    /// 2026-11-20 at an hour of a zone that is an hour ahead of UTC.
    private func time(_ hour: Double, day: Int64 = 20) throws -> Instant {
        let start = try #require(try Timestamp(iso8601: "2026-11-\(day)T00:00:00+01:00").instant)
        return Instant(microseconds: start.microseconds + Int64(hour * 3_600_000_000))
    }

    private func connect() throws { try SmallFile.replace(folder.file("usb/config"), with: "x", mode: 0o600) }

    private func start(_ script: String = "exit 0") throws {
        let text = "{\"locations\": {\"usb\": {\"location\": \"\(folder.file("usb"))\"}}}"
        let configuration = try JSONDecoder().decode(BackupConfiguration.self, from: Data(text.utf8))
        backups.run(
            ["/bin/sh", "-c", "printf x >> '\(folder.file("runs"))'; \(script)"], configuration,
            zone: TimeZoneRules(fixed: ZoneOffset(seconds: 3600)))
    }

    /// Sets the clock to a time, and returns how often the program has run since the beginning.
    private func runs(at time: Instant, expecting count: Int) throws -> Int {
        clock.uptime += .microseconds(max(0, time.microseconds - clock.now.microseconds))
        clock.now = time
        func written() -> Int { (SmallFile.read(folder.file("runs"), limit: 100) ?? []).count }
        // The limit of five minutes only ends a test that would hang.
        for _ in 0..<60_000 {
            loop.turn(maximumWait: .milliseconds(5))
            if written() >= count { break }
        }
        // The end of the process itself, or one that should not have begun.
        for _ in 0..<20 { loop.turn(maximumWait: .milliseconds(5)) }
        return written()
    }

    private func change(_ body: (inout BackupState.Place) -> Void) throws {
        try BackupState.change("usb", ofStore: StatusSocket.canonical(store.path), body)
    }

    private var place: BackupState.Place {
        BackupState(ofStore: StatusSocket.canonical(store.path)).places["usb"] ?? BackupState.Place()
    }

    /// As if the program had made and proven a backup.
    private func succeed(at time: Instant) throws {
        try change { place in
            (place.made, place.tried, place.proven, place.drillTried) = (
                time.microseconds, time.microseconds, time.microseconds, time.microseconds
            )
        }
    }

    @Test func eachNightAndADrillEachWeek() throws {
        try start()
        #expect(try runs(at: time(12 + 1 / 60), expecting: 0) == 0, "the hub has only just started")
        #expect(try runs(at: time(12.1), expecting: 1) == 1, "there is no backup yet")
        try succeed(at: time(12.1))
        #expect(try runs(at: time(20), expecting: 1) == 1)
        #expect(try runs(at: time(24 + 3.4), expecting: 1) == 1)
        #expect(try runs(at: time(24 + 3.6), expecting: 2) == 2, "it is half past three")
        try succeed(at: time(24 + 3.6))
        #expect(try runs(at: time(24 + 5), expecting: 2) == 2)
        // Only the drill is due.
        try change { $0.drillTried = try? time(24 + 4, day: 13).microseconds }
        #expect(try runs(at: time(24 + 5.1), expecting: 3) == 3)
        try succeed(at: time(24 + 5.1))
        // Nobody has set the clock.
        isClockRight = false
        #expect(try runs(at: time(48 + 4), expecting: 3) == 3)
        isClockRight = true
        #expect(try runs(at: time(48 + 4.1), expecting: 4) == 4)
        backups.stop()
        #expect(try runs(at: time(72 + 4.1), expecting: 4) == 4)
        #expect(notices.isEmpty, "\(notices)")
    }

    @Test func waitsForAMissingDisk() throws {
        unlink(folder.file("usb/config"))
        try start()
        #expect(try runs(at: time(12.1), expecting: 0) == 0)
        #expect(try runs(at: time(12.5), expecting: 0) == 0)
        #expect(notices.count == 1 && notices[0].contains("usb is not connected"), "\(notices)")
        #expect(try place.away == time(12.1).microseconds)
        try connect()
        #expect(try runs(at: time(12.6), expecting: 1) == 1)
    }

    /// For example for lack of memory. It is tried again later and later, and not every five minutes.
    @Test func recordsAKilledProcess() throws {
        try start("kill -9 $$")
        #expect(try runs(at: time(12.1), expecting: 1) == 1)
        #expect(place.failures == 1 && place.failure == "the process ended (signal 9)")
        #expect(notices == ["backup: the process ended (signal 9)"])
        #expect(try runs(at: time(12.3), expecting: 1) == 1)
        #expect(try runs(at: time(12.4), expecting: 2) == 2)
        #expect(place.failures == 2)
    }
}
