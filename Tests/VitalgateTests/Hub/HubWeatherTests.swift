import FoundationEssentials
import Glibc
import PipelineTesting
import Testing

/// Failures of small machines under a running hub: the disk is full, read-only or damaged, or the store is removed. Acknowledged data is
/// never lost. The hub continues, or logs the reason and ends with status 74, so that its supervisor restarts it.
@Suite struct HubWeatherTests {
    let folder: TestFolder
    let scale: Pty

    init() throws {
        folder = try TestFolder()
        scale = try Pty()
        let run = try folder.vitalgate("devices", "adopt", scale.path, "--profile", "generic-lines")
        #expect(run.status == 0, "\(run.errors)")
    }

    private func start(wrapper: [String] = []) throws -> RunningHub {
        let hub = try RunningHub(folder, wrapper: wrapper)
        try hub.waits("it works") { hub.program.errors.contains("it is plugged in") && folder.exists("inbox/refused") }
        return hub
    }

    private func weigh(_ kilograms: [Int]) { for weight in kilograms { scale.write("bodyMass=\(weight) kg\n") } }

    private func weights() throws -> [Int] {
        try folder.vitalgate("query", "bodyMass", "--format", "ndjson").lines.map { try JSON($0)["value"].integer ?? -1 }
    }

    /// Moves the log into the file, so that the file's pages are read.
    private func rest(_ hub: RunningHub) throws { #expect(try hub.stop().status == 0) }

    @Test func recoversFromFullDisk() throws {
        let hub = try startOnFullDisk()
        weigh([73])
        try makeRoom(hub)
        try hub.waits("it goes on") { try weights() == [70, 71, 72, 73] }
        #expect(hub.program.errors.contains("samples are stored again"))
        try rest(hub)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    /// A hub with one stored reading and two waiting ones. A limit on file sizes simulates the disk's, because it needs no privilege.
    private func startOnFullDisk() throws -> RunningHub {
        let hub = try start(wrapper: ["/bin/sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        weigh([70])
        try hub.waits("the first is stored") { try weights() == [70] }
        try fill(hub)
        weigh([71, 72])
        try hub.waits("it says so") { hub.program.errors.contains("readings cannot be stored and are waiting") }
        return hub
    }

    /// No file of the hub grows any more. Its log is shorter than the store's, and may grow.
    private func fill(_ hub: RunningHub) throws { try limit(hub, size: "\(folder.size("store.db-wal"))") }

    private func makeRoom(_ hub: RunningHub) throws { try limit(hub, size: "unlimited") }

    private func limit(_ hub: RunningHub, size: String) throws {
        let command = ["/usr/bin/prlimit", "--pid=\(hub.program.process)", "--fsize=\(size):"]
        #expect(try RunningVitalgate(command: command, environment: [:]).wait().status == 0)
    }

    @Test func stoppedWhileTheDiskIsFull() throws {
        let hub = try startOnFullDisk()
        let run = try hub.stop()
        #expect(run.status == 74)
        #expect(run.errors.contains("could not be stored, and none was acknowledged"), "\(run.errors)")
        for value in ["70", "71", "72"] { #expect(!run.errors.contains(" \(value)"), "\(run.errors)") }
        #expect(try weights() == [70])
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    @Test func restartsAfterStoreIsRemoved() throws {
        let hub = try start()
        weigh([70])
        try hub.waits("the first is stored") { try weights() == [70] }
        for name in ["store.db", "store.db-wal", "store.db-shm"] { rename(folder.path(name), folder.path("away-\(name)")) }
        weigh([71])
        let run = try hub.program.wait()
        #expect(run.status == 74)
        #expect(run.errors.contains("\(folder.store) was removed or replaced while it was in use"), "\(run.errors)")
        #expect(!folder.exists("store.db"), "no other is made in its place")
        for name in ["store.db", "store.db-wal", "store.db-shm"] { rename(folder.path("away-\(name)"), folder.path(name)) }
        #expect(try weights() == [70])
        #expect(try folder.vitalgate("store", "check").status == 0)
        let next = try start()
        weigh([72])
        try next.waits("it goes on") { try weights() == [70, 72] }
        try rest(next)
    }

    @Test func aFileInTheInboxMakesNoNewStore() throws {
        let hub = try start()
        rename(folder.store, folder.path("away.db"))
        try folder.write("inbox/one.csv", RunCommandTests.one)
        #expect(try hub.program.wait().status == 74)
        #expect(!folder.exists("store.db"))
        #expect(folder.exists("inbox/one.csv"), "it waits for a store")
    }

    /// The disk returns other bytes than were written.
    @Test func aDamagedPage() throws {
        let first = try start()
        weigh(Array(60..<90))
        try first.waits("all are stored") { try weights().count == 30 }
        try rest(first)
        let backup = folder.path("backup.db")
        #expect(try folder.vitalgate("store", "backup", backup).status == 0)
        try damage()
        let hub = try RunningHub(folder)
        try hub.waits("it works, or has ended") {
            hub.program.errors.contains("it is plugged in") || hub.program.errors.contains("damaged")
        }
        weigh([90])
        let run = try hub.program.wait()
        // At the start it is a foreign file. Later it is the disk's failure.
        #expect([65, 74].contains(run.status), "\(run.errors)")
        #expect(run.errors.contains("the store is damaged"), "\(run.errors)")
        #expect(try folder.vitalgate("store", "check").status != 0)
        // The backup contains the stored readings once.
        for suffix in ["", "-wal", "-shm"] { unlink(folder.store + suffix) }
        rename(backup, folder.store)
        #expect(try weights() == Array(60..<90))
        let next = try start()
        weigh([91])
        // The one before may have waited in the port.
        try next.waits("it goes on") { try weights().last == 91 }
        #expect(try weights().filter { $0 < 90 } == Array(60..<90))
        try rest(next)
    }

    /// Every page of tables but the first two.
    private func damage() throws {
        let descriptor = open(folder.store, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        let noise = [UInt8](repeating: 0xA5, count: 4096)
        for page in stride(from: 2 * 4096, to: Int(status.st_size), by: 4096) {
            #expect(pwrite(descriptor, noise, 4096, page) == 4096)
        }
    }

    @Test func refusesReadOnlyStoreAtStart() throws {
        try FileManager.default.createDirectory(atPath: folder.path("disk"), withIntermediateDirectories: false)
        let store = folder.path("disk/store.db")
        #expect(try folder.vitalgate("devices", "adopt", scale.path, "--profile", "generic-lines", store: store).status == 0)
        chmod(store, 0o400)
        chmod(folder.path("disk"), 0o500)
        defer { chmod(folder.path("disk"), 0o700) }
        let run = try Vitalgate.runWithoutPrivileges(
            folder.options(store: store) + ["run"], environment: Vitalgate.environment(home: folder.root))
        #expect([74, 77].contains(run.status), "\(run.status) \(run.errors)")
        #expect(run.errors.contains("cannot be written") || run.errors.contains("ermission"), "\(run.errors)")
    }
}
