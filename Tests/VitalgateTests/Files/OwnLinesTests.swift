import FoundationEssentials
import Testing

/// A store's own lines, exported and imported into another store.
@Suite struct OwnLinesTests {
    private static let published = Repository.tests + "/Published/exports/"

    /// A store of much: routes, a day's rings, records, an app's local times, some deleted and some repaired.
    private func filled() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write("config.json5", "{ subject: \"\(Family.person)\" }\n")
        for file in [
            "brtkwr/export.xml", "dogsheep-export.xml", "alxdrcirilo-export.xml", "literals/tagbug-test_xml_parser-L22.xml",
        ] {
            try folder.vitalgate("import", Self.published + file)
        }
        for file in ["withings_bp_0.csv", "libreview_1.csv", "omron_connect_0.csv"] {
            try folder.vitalgate("import", "\(Repository.files)/\(file)", "--time-zone", "Europe/Berlin")
        }
        try folder.vitalgate("import", try folder.write("household.csv", Family.csv))
        return folder
    }

    private func exported(_ folder: TestFolder, _ name: String, store: String? = nil) throws -> [String] {
        #expect(try folder.vitalgate("export", "--to", folder.path(name), store: store).status == 0)
        return folder.text(name).split(separator: "\n").map(String.init)
    }

    /// But for when the store got it.
    private func reported(_ lines: [String]) -> [String] {
        lines.map { $0.replacing(/"received":"[^"]*"|"(ingest|seq)":[0-9]+/, with: "…") }.sorted()
    }

    @Test func theSamePersonsStore() throws {
        let folder = try filled()
        let uuid = try JSON(folder.vitalgate("query", "all", "--format", "ndjson", "--limit", "1").last)["uuid"].text ?? ""
        #expect(try folder.vitalgate("delete", uuid, "--yes").status == 0)
        let lines = try exported(folder, "a.ndjson")
        #expect(!lines.contains { $0.contains("\"uuid\":\"\(uuid)\"") } && lines.count > 60)
        let other = folder.path("other.db")
        let first = try Account(folder.vitalgate("import", folder.path("a.ndjson"), "--format", "ndjson", store: other).last)
        #expect(first.stored == lines.count && first.read == lines.count && first.profile == "vitalgate-lines")
        #expect(try reported(exported(folder, "b.ndjson", store: other)) == reported(lines))
        let again = try Account(folder.vitalgate("import", folder.path("b.ndjson"), "--format", "ndjson", store: other).last)
        #expect(again.duplicate == lines.count && again.stored == 0)
        #expect(try folder.vitalgate("store", "check", "--deep", store: other).output == "ok\n")
        // The deleted sample stays deleted in its own store.
        let home = try Account(folder.vitalgate("import", folder.path("b.ndjson"), "--format", "ndjson").last)
        #expect(home.duplicate == lines.count)
    }

    /// Cut anywhere, each line is there or refused.
    @Test(arguments: [0.21, 0.5, 0.77]) func truncatedLineIsRefused(part: Double) throws {
        let folder = try filled()
        _ = try exported(folder, "a.ndjson")
        let bytes = try folder.bytes("a.ndjson")
        let cut = bytes.prefix(Int(Double(bytes.count) * part))
        try folder.write("cut.ndjson", cut)
        let lines = cut.split(separator: 0x0A)
        let whole = bytes[cut.count - 1] == 0x0A || bytes[cut.count] == 0x0A
        let run = try folder.vitalgate("import", folder.path("cut.ndjson"), "--format", "ndjson", store: folder.path("other.db"))
        let account = try Account(run.last)
        #expect(account.read == lines.count && account.addsUp)
        #expect(account.stored == lines.count - (whole ? 0 : 1) && account.refused == (whole ? 0 : 1))
        #expect(whole || run.errors.contains("line \(lines.count): the line ends early"))
    }

    /// Another person has other UUIDs, and what names samples names theirs.
    @Test func anotherPersonsStore() throws {
        let folder = try filled()
        let lines = try exported(folder, "a.ndjson")
        try folder.write("config.json5", "{ subject: \"\(Family.guest)\" }\n")
        let other = folder.path("other.db")
        let account = try Account(folder.vitalgate("import", folder.path("a.ndjson"), "--format", "ndjson", store: other).last)
        #expect(account.stored + account.duplicate == lines.count)
        let there = try exported(folder, "b.ndjson", store: other).map { try JSON($0) }
        let uuids = Set(there.compactMap { $0["uuid"].text })
        let routes = there.flatMap { $0["routes"].list }.compactMap(\.text) + there.compactMap { $0["workout"].text }
        // One more workout names a route whose file is not there.
        #expect(routes.count >= 6 && routes.count { !uuids.contains($0) } <= 1)
    }

    /// A repaired sample has its right value and its own UUID.
    @Test func exportsRepairedSamples() throws {
        let folder = try filled()
        #expect(try folder.vitalgate("repair", "apply", "--type", "stepCount", "--shift", "+1h").status == 0)
        let lines = try exported(folder, "a.ndjson")
        let repaired = lines.count { $0.contains("\"repaired\":true") }
        #expect(repaired > 0)
        let run = try folder.vitalgate("import", folder.path("a.ndjson"), "--format", "ndjson", store: folder.path("other.db"))
        let account = try Account(run.last)
        #expect(account.stored == lines.count && run.last.contains("\(repaired) of its samples had been repaired"))
    }

    /// A line of which something was changed has a UUID that does not follow from it.
    @Test func aForgedUUID() throws {
        let folder = try filled()
        let line = try #require(try exported(folder, "a.ndjson").first { $0.contains("\"type\":\"heartRate\"") })
        let forged = line.replacing(/"start":"(\d{4})-\d\d-\d\d/) { "\"start\":\"\($0.output.1)-01-02" }
            .replacing(/"end":"(\d{4})-\d\d-\d\d/) { "\"end\":\"\($0.output.1)-01-02" }
        try folder.write("forged.ndjson", forged + "\n")
        let run = try folder.vitalgate("import", folder.path("forged.ndjson"))
        #expect(run.status == 65 && run.errors.contains("line 1: uuid: it does not match the line"))
        try folder.write(
            "free.ndjson", forged.replacing(/"uuid":"[^"]*",/, with: "").replacing(/"identity":\{[^}]*\},/, with: "") + "\n")
        #expect(try Account(folder.vitalgate("import", folder.path("free.ndjson"), "--format", "ndjson").last).stored == 1)
    }

    /// A target of files writes the same lines, and deletions, which are counted.
    @Test func filesOfATarget() throws {
        let folder = try filled()
        try folder.write(
            "config.json5",
            "{ subject: \"\(Family.person)\", targets: { archive: { kind: \"files\", folder: \"\(folder.path("archive"))\" } } }\n"
        )
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        #expect(try folder.vitalgate("delete", "--type", "stepCount", "--yes").status == 0)
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        let file = folder.path("archive/archive.ndjson")
        let deleted = folder.text("archive/archive.ndjson").split(separator: "\n").count { $0.hasPrefix("{\"deleted\"") }
        let account = try Account(folder.vitalgate("import", file, "--format", "ndjson", store: folder.path("other.db")).last)
        #expect(deleted > 0 && account.skipped == ["deletion": deleted] && account.refused == 0 && account.stored > 60)
    }
}
