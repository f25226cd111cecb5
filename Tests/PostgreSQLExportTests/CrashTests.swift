import ExportTesting
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import PostgreSQLExport

/// A separate server that is killed.
@Suite struct CrashTests {
    @Test func survivesKilledServer() throws {
        let test = try ExportedStore()
        let server = try PostgreSQLServer()
        defer { server.stop() }
        let settings = PostgreSQLSettings(host: server.folder, database: "postgres", user: "vitalgate")
        func exporter() throws -> PostgreSQLExporter {
            PostgreSQLExporter(
                settings,
                context: try ExportContext(
                    name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received }))
        }
        _ = try exporter().create()
        var random = SeededGenerator(seed: 5)
        let proof = try ExportProof(test) { try exporter() }
        for _ in 0..<3 {
            try proof.suffer(15, using: &random) { _ in }
            server.crash()
            try proof.suffer(10, using: &random) { _ in }
            try server.start()
        }
        try proof.finish()
        let stored = try PostgreSQLConnection(settings).run("SELECT uuid FROM vitalgate.sample").compactMap { $0[0] }
        #expect(try Set(stored) == Set(test.contents().keys.map(\.description)))
        #expect(try stored.count == test.contents().count)
    }

    /// A primary and a standby: sessions are with the one that accepts changes.
    @Test func severalHosts() throws {
        let (primary, standby) = (try PostgreSQLServer(), try PostgreSQLServer())
        defer {
            primary.stop()
            standby.stop()
        }
        func settings(_ host: String) -> PostgreSQLSettings {
            PostgreSQLSettings(host: host, database: "postgres", user: "vitalgate")
        }
        func refuseChanges(_ server: PostgreSQLServer, _ isRefusing: Bool) throws {
            let connection = try PostgreSQLConnection(settings(server.folder))
            try connection.run("ALTER SYSTEM SET default_transaction_read_only = \(isRefusing ? "on" : "off")")
            try connection.run("SELECT pg_reload_conf()")
            // The new value is there once the server has read its files.
            for _ in 0..<6000 {
                let value = try PostgreSQLConnection(settings(server.folder)).run("SHOW default_transaction_read_only")[0][0]
                if value == (isRefusing ? "on" : "off") { return }
                usleep(50_000)
            }
            Issue.record("the server does not change")
        }
        let both = settings("/missing,\(standby.folder),\(primary.folder)")
        func answering() throws -> String? { try PostgreSQLConnection(both).run("SHOW unix_socket_directories")[0][0] }
        try refuseChanges(standby, true)
        #expect(try answering() == primary.folder)
        primary.crash()
        #expect(throws: DeliveryError.self) { try answering() }
        try refuseChanges(standby, false)
        #expect(try answering() == standby.folder)
    }

    /// A hub waits for the end of a failover, and does not stop.
    @Test func aStandbyIsTriedAgain() throws {
        let server = try PostgreSQLServer()
        defer { server.stop() }
        let connection = try PostgreSQLConnection(
            PostgreSQLSettings(host: server.folder, database: "postgres", user: "vitalgate"))
        try connection.run("SET default_transaction_read_only = on")
        do throws(DeliveryError) {
            try connection.run("CREATE TABLE here(id integer)")
            Issue.record("it was created")
        } catch {
            #expect(error.kind == .unreachable, "\(error)")
        }
    }
}
