import Glibc
import PipelineTesting
import Testing

/// Messages of the real hub to the service manager that started it.
@Suite struct ServiceManagerTests {
    let folder: TestFolder
    let manager: NotifySocket

    init() throws {
        folder = try TestFolder()
        manager = try NotifySocket(folder.path("notify"))
    }

    /// - Parameter watchdog: in microseconds.
    private func start(watchdog: Int? = nil) throws -> RunningVitalgate {
        var environment = ["NOTIFY_SOCKET": manager.path]
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog)" }
        return try RunningVitalgate(
            try folder.options() + ["run", "--inbox", folder.path("inbox")],
            environment: Vitalgate.environment(home: folder.root, environment))
    }

    @Test func notifiesSystemdOfStateChanges() throws {
        let hub = try start()
        let ready = try manager.next()
        #expect(ready.hasPrefix("READY=1\nSTATUS="), "\(ready)")
        #expect(ready.contains("of 3 sources running, 0 devices adopted, 0 heard since the start"), "\(ready)")
        #expect(folder.exists("inbox/refused"), "it is ready once the inbox is watched")
        let before = monotonic()
        hub.signal(SIGHUP)
        try manager.waits(for: "RELOADING=1")
        let time = manager.messages.last?.split(separator: "MONOTONIC_USEC=").last.flatMap { Int64($0) } ?? 0
        #expect(before <= time && time <= monotonic())
        try manager.waits(for: "READY=1")
        hub.signal(SIGTERM)
        try manager.waits(for: "STOPPING=1")
        #expect(try hub.wait().status == 0)
        #expect(!(manager.messages + manager.rest()).contains("WATCHDOG=1"), "nobody keeps a watchdog")
    }

    @Test func failedReloadEnds() throws {
        let hub = try start()
        try manager.waits(for: "READY=1")
        try folder.write("config.json5", "{ hub: ")
        hub.signal(SIGHUP)
        try manager.waits(for: "RELOADING=1")
        try manager.waits(for: "READY=1")
        #expect(hub.errors.contains("settings not reloaded"))
        hub.signal(SIGTERM)
        #expect(try hub.wait().status == 0)
    }

    /// Story 12: a hub that has nothing to do is well.
    @Test func aHubAtRestFeedsTheWatchdog() throws {
        let hub = try start(watchdog: 200_000)
        try manager.waits(for: "READY=1")
        for _ in 1...5 { try manager.waits(for: "WATCHDOG=1") }
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.isEmpty, "nothing came, nothing is written")
        hub.signal(SIGTERM)
        #expect(try hub.wait().status == 0)
    }

    /// Another program holds the store's lock, as a long repair does: readings wait, the hub answers, and starting it again would lose
    /// what waits.
    @Test func waitsForLockedStore() throws {
        let pty = try Pty()
        let adopted = try folder.vitalgate("devices", "adopt", pty.path, "--profile", "generic-lines", "--name", "Annas Waage")
        #expect(adopted.status == 0, "\(adopted.errors)")
        let hub = try start(watchdog: 200_000)
        try manager.waits(for: "READY=1")
        let lock = try StoreLock(folder.store)
        pty.write("bodyMass=81.25 kg\n")
        try manager.waits(for: "store cannot be written: failed attempts 1, waiting samples 1")
        try manager.waits(for: "store cannot be written: failed attempts 3")
        try manager.waits(for: "WATCHDOG=1")
        let status = try folder.vitalgate("status", "--format", "ndjson")
        #expect(status.status == 0, "\(status.errors)")
        lock.release()
        try manager.waits(for: "1 device adopted, 1 heard since the start")
        try manager.waits(for: "WATCHDOG=1")
        hub.signal(SIGTERM)
        #expect(try hub.wait().status == 0)
        let sent = (manager.messages + manager.rest()).joined()
        #expect(!sent.contains("81") && !sent.contains("Annas"), "\(sent)")
        #expect(try folder.vitalgate("query", "bodyMass", "--format", "ndjson").lines.count == 1)
    }

    /// sd-daemon knows CLOCK_MONOTONIC.
    private func monotonic() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
