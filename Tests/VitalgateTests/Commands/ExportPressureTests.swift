import Testing

/// Blood pressures in a table with a column for each type.
@Suite struct ExportPressureTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let rows = "bloodPressureSystolic,124,mm[Hg]\n2026-03-30T08:00:00Z,bloodPressureDiastolic,79,mm[Hg]"
        let file = try folder.write("cuff.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,\(rows)\n")
        #expect(try folder.vitalgate("import", file).status == 0)
    }

    @Test func aPressureHasTwoColumns() throws {
        let path = folder.path("wide.csv")
        let run = try folder.vitalgate("export", "--to", path, "--format", "wide", "--types", "bloodPressure")
        #expect(run.status == 0, "\(run.errors)")
        let lines = folder.text("wide.csv").split(whereSeparator: \.isNewline)
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix("bloodPressureDiastolic [mm[Hg]],bloodPressureSystolic [mm[Hg]]") == true)
        #expect(lines.last?.hasSuffix(",79.0,124.0") == true)
    }

    @Test func aTableWithoutColumnsIsRefused() throws {
        let path = folder.path("none.csv")
        let run = try folder.vitalgate("export", "--to", path, "--format", "wide", "--types", "workout,sleepAnalysis")
        #expect(run.status == 64 && run.errors.contains("quantities"), "\(run.errors)")
        #expect(!folder.exists("none.csv"))
    }
}
