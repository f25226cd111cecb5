import Testing

/// `export --to`: a written file can be read back.
@Suite struct ExportFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Counts and statistics of a store.
    private func account(_ store: String) throws -> [String] {
        try folder.vitalgate(["stats", "heartRate", "--every", "1d", "--format", "ndjson"], store: store).lines
    }

    @Test(arguments: ["me.xml", "me.zip"]) func theHealthAppsExportIsReadBack(name: String) throws {
        // They have one second, one value and one source, and differ only in their UUIDs.
        var text = InboxTests.csv(50)
        for part in 1...9 { text += "2026-01-01T00:00:00.\(part)Z,heartRate,60,/min\n" }
        try folder.vitalgate("import", folder.write("a.csv", text))
        let run = try folder.vitalgate("export", "--to", folder.path(name))
        #expect(run.status == 0 && run.errors.hasSuffix("\(name): 59 samples\n"), "\(run)")
        let back = folder.path("back.db")
        let account = try JSON(try folder.vitalgate(["import", "--format", "ndjson", folder.path(name)], store: back).last)
        #expect((account["read"].integer, account["stored"].integer) == (59, 59))
        #expect(try self.account(back).count == 1)
        // Not the average, which depends on the duration of each value: the file's times are whole seconds.
        for figure in ["count", "min", "max"] {
            let (read, written) = (try self.account(back), try self.account(folder.store))
            #expect(try read.map { try JSON($0)[figure] } == written.map { try JSON($0)[figure] })
        }
        // Once more is nothing new.
        let again = try JSON(try folder.vitalgate(["import", "--format", "ndjson", folder.path(name)], store: back).last)
        #expect(again["duplicate"].integer == 59)
        #expect(folder.mode(name) == 0o600)
    }

    /// A type by its display name, and a range that ends.
    @Test func aRangeOfOneType() throws {
        for (type, value, unit, day) in [("weight", "71", "kg", 18), ("weight", "72", "kg", 19), ("pulse", "61", "/min", 18)] {
            #expect(try folder.vitalgate("add", type, value, unit, "--at", "2026-11-\(day)T07:30:00Z").status == 0)
        }
        func written(_ name: String, _ options: String...) throws -> [String] {
            let run = try folder.vitalgate(["export", "--to", folder.path(name)] + options)
            #expect(run.status == 0, "\(run.errors)")
            return folder.text(name).split(separator: "\n").map(String.init)
        }
        let all = try written("all.ndjson")
        #expect(all.count == 3)
        #expect(
            try written("one.ndjson", "--type", "Weight", "--from", "2026-11-18", "--until", "2026-11-19")
                == all.filter { $0.contains("bodyMass") && $0.contains("2026-11-18T07") })
        #expect(try written("two.ndjson", "--types", "Weight, Heart Rate", "--until", "2026-11-19T07:30:00Z").count == 2)
        let range = ["--from", "2026-11-19", "--until", "2026-11-18"]
        #expect(try folder.vitalgate(["export", "--to", folder.path("no.ndjson")] + range).status == 64)
        #expect(try folder.vitalgate("export", "archive", "--until", "2026-11-18").status == 64)
    }

    @Test func linesAreThoseOfQuery() throws {
        try folder.vitalgate("import", folder.write("in.csv", InboxTests.csv(50)))
        #expect(try folder.vitalgate("export", "--to", folder.path("a.ndjson")).status == 0)
        // And the data that its UUID is computed from.
        let query = try folder.vitalgate("query", "all", "--format", "ndjson").output
        #expect(folder.text("a.ndjson").replacing(/,"identity":\{[^}]*\}/, with: "") == query)
        #expect(try folder.vitalgate("export", "--to", folder.path("a.csv"), "--types", "bodyMass").status == 0)
        #expect(folder.text("a.csv").split(separator: "\n").count == 1)
        #expect(try folder.vitalgate("export", "--to", folder.path("a.ndjson")).status == 73)
        #expect(try folder.vitalgate("export", "--to", "/nowhere/a.csv").status == 73)
        #expect(try folder.vitalgate("export", "--types", "heartRate", "archive").status == 64)
    }
}
