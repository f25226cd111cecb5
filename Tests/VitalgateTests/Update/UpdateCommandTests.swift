import Glibc
import Testing

/// The parts of an update that the new version does.
@Suite struct UpdateCommandTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.vitalgate("add", "heartRate", "61", "--at", "2026-11-20T06:00:00Z")
    }

    @Test func theSelfTestPasses() throws {
        let run = try folder.vitalgate("update", "self-test")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test func theSelfTestFindsAProfileThatCannotBeRead() throws {
        mkdir(folder.path("profiles"), 0o755)
        try folder.write("profiles/scale.json5", "{")
        let run = try folder.vitalgate("update", "self-test", "--profiles", folder.path("profiles"))
        #expect(run.status == 65)
        #expect(run.lines.count == 1 && run.output.hasPrefix("profile: ") && run.output.contains("scale.json5"), "\(run.output)")
    }

    @Test func theSelfTestFindsAWrongConfiguration() throws {
        try folder.write("config.json5", "{ targets: { archive: { kind: 'nothing' } } }")
        let run = try folder.vitalgate("update", "self-test")
        #expect(run.status == 78)
    }

    @Test func theSelfTestFindsADamagedStore() throws {
        for suffix in ["-wal", "-shm"] { unlink(folder.store + suffix) }
        let bytes = try folder.bytes("store.db")
        try folder.write("store.db", bytes.prefix(bytes.count / 2))
        let run = try folder.vitalgate("update", "self-test")
        #expect(run.status != 0)
        #expect(run.status == 65 ? run.output.hasPrefix("store: ") : !run.errors.isEmpty, "\(run.output)\(run.errors)")
    }

    @Test func carriesOnlyWhatArrivedLater() throws {
        #expect(try folder.vitalgate("update", "carry", "--after", "0").lines.count == 1)
        try folder.vitalgate("add", "heartRate", "62", "--at", "2026-11-20T06:01:00Z")
        let later = try folder.vitalgate("update", "carry", "--after", "1")
        #expect(later.status == 0)
        #expect(later.lines.count == 1 && later.output.contains("\"value\":62"), "\(later.output)\(later.errors)")
        // A quarantined reading has no line.
        try folder.vitalgate("add", "heartRate", "900", "--at", "2026-11-20T06:02:00Z")
        let quarantined = try folder.vitalgate("update", "carry", "--after", "1")
        #expect(quarantined.status == 65)
        #expect(quarantined.errors.contains("readings were quarantined"))
        #expect(try folder.vitalgate("update", "carry", "--after", "1", "--quarantined", "1").status == 0)
    }

    @Test(arguments: ["table", "ndjson", "csv"])
    func theStatusIsShownBeforeTheFirstCheck(format: String) throws {
        let run = try folder.vitalgate("update", "status", "--format", format)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        #expect(run.output.contains("installed") && run.output.contains("checked"), "\(run.output)")
    }

    @Test func theNightIsQuietByDefault() throws {
        guard geteuid() == 0 else { return }
        let run = try folder.vitalgate("update", "nightly")
        #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run.errors)")
    }

    @Test func onlyRootUpdates() throws {
        guard geteuid() == 0 else { return }
        let wrapper = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let run = try RunningVitalgate(
            ["update", "apply", "--yes"], environment: Vitalgate.environment(home: "/nonexistent"), wrapper: wrapper
        ).wait()
        #expect(run.status == 77)
        #expect(run.errors.contains("sudo"))
    }
}
