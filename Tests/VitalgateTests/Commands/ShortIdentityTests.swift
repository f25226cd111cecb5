import Testing

/// Samples are named by the first digits of their UUIDs.
@Suite struct ShortIdentityTests {
    private func stored() throws -> (folder: TestFolder, uuids: [String]) {
        let folder = try TestFolder()
        for (value, time) in [("71.5", "2026-11-20T07:30:00Z"), ("72.5", "2026-11-20T07:30:01Z")] {
            #expect(try folder.vitalgate("add", "weight", value, "kg", "--at", time).status == 0)
        }
        let uuids = try folder.vitalgate("query", "bodyMass", "--format", "ndjson").objects().compactMap { $0["uuid"].text }
        try #require(uuids.count == 2)
        return (folder, uuids)
    }

    /// Thirteen characters are the first twelve digits, which contain the millisecond.
    @Test func aPrefixIsOneSample() throws {
        let (folder, uuids) = try stored()
        let short = String(uuids[0].prefix(13))
        for line in [["query", short, "--format", "ndjson"], ["show", short, "--format", "ndjson"]] {
            let run = try folder.vitalgate(line)
            #expect(run.status == 0 && run.lines.count == 1 && run.output.contains(uuids[0]), "\(run.errors)")
        }
        #expect(try folder.vitalgate("query", short, "--explain").output.contains(uuids[0]))
        #expect(try folder.vitalgate("delete", short).errors.contains("1 sample deleted"))
        #expect(try folder.vitalgate("show", short).errors.contains("\(uuids[0]) is deleted"))
        #expect(try folder.vitalgate("delete", short).status == 65)
        let restored = try folder.vitalgate("store", "restore", short.uppercased())
        #expect(
            restored.errors.contains("1 sample restored") && restored.errors.contains("'vitalgate ledger undo 4'"),
            "\(restored.errors)")
        #expect(try folder.vitalgate("show", short).status == 0)
        #expect(try folder.vitalgate("ledger", "undo", "4").status == 0)
        #expect(try folder.vitalgate("show", short).errors.contains("\(uuids[0]) is deleted"))
        #expect(try folder.vitalgate("restore", short).status == 0)
    }

    @Test func ambiguousPrefixListsSamples() throws {
        let (folder, uuids) = try stored()
        for line in [["query"], ["show"], ["delete"]] {
            let run = try folder.vitalgate(line + [String(uuids[0].prefix(6))])
            #expect(run.status == 64 && uuids.allSatisfy { run.errors.contains($0) }, "\(run.errors)")
        }
        #expect(try folder.vitalgate("query", "bodyMass", "--format", "ndjson").lines.count == 2)
        let none = try folder.vitalgate("show", "ffff0000")
        #expect(none.status == 65 && none.errors.contains("begins with ffff0000"), "\(none.errors)")
        #expect(try folder.vitalgate("show", "019").status == 64)
        #expect(try folder.vitalgate("restore", String(uuids[0].prefix(6))).status == 65)
    }
}
