import Testing

/// `medications`: a person's medications.
@Suite struct MedicationsCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    private func listed(_ options: String...) throws -> [JSON] {
        try folder.vitalgate(["medications", "list", "--format", "ndjson"] + options).objects()
    }

    @Test func noteChangeAndForget() throws {
        #expect(try listed().isEmpty)
        let set = try folder.vitalgate(
            "medications", "set", "Ibuprofen 400 mg", "--form", "tablet", "--code", "rxnorm:310965", "--nickname", "headache",
            "--as-needed")
        #expect(set.status == 0 && set.errors.isEmpty, "\(set.errors)")
        #expect(try folder.vitalgate("medications", "set", "Insulin glargine", "--scheduled", "--form", "injection").status == 0)
        let first = try #require(try listed().first)
        #expect(first["medication"].text == "Ibuprofen 400 mg" && first["nickname"].text == "headache")
        #expect(first["generalForm"].text == "tablet" && first["hasSchedule"] == .boolean(false))
        #expect(first["codes"].list[0]["system"].text == "http://www.nlm.nih.gov/research/umls/rxnorm")
        #expect(first["codes"].list[0]["code"].text == "310965")
        // Unspecified fields do not change.
        #expect(try folder.vitalgate("medications", "set", "Ibuprofen 400 mg", "--archived", "--nickname", "").status == 0)
        #expect(try listed().map { $0["medication"].text } == ["Insulin glargine"])
        let archived = try #require(try listed("--all").first)
        #expect(
            archived["isArchived"] == .boolean(true) && archived["generalForm"].text == "tablet" && archived["nickname"] == .null)
        #expect(try folder.vitalgate("medications", "list").output.contains("Insulin glargine"))
        // Of each person, and in no query.
        #expect(try listed("--person", Family.guest).isEmpty)
        #expect(!(try folder.vitalgate("query", "all", "--format", "ndjson").output.contains("Insulin")))
        #expect(try folder.vitalgate("medications", "remove", "Insulin glargine").status == 0)
        #expect(try folder.vitalgate("medications", "remove", "Insulin glargine").status == 65)
        #expect(try listed().isEmpty)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }

    @Test(arguments: [
        ["--form", "pill"], ["--code", "310965"], ["--code", "drugs:1"], ["--code", "rxnorm:"], ["--scheduled", "--as-needed"],
        ["--archived", "--taken"], ["--person", "nobody"],
    ])
    func reportsInvalidOptions(_ options: [String]) throws {
        let run = try folder.vitalgate(["medications", "set", "Aspirin"] + options)
        #expect([64, 78].contains(run.status), "\(run.status) \(run.errors)")
        #expect(try listed("--all").isEmpty)
    }

    @Test func aNameHasAnEnd() throws {
        #expect(try folder.vitalgate("medications", "set", String(repeating: "a", count: 501)).status == 65)
        #expect(try folder.vitalgate("medications", "set", "").status != 0)
    }
}
