import Glibc
import HealthModel
import SampleStore
import Testing

/// `doctor` on any machine: without D-Bus, its findings about bluetoothd are the same everywhere.
@Suite struct DoctorCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func doctor(_ arguments: String...) throws -> Vitalgate.Run {
        try folder.vitalgate(
            ["doctor"] + arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path("no-bus"))"])
    }

    private func state(_ person: String, _ run: Vitalgate.Run) throws -> [JSON] {
        try run.objects().filter { $0["subject"].text == person }
    }

    @Test func findingsSuggestCommands() throws {
        let run = try doctor("--format", "ndjson")
        #expect(run.status == 69, "\(run.errors)")
        #expect(run.errors.isEmpty)
        for line in run.lines { #expect(JSON.keys(of: line) == ["subject", "state", "finding", "command"]) }
        #expect(try state("configuration", run).map { $0["state"].text } == ["ok"])
        #expect(try state("profiles", run).map { $0["state"].text } == ["ok"])
        let bus = try state("D-Bus", run)
        #expect(bus.map { $0["state"].text } == ["broken"])
        #expect(bus.map { $0["command"].text } == ["sudo systemctl start dbus"])
        // The kernel is queried without D-Bus: it has an adapter, or the output reports that it has none.
        #expect(
            try run.objects().contains {
                ["kernel", "rfkill", "adapter"].contains($0["subject"].text?.split(separator: " ").first)
            })
    }

    @Test func aPersonReadsLines() throws {
        let run = try doctor()
        #expect(run.status == 69)
        #expect(run.output.contains("broken   D-Bus: no connection"))
        #expect(run.output.contains("\n         → sudo systemctl start dbus\n"))
        let csv = try doctor("--format", "csv")
        #expect(csv.lines.first == "subject,state,finding,command")
        #expect(csv.status == 69)
    }

    @Test func theStore() throws {
        #expect(try state("store", doctor("--format", "ndjson")).first?["finding"].text?.contains("can be created") == true)
        #expect(!folder.exists("store.db"))
        let file = try folder.write("one.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        try folder.vitalgate("import", file)
        #expect(try state("store", doctor("--format", "ndjson")).map { $0["state"].text } == ["ok"])
        chmod(folder.store, 0o644)
        let open = try state("store", doctor("--format", "ndjson"))
        #expect(open.map { $0["state"].text } == ["ok", "warning"])
        #expect(open.last?["command"].text == "chmod go= \(folder.store)*")
        try folder.write("store.db", "no database")
        #expect(try state("store", doctor("--format", "ndjson")).map { $0["state"].text } == ["broken"])
    }

    /// A store that is a week old needs a copy on another disk.
    @Test func theBackup() throws {
        func backup() throws -> [JSON] { try state("backup", doctor("--format", "ndjson")) }
        let file = try folder.write("one.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        try folder.vitalgate("import", file)
        #expect(try backup().isEmpty)
        let store = try SampleStore(path: folder.store, access: .write)
        let (week, day): (Int64, Int64) = (7 * 86_400_000_000, 86_400_000_000)
        let now = try #require(try store.firstEntry).microseconds
        try folder.vitalgate("store", "backup", folder.path("copy.db"))
        #expect(try backup().first?["finding"].text?.hasPrefix("0 days ago, on the disk of the store") == true)
        for (age, state) in [(day, "ok"), (week, "warning")] {
            try store.note(LastBackup(time: Instant(microseconds: now - age), isOnSameDisk: false))
            #expect(try backup().map { $0["state"].text } == [state])
        }
    }

    /// An unreadable configuration does not prevent the other findings.
    @Test func theConfiguration() throws {
        try folder.write("config.json5", "{ stor: 'x' }")
        let run = try doctor("--format", "ndjson")
        #expect(run.status == 69)
        let found = try state("configuration", run)
        #expect(found.map { $0["state"].text } == ["broken"])
        #expect(found.first?["finding"].text?.contains("stor") == true)
        #expect(try state("D-Bus", run).count == 1)
    }

    @Test func theProfiles() throws {
        try folder.write("broken.json5", "{")
        try folder.write("config.json5", "{ profiles: ['\(folder.root)'] }")
        let found = try state("profiles", doctor("--format", "ndjson"))
        #expect(found.map { $0["state"].text } == ["warning"])
        #expect(found.first?["command"].text == "vitalgate profile check")
    }
}
