import Glibc
import Testing

/// Hubs that were restored from a backup, restored centers, and copied hubs.
extension FleetCommandTests {
    private func values() throws -> [String] {
        let words = [
            "/usr/bin/psql", "-h", server.folder, "-U", "vitalgate", "-d", "postgres", "-At", "-c",
            "SELECT value FROM vitalgate.sample ORDER BY start_time, value",
        ]
        let run = try RunningVitalgate(command: words, environment: Vitalgate.environment(home: center.root)).wait()
        #expect(run.status == 0)
        return run.lines
    }

    private func epoch() throws -> Int? { try hubs().first?["epoch"].integer }

    /// Readings that only the center has stay there, those that only the hub has arrive, and nothing is there twice.
    @Test func aRestoredHubContinues() throws {
        try joinWithReadings()
        #expect(try hub.vitalgate("store", "backup", hub.path("backup.db")).status == 0)
        let lost = InboxTests.csv(9)
        try hub.vitalgate("import", hub.write("b.csv", lost))
        #expect(try deliver().status == 0)
        let before = try values()
        #expect(try before.count == 9 && epoch() == 0)

        for suffix in ["", "-wal", "-shm"] { unlink(hub.store + suffix) }
        #expect(rename(hub.path("backup.db"), hub.store) == 0)
        try hub.vitalgate("import", hub.write("c.csv", "time,type,value,unit\n2026-02-01T00:00:00Z,heartRate,99,/min\n"))
        var run = try deliver()
        #expect(run.status == 0 && run.errors.contains("restored from a backup, so both are compared"), "\(run)")
        #expect(run.errors.contains("4 only at the center"), "\(run)")
        #expect(try values() == before + ["99"] && epoch() == 1)
        let status = try center.vitalgate("fleet", "status", "ward-3").output
        #expect(status.contains("Epoch 1 since 2"), "\(status)")
        // The lost file is imported again.
        try hub.vitalgate("import", hub.write("b.csv", lost))
        run = try deliver()
        #expect(run.status == 0 && !run.errors.contains("compared"), "\(run)")
        #expect(try values() == before + ["99"] && epoch() == 1)
        #expect(try center.vitalgate("fleet", "status", "ward-3").output.contains("enrolled"))
        try end()
    }

    /// The store decides: a reading that it has again after a restoration comes back to the center, too.
    @Test func aDeletionAfterTheBackupIsUndone() throws {
        try joinWithReadings()
        #expect(try hub.vitalgate("store", "backup", hub.path("backup.db")).status == 0)
        let reading = try JSON(try hub.vitalgate("query", "heartRate", "--format", "ndjson").last)
        #expect(try hub.vitalgate("delete", try #require(reading["uuid"].text)).status == 0)
        #expect(try deliver().status == 0 && values().count == 4)
        for suffix in ["", "-wal", "-shm"] { unlink(hub.store + suffix) }
        #expect(rename(hub.path("backup.db"), hub.store) == 0)
        let run = try deliver()
        #expect(try run.status == 0 && values().count == 5, "\(run)")
        #expect(try JSON(center.vitalgate("fleet", "hubs", "--format", "ndjson").last)["stopped"] == .boolean(false))
        try end()
    }

    /// Delivery into another database of the same name stops until the center has looked. Commands still arrive.
    @Test func aStoppedHubRunsCommands() throws {
        try joinWithReadings()
        try sql("UPDATE vitalgate.self SET id = '00000000-0000-0000-0000-000000000001'")
        var run = try hub.vitalgate("export", "center", "--once")
        #expect(run.status == 69 && run.errors.contains("it is not the target that was filled"), "\(run)")
        #expect(try hubs().first?["stopped"] == .boolean(true))
        #expect(try center.vitalgate("fleet", "hubs").output.contains("stopped"))
        try command("verify")
        run = try deliver()
        #expect(try run.status == 0 && results() == [0], "\(run)")
        #expect(try hubs().first?["stopped"] == .boolean(false) && values().count == 5)
        try end()
    }

    /// A center that has lost its last hour gets it again from its hubs.
    @Test func aRestoredCenterIsFilledAgain() throws {
        try joinWithReadings()
        try sql("CREATE TABLE vitalgate.saved AS SELECT * FROM vitalgate.progress")
        try hub.vitalgate("import", hub.write("b.csv", InboxTests.csv(9)))
        #expect(try deliver().status == 0)
        let before = try values()
        try sql(
            """
            DELETE FROM vitalgate.sample WHERE start_time > '2026-01-01T00:00:04.5Z';
            UPDATE vitalgate.progress p SET count = s.count, anchor = s.anchor FROM vitalgate.saved s WHERE p.hub = s.hub
            """)
        #expect(try values().count < before.count)
        let run = try deliver()
        #expect(run.status == 0 && run.errors.contains("so both are compared"), "\(run)")
        #expect(try values() == before && epoch() == 1)
        try end()
    }

    /// The second machine with the same store is refused, and the center names both.
    @Test func aCopiedHubIsNamed() throws {
        try joinWithReadings()
        let copy = try TestFolder()
        #expect(try hub.vitalgate("store", "backup", copy.store).status == 0)
        try copy.write("center.seed", hub.text("center.seed"))
        chmod(copy.path("center.seed"), 0o600)
        try copy.write("config.json5", hub.text("config.json5").replacing(hub.root, with: copy.root))
        try copy.vitalgate("import", copy.write("b.csv", InboxTests.csv(9)))
        try command("verify")
        var run = try copy.vitalgate("export", "center", "--once")
        #expect(run.status == 69 && run.errors.contains("the same store sends to it from"), "\(run)")
        #expect(try values().count == 5)
        // The command is not for the copy.
        #expect(try results() == [nil])
        let seen = try #require(try hubs().first)
        #expect(seen["machine"].text?.contains(hub.store) == true, "\(seen)")
        #expect(seen["otherMachine"].text?.contains(copy.store) == true, "\(seen)")
        let status = try center.vitalgate("fleet", "status", "ward-3").output
        #expect(status.contains("copied") && status.contains(hub.store) && status.contains(copy.store), "\(status)")
        // The hub itself goes on.
        run = try deliver()
        #expect(try run.status == 0 && results() == [0], "\(run)")
        // With an identity of its own, the copy is a stranger that has to join.
        #expect(try copy.vitalgate("store", "adopt").status == 0)
        #expect(try copy.vitalgate("export", "center", "--once").status != 0)
        #expect(try values().count == 5)
        try end()
    }
}
