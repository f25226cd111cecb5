import ExportTesting
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import PostgreSQLExport

/// A separate server that is killed.
@Suite struct CrashTests {
    @Test func theServerIsKilledAndComesBack() throws {
        let test = try ExportedStore()
        let server = try PostgreSQLServer()
        defer { server.stop() }
        let settings = PostgreSQLSettings(host: server.folder, database: "postgres", user: "vitalgate")
        func exporter() throws -> PostgreSQLExporter {
            PostgreSQLExporter(
                settings,
                context: try ExportContext(
                    name: "other", store: test.store.identifier, me: test.store.subject, now: { ExportedStore.received }))
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
        let held = try PostgreSQLConnection(settings).run("SELECT uuid FROM vitalgate.sample").compactMap { $0[0] }
        #expect(try Set(held) == Set(test.contents().keys.map(\.description)))
        #expect(try held.count == test.contents().count)
    }
}
