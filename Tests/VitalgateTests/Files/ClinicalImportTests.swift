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
            "import", try folder.write("record.json", text), "--person", Family.person, "--format", "ndjson")
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

    @Test func changedRecordWithoutTimeReplaces() throws {
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

    @Test func readsLargeBundleInLittleMemory() throws {
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

    // MARK: Results and references

    /// Results of glucose, made up for Vitalgate: two numbers, a limit, and a part of a panel.
    private static let results = """
        {"resourceType":"Observation","id":"g-1","meta":{"lastUpdated":"2026-10-02T09:00:00Z"},"status":"final","category":[{"coding":[\
        {"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],"code":{"coding":[\
        {"system":"http://loinc.org","code":"2339-0"}]},"subject":{"reference":"Patient/p-1"},"effectiveDateTime":"2026-10-02",\
        "valueQuantity":{"value":88.10,"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"},\
        "referenceRange":[{"low":{"value":70,"unit":"mg/dL"},"high":{"value":99,"unit":"mg/dL"}}]}
        {"resourceType":"Observation","id":"g-2","meta":{"lastUpdated":"2026-10-02T09:00:00Z"},"status":"final","category":[{"coding":[\
        {"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],"code":{"coding":[\
        {"system":"http://loinc.org","code":"2339-0"}]},"subject":{"reference":"Patient/p-1"},"effectiveDateTime":"2026-08-01",\
        "valueQuantity":{"value":104,"unit":"mg/dL","system":"http://unitsofmeasure.org","code":"mg/dL"},\
        "interpretation":[{"text":"High"}]}
        {"resourceType":"Observation","id":"g-3","meta":{"lastUpdated":"2026-10-02T09:00:00Z"},"status":"final","category":[{"coding":[\
        {"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],"code":{"coding":[\
        {"system":"http://loinc.org","code":"2339-0"}]},"subject":{"reference":"Patient/p-1"},"effectiveDateTime":"2026-07-01",\
        "valueQuantity":{"value":20,"comparator":"<","unit":"mg/dL"}}
        {"resourceType":"Observation","id":"b-1","meta":{"lastUpdated":"2026-10-02T09:00:00Z"},"status":"final","category":[{"coding":[\
        {"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}]}],"code":{"coding":[\
        {"system":"http://loinc.org","code":"85354-9"}]},"subject":{"reference":"Patient/p-1"},"effectiveDateTime":"2026-09-01",\
        "component":[{"code":{"coding":[{"system":"http://loinc.org","code":"8480-6"}]},"valueQuantity":{"value":121,"unit":"mmHg",\
        "system":"http://unitsofmeasure.org","code":"mm[Hg]"}}]}

        """

    private func fill(_ name: String, _ text: String) throws {
        let run = try folder.vitalgate("import", try folder.write(name, text), "--person", Family.person)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func aResultIsInEveryOutput() throws {
        try fill("results.ndjson", Self.results)
        let lines = try folder.vitalgate(
            "query", "labResultRecord,vitalSignRecord", "--sort", "date", "--format", "ndjson"
        ).lines
        #expect(lines.count == 4)
        #expect(
            lines[0].contains(#""original":{"comparator":"<","value":"20","unit":"mg/dL"},"result":"<20 mg/dL""#), "\(lines[0])")
        #expect(!lines[0].contains(#","value":20"#), "\(lines[0])")
        #expect(
            lines[1].contains(#""value":104,"unit":"mg/dL""#) && lines[1].contains(#""interpretation":["High"]"#), "\(lines[1])")
        #expect(lines[2].contains(#""result":"Systolic blood pressure 121 mmHg""#), "\(lines[2])")
        #expect(
            lines[3].contains(
                #""date":"2026-10-02","value":88.10,"unit":"mg/dL","original":{"value":"88.10","unit":"mg/dL"},"result":"88.10 mg/dL","ranges":[{"text":"70–99 mg/dL","low":{"value":70,"unit":"mg/dL"},"high":{"value":99,"unit":"mg/dL"},"appliesTo":[]}],"outOfRange":false"#
            ), "\(lines[3])")
        let table = try folder.vitalgate("query", "labResultRecord", "--sort", "-date").output
        #expect(table.contains("2026-10-02") && table.contains("Glucose [Mass/volume] in Blood 88.10"), "\(table)")
        let csv = folder.path("all.csv")
        #expect(try folder.vitalgate("export", "--to", csv).status == 0)
        let rows = String(decoding: try Data(contentsOf: URL(filePath: csv)), as: UTF8.self)
        #expect(rows.contains("labResultRecord,88.10,mg/dL,"), "\(rows)")
        #expect(rows.contains("Glucose [Mass/volume] in Blood,2026-10-02,88.10 mg/dL,70–99 mg/dL,"), "\(rows)")
        func count(_ condition: String) throws -> Int {
            try folder.vitalgate("query", "all", "--where", condition, "--format", "ndjson").lines.count { !$0.isEmpty }
        }
        #expect(try count("value > 50 mg/dL") == 2 && count("value > 200 mg/dL") == 0 && count("value > 5.7 mmol/L") == 1)
        #expect(try count("code.loinc = 2339-0 and value < 100 mg/dL") == 1 && count("result = '<20 mg/dL'") == 1)
        // Exported lines can be imported again.
        let copy = folder.path("all.ndjson")
        #expect(try folder.vitalgate("export", "--to", copy).status == 0)
        let other = try ClinicalImportTests()
        try other.fill("copy.ndjson", String(decoding: try Data(contentsOf: URL(filePath: copy)), as: UTF8.self))
        #expect(
            try other.folder.vitalgate("query", "all", "--where", "value > 50 mg/dL", "--format", "ndjson").lines.count == 2)
    }

    @Test func trendUsesTestDay() throws {
        try fill("results.ndjson", Self.results)
        let run = try folder.vitalgate("stats", "2339-0,loinc:8480-6", "--every", "1mo", "--format", "csv")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("2339-0: 1 result without a number not counted: <20 mg/dL"), "\(run.errors)")
        #expect(
            run.lines.map { $0.split(separator: ",").prefix(4).joined(separator: " ") } == [
                "type loinc name start",
                "labResultRecord 2339-0 Glucose [Mass/volume] in Blood 2026-08-01T00:00:00.000000Z",
                "labResultRecord 2339-0 Glucose [Mass/volume] in Blood 2026-10-01T00:00:00.000000Z",
                "labResultRecord 8480-6 Systolic blood pressure 2026-09-01T00:00:00.000000Z",
            ], "\(run.output)")
        let other = try folder.vitalgate(
            "stats", "2339-0", "--every", "1y", "--unit", "mmol/L", "--show", "max", "--format", "ndjson")
        #expect(other.last.contains(#""unit":"mmol/L","count":2,"max":5.77"#), "\(other.output)")
        #expect(try folder.vitalgate("stats", "1-8", "--every", "1d").errors.contains("no results of LOINC 1-8"))
        #expect(try folder.vitalgate("stats", "labResultRecord", "--every", "1d").errors.contains("give a LOINC code"))
    }

    @Test func theDrugIsInAnotherResourceAndAnotherFile() throws {
        let request = """
            {"resourceType":"MedicationRequest","id":"m-1","meta":{"lastUpdated":"2026-10-02T09:00:00Z","source":"https://clinic.example.org"},\
            "status":"active","intent":"order","authoredOn":"2026-10-01","medicationReference":{"reference":"Medication/x-1"},\
            "subject":{"reference":"Patient/p-1"},"reasonReference":[{"reference":"Condition/c-1"}]}
            """
        let others = """
            {"resourceType":"Medication","id":"x-1","meta":{"source":"https://clinic.example.org"},"code":{"text":"metformin 500 MG"}}
            {"resourceType":"Condition","id":"c-1","meta":{"source":"https://clinic.example.org"},"subject":{"reference":"Patient/p-1"},\
            "clinicalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"active"}]},\
            "code":{"text":"Diabetes mellitus type 2"}}

            """
        try fill("request.json", request)
        #expect(try folder.vitalgate("query", "medicationRecord").output.contains("MedicationRequest"))
        try fill("others.ndjson", others)
        let line = try folder.vitalgate("query", "medicationRecord", "--format", "ndjson").last
        #expect(line.contains(#""displayName":"metformin 500 MG""#), "\(line)")
        let uuid = String(line.dropFirst("{\"uuid\":\"".count).prefix(36))
        let page = try folder.vitalgate("show", uuid).output
        #expect(page.contains("medicationRecord  metformin 500 MG") && page.contains("Diabetes mellitus type 2"), "\(page)")
        #expect(page.contains("date         2026-10-01"), "\(page)")
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
    }
}
