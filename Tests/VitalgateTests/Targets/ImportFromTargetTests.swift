import Glibc
import PipelineTesting
import Testing

/// `import --from` after a copy of the store was restored.
@Suite struct ImportFromTargetTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("config.json5", "{ targets: { archive: { kind: 'files', folder: '\(folder.path("archive"))' } } }\n")
    }

    private func run(_ words: String...) throws -> Vitalgate.Run {
        let run = try folder.vitalgate(words)
        #expect(run.status == 0, "\(run)")
        return run
    }

    private func samples() throws -> [JSON] {
        try run("query", "all", "--format", "ndjson").lines.map { try JSON($0) }
    }

    private func values() throws -> [Int] { try samples().compactMap { $0["value"].integer }.sorted() }

    private func add(_ value: Int) throws {
        _ = try run("add", "bodyMass", "\(value)", "kg", "--at", "2026-11-\(value - 50)T07:00:00Z")
    }

    /// Readings of clients return, and samples that the target has as deleted do not stay.
    @Test func restoresTheStateOfTheTarget() throws {
        for value in [70, 71] { try add(value) }
        let deleted = try samples().compactMap { $0["uuid"].text }
        _ = try run("clients", "add", "saver", "--purpose", "Tests")
        _ = try run("export", "archive", "--once")
        _ = try run("store", "backup", folder.path("copy.db"))
        try add(72)
        try folder.write(
            "saved.ndjson",
            """
            {"type":"bodyMass","start":"2026-11-23T07:00:00Z","value":73,"unit":"kg","source":{"id":"client.1","name":"saver"}}

            """)
        _ = try run("update", "recover", folder.path("saved.ndjson"))
        for uuid in deleted { _ = try run("delete", uuid) }
        let day = ["--type", "bodyMass", "--from", "2026-11-22", "--to", "2026-11-23"]
        #expect(try folder.vitalgate(["repair", "apply", "--scale", "0.5", "--ambiguous"] + day).status == 0)
        _ = try run("export", "archive", "--once")
        #expect(try values() == [36, 73])

        for suffix in ["-wal", "-shm"] { unlink(folder.store + suffix) }
        try #require(rename(folder.path("copy.db"), folder.store) == 0)
        #expect(try values() == [70, 71])
        let imported = try run("import", "--from", "archive")
        #expect(imported.errors.contains("deleted 2 samples that archive has as deleted"), "\(imported)")
        #expect(try values() == [36, 73])
        #expect(try run("store", "check").output == "ok\n")
    }
}
