import Testing

/// `store prune`: by the configuration or by one type and date, and only a preview without --yes.
@Suite struct PruneCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    private func count() throws -> Int { try folder.vitalgate("query", "all", "--format", "ndjson").lines.count }

    @Test func prunesByConfiguration() throws {
        try folder.write("config.json5", "{ retention: { heartRate: '1d', all: '900y' } }\n")
        let shown = try folder.vitalgate("store", "prune")
        #expect(shown.errors == "4 samples and 0 tombstones would be permanently removed (confirm with --yes)\n")
        #expect(try count() == 10)
        let done = try folder.vitalgate("store", "prune", "--yes")
        #expect(done.status == 0 && done.errors == "4 samples and 0 tombstones permanently removed (ledger entry 2)\n")
        #expect(try count() == 6)
        #expect(
            try folder.vitalgate("store", "prune", "--yes").errors
                == "nothing to remove: no sample is older than its retention period\n")
        #expect(try folder.vitalgate("ledger", "undo", "2").errors.contains("permanently"))
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        // Repeated readings are refused, and everything is counted.
        let again = try folder.vitalgate(
            "import", folder.path("household.csv"), "--person", Family.person, "--format", "ndjson")
        let account = try Account(again.last)
        #expect(again.status == 65 && account.refused == 4 && account.stored == 0)
    }

    @Test func oneTypeAndOneDate() throws {
        let done = try folder.vitalgate(
            "store", "prune", "--type", "stepCount", "--before", "2026-03-29T11:00:00Z", "--yes")
        #expect(done.status == 0, "\(done.errors)")
        // What ends just then stays.
        let values = try folder.vitalgate("query", "stepCount", "--format", "ndjson").objects().compactMap { $0["value"].double }
        #expect(values == [1000, 400])
        let line = try #require(try folder.vitalgate("changes").lines.last.map { try JSON($0) })
        #expect(line["pruned"].text == "stepCount" && line["before"].text == "2026-03-29T11:00:00.000000Z")
        #expect(line["anchor"].text?.hasSuffix("-11") == true)
    }

    @Test func outdatedReaderGetsError() throws {
        let lines = try folder.vitalgate("changes").lines
        let anchor = try #require(try JSON(lines[2])["anchor"].text)
        let last = try #require(try JSON(lines[lines.count - 1])["anchor"].text)
        try folder.vitalgate("store", "prune", "--type", "heartRate", "--before", "2026-04-01", "--yes")
        let after = try folder.vitalgate("changes", "--after", anchor)
        #expect(after.status == 65 && after.output.isEmpty && after.errors.contains("--after 0"), "\(after.errors)")
        #expect(try folder.vitalgate("changes", "--after", last).lines.count == 2)
        #expect(try folder.vitalgate("changes").status == 0)
    }

    @Test(arguments: [
        ["--before", "2026-01-01"], ["--type", "heartRate", "--before", "2999-01-01"], ["--type", "nothing", "--before", "-1d"],
    ])
    func refusesInvalidOptions(options: [String]) throws {
        let run = try folder.vitalgate(["store", "prune", "--yes"] + options)
        #expect(run.status == 64, "\(run.errors)")
        #expect(try count() == 10)
    }

    @Test(arguments: [
        "{ heartRate: '90' }", "{ heart: '90d' }", "{ all: '-1d' }", "{ all: '0d' }", "{ all: 90 }", "{ all: '9999999y' }",
    ])
    func refusesInvalidRetention(retention: String) throws {
        try folder.write("config.json5", "{ retention: \(retention) }\n")
        let run = try folder.vitalgate("store", "prune", "--yes")
        #expect(run.status == 78 && run.errors.contains("retention"), "\(run.status): \(run.errors)")
        try folder.write("config.json5", "{}\n")
        #expect(try count() == 10)
    }

    /// A removal of nearly everything is confirmed, and the date that it has set can be set back.
    @Test func unusualAmountsAreConfirmed() throws {
        try folder.write("config.json5", "{ retention: { all: '1d' }, prune: 'daily' }\n")
        let preview = try folder.vitalgate("store", "prune")
        #expect(preview.status == 0 && preview.errors.contains("10 of 10 samples") && preview.errors.contains("--confirm"))
        let refused = try folder.vitalgate("store", "prune", "--yes")
        #expect(refused.status == 65 && refused.errors.contains("nothing was removed: it would remove 10 of 10"), "\(refused)")
        #expect(try count() == 10)
        #expect(try folder.vitalgate("doctor").output.contains("old samples are not removed: it would remove 10 of 10"))
        #expect(try folder.vitalgate("store", "prune", "--yes", "--confirm").status == 0)
        #expect(try count() == 0)

        let option = ["store", "prune", "--set-back", "--type", "heartRate", "--before", "2020-01-01T00:00:00Z"]
        let shown = try folder.vitalgate(option)
        #expect(shown.errors.contains("'heartRate' would be set back from") && shown.errors.contains("to 2020-01-01"), "\(shown)")
        #expect(try folder.vitalgate(option + ["--yes"]).errors.contains("was set back"))
        try folder.vitalgate("import", folder.path("household.csv"), "--person", Family.person)
        #expect(try count() == 4)
    }
}
