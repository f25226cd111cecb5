import ExportTesting
import Glibc
import Testing

/// A broker with TLS, whose certificate the user trusts.
@Suite struct FleetTLSTests {
    /// A collector writes the list of users for a broker that cannot start without it.
    @Test func theListIsThereBeforeTheBroker() throws {
        let (folder, server) = (try TestFolder(), try PostgreSQLServer())
        let key = try folder.vitalgate("fleet", "key", folder.path("collector.seed")).last
        try folder.write(
            "config.json5",
            """
            { collect: {
                broker: {
                    fleet: 'study', servers: ['tls://localhost:\(FreePort.find())'], nkey: '\(key)',
                    seedFile: '\(folder.path("collector.seed"))',
                },
                database: { host: '\(server.folder)', database: 'postgres', user: 'vitalgate' },
                brokerUsers: { file: '\(folder.path("users.conf"))' },
            } }
            """)
        #expect(try folder.vitalgate("collect", "--create").status == 0)
        let collector = try folder.start("collect")
        for _ in 0..<3000 where !folder.exists("users.conf") { usleep(100_000) }
        #expect(folder.text("users.conf").contains(key))
        // It still waits for the broker, and ends when it is asked to.
        collector.signal(SIGTERM)
        let run = try collector.wait()
        #expect(run.status == 0 && run.errors.contains("waiting for a broker"), "\(run)")
        server.stop()
    }

    @Test func aHubJoinsOverTLS() throws {
        let folder = try TestFolder()
        let certificate = try Certificate(in: folder.root)
        chmod(folder.root, 0o755)
        let fleet = try FleetCommandTests(broker: [], certificate: certificate)
        let code = try fleet.center.vitalgate("fleet", "enroll", "--name", "ward-3").last
        // Without the certificate, the broker is not trusted, and the code stays valid.
        let address = "tls://localhost:\(fleet.broker.port)/study"
        var run = try fleet.hub.vitalgate("fleet", "join", address, code)
        #expect(run.status != 0 && !fleet.hub.text("config.json5").contains("targets"), "\(run)")
        // A certificate for another name is refused, too.
        run = try fleet.hub.vitalgate(
            "fleet", "join", address.replacing("localhost", with: "127.0.0.1"), code, "--certificate-authority", certificate.path)
        #expect(run.status != 0 && !fleet.hub.text("config.json5").contains("targets"), "\(run)")
        run = try fleet.join(fleet.hub, code)
        #expect(run.status == 0 && run.errors.contains("belongs to the fleet 'study' as 'ward-3'"), "\(run)")
        #expect(fleet.hub.text("config.json5").contains("certificateAuthority: \"\(certificate.path)\""))
        try fleet.hub.vitalgate("import", fleet.hub.write("a.csv", InboxTests.csv(5)))
        run = try fleet.deliver()
        #expect(run.status == 0 && run.errors.contains("5 changes delivered"), "\(run)")
        #expect(try fleet.hub.vitalgate("targets", "check", "center").status == 0)
        try fleet.command("verify")
        #expect(try fleet.deliver().status == 0)
        #expect(try fleet.results() == [0])
        try fleet.end()
    }
}
