import ExportTesting
import Glibc
import Testing

/// Exporters are killed again and again while readings are added, deleted and restored. Each target has the content of the store.
@Suite struct TargetKillTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func stored() throws -> Set<String> {
        Set(try folder.vitalgate("query", "all", "--format", "ndjson").lines.map { try #require(try JSON($0)["uuid"].text) })
    }

    /// - Parameters:
    ///   - more: other members of the configuration.
    ///   - misfortune: called in each round.
    private func suffer(_ target: String, more: String = "", misfortune: (Int) throws -> Void = { _ in }) throws {
        try folder.write("config.json5", "{ \(more) targets: { other: { \(target) } } }\n")
        try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(1)))
        #expect(try folder.vitalgate("targets", "check", "other", "--create").status == 0)
        for round in 0..<50 {
            try misfortune(round)
            let exporter = try folder.start("export", "other")
            let day = round % 9 + 1
            var text = "time,type,value,unit\n"
            for second in 0..<20 {
                text += "2026-0\(day)-11T\(10 + round / 9):00:\(10 + second)Z,heartRate,\(60 + second),/min\n"
            }
            try folder.vitalgate("import", folder.write("more.csv", text))
            if round % 7 == 3 { try folder.vitalgate("ledger", "undo", "\(round / 2 + 1)") }
            // At the beginning, within a delivery, after one.
            usleep(UInt32(round % 10) * 6000)
            exporter.signal(SIGKILL)
            _ = try exporter.wait()
        }
        let run = try folder.vitalgate("export", "other", "--once")
        #expect(run.status == 0, "\(run)")
    }

    /// The program's comparison of a target that can list its content.
    private func expectEqual() throws {
        let found = try JSON(try folder.vitalgate("targets", "verify", "other", "--dry-run", "--format", "ndjson").last)
        #expect(found["equal"].integer == (try stored()).count)
        #expect(["missing", "surplus", "foreign"].allSatisfy { found[$0].integer == 0 })
    }

    @Test func postgreSQL() throws {
        let server = try PostgreSQLServer()
        defer { server.stop() }
        try suffer("kind: 'postgresql', host: '\(server.folder)', database: 'postgres', user: 'vitalgate'")
        try expectEqual()
    }

    /// Collectors are killed, too. The database has the rows that the hub would have written itself.
    @Test func fleet() throws {
        let (server, broker) = (try PostgreSQLServer(), try NATSServer())
        defer { server.stop() }
        let database = "host: '\(server.folder)', database: 'postgres', user: 'vitalgate'"
        let fleet = "fleet: 'study', servers: ['\(broker.url)']"
        let more = "collect: { broker: { \(fleet) }, database: { \(database) }, workers: 1 },"
        try folder.write("config.json5", "{ \(more) }")
        #expect(try folder.vitalgate("collect", "--create").status == 0)
        #expect(try folder.vitalgate("collect", "--check").output.contains("accepts our credentials"))
        var collector = try folder.start("collect")
        // Until the broker knows it.
        while try folder.vitalgate("collect", "--check").status != 0 {}
        try suffer("kind: 'fleet', \(fleet)", more: more) { round in
            guard round % 3 == 1 else { return }
            collector.signal(SIGKILL)
            _ = try collector.wait()
            collector = try folder.start("collect")
        }
        collector.signal(SIGTERM)
        #expect(try collector.wait().status == 0)
        try folder.write("config.json5", "{ targets: { other: { kind: 'postgresql', \(database) } } }")
        try expectEqual()
    }

    @Test func influxDB() throws {
        let server = try InfluxServer()
        defer { server.stop() }
        _ = try server.query("CREATE DATABASE health")
        try suffer("kind: 'influxdb', url: '\(server.url)', database: 'health'")
        try expectEqual()
    }

    @Test(arguments: [false, true]) func fhir(givesNames: Bool) throws {
        let endpoint = try FHIREndpoint(givesNames: givesNames)
        try suffer("kind: 'fhir', url: '\(endpoint.url)', patient: 'Patient/7', ids: '\(givesNames ? "server" : "client")'")
        try expectEqual()
    }

    @Test func mqtt() throws {
        let broker = try Broker()
        let listener = try Listener(broker)
        try suffer("kind: 'mqtt', url: 'mqtt://127.0.0.1:\(broker.port)'")
        var delivered: Set<String> = []
        for message in try listener.received() where message.topic.hasSuffix("/changes") {
            let line = try JSON(message.payload)
            if let deleted = line["deleted"].text {
                delivered.remove(deleted)
            } else {
                delivered.insert(try #require(line["uuid"].text))
            }
        }
        #expect(try delivered == stored())
        // The server is gone, and the output reports this.
        #expect(
            try listener.last().first {
                $0.key.hasPrefix("vitalgate/") && $0.key.split(separator: "/").count == 3 && $0.key.hasSuffix("/availability")
            }?.value == "offline")
    }
}
