import FoundationEssentials
import HealthModel
import Testing

/// Clinical records through the program: versions, repetitions, deletions, and large ones.
@Suite struct ClinicalImportTests {
    /// An immunization of a version.
    private static func immunization(updated: String?, code: String = "94") -> String {
        let meta = updated.map { #""meta":{"lastUpdated":"\#($0)"},"# } ?? ""
        return """
            {"resourceType":"Immunization","id":"imm-1",\(meta)"status":"completed","vaccineCode":{"coding":[\
            {"system":"http://hl7.org/fhir/sid/cvx","code":"\(code)"}]},"patient":{"reference":"Patient/1"},"occurrenceDateTime":"2012-05-15"}
            """
    }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Imports a text and returns the numbers of stored samples and duplicates.
    private func importing(_ text: String) throws -> (stored: Int, duplicates: Int) {
        let run = try folder.vitalgate(
            "import", try folder.write("record.json", text), "--person", Household.subject, "--format", "ndjson")
        #expect(run.status == 0, "\(run.errors)")
        let account = try Account(run.last)
        return (account.stored, account.duplicate)
    }

    private func names() throws -> [String] {
        try folder.vitalgate("query", "immunizationRecord", "--format", "ndjson").lines.map { line in
            guard let start = line.firstRange(of: "\"displayName\":\"") else { return line }
            return String(line[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    private func uuid() throws -> String {
        let line = try folder.vitalgate("query", "immunizationRecord", "--format", "ndjson").last
        return String(line.dropFirst("{\"uuid\":\"".count).prefix(36))
    }

    @Test func aLaterVersionReplacesAndAnOlderIsIgnored() throws {
        #expect(try importing(Self.immunization(updated: "2020-01-01T00:00:00Z")) == (1, 0))
        let first = try uuid()
        #expect(try importing(Self.immunization(updated: "2020-01-01T00:00:00Z")) == (0, 1))
        #expect(try importing(Self.immunization(updated: "2021-01-01T00:00:00Z", code: "03")) == (1, 0))
        #expect(try names() == ["MMR"])
        #expect(try uuid() != first)
        #expect(try importing(Self.immunization(updated: "2020-06-01T00:00:00Z", code: "21")) == (0, 1))
        #expect(try names() == ["MMR"])
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
    }

    @Test func theSameWithoutATimeIsADuplicateAndAnotherReplaces() throws {
        #expect(try importing(Self.immunization(updated: nil)) == (1, 0))
        #expect(try importing(Self.immunization(updated: nil)) == (0, 1))
        let run = try folder.vitalgate("delete", try uuid())
        #expect(run.status == 0, "\(run.errors)")
        #expect(try importing(Self.immunization(updated: nil)) == (0, 1))
        #expect(try names() == [])
    }

    @Test func theUUIDIsTheSameOnEveryHub() throws {
        #expect(try importing(Self.immunization(updated: "2020-01-01T00:00:00Z")) == (1, 0))
        let here = try uuid()
        // A second hub of the same person.
        let there = try ClinicalImportTests()
        #expect(try there.importing(Self.immunization(updated: "2020-01-01T00:00:00Z")) == (1, 0))
        #expect(try there.uuid() == here)
        #expect(here.hasPrefix("016f5e66-e800"))
    }

    @Test func aBundleOfManyResourcesIsReadInLittleMemory() throws {
        // 48 MiB of notes of 3 MiB each.
        let note = String(repeating: "QUJD", count: 768 << 10)
        var bundle = Array(#"{"resourceType":"Bundle","entry":["#.utf8)
        for number in 0..<16 {
            if number > 0 { bundle.append(UInt8(ascii: ",")) }
            bundle +=
                """
                {"resource":{"resourceType":"DocumentReference","id":"d\(number)","status":"current","date":"2020-01-01T00:00:00Z",\
                "content":[{"attachment":{"contentType":"text/plain","data":"\(note)"}}]}}
                """.utf8
        }
        bundle += "]}".utf8
        try folder.write("bundle.json", bundle)
        let run = try Vitalgate.run(
            ["--store", folder.store, "import", folder.path("bundle.json")],
            environment: Vitalgate.environment(home: folder.root), memory: 64 << 20)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try folder.vitalgate("query", "clinicalNoteRecord", "--format", "ndjson").lines.count == 16)
    }
}
