import Glibc
import Testing

/// `stats` of many stretches: answered in little memory, or refused at once.
@Suite struct ManyIntervalsTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let file = try folder.write(
            "steps.csv",
            """
            time,type,value,unit,end
            1972-01-01T00:00:00Z,stepCount,50000,1,2025-01-01T00:00:00Z
            2025-02-01T00:00:00Z,flightsClimbed,200,1,2025-06-19T21:20:00Z
            2025-03-01T00:00:00Z,heartRate,60,/min,
            2025-03-01T00:01:00Z,heartRate,70,/min,
            2025-03-05T00:01:00Z,heartRate,80,/min,

            """)
        _ = try folder.vitalgate("import", file)
    }

    /// 27,876,960 minutes.
    @Test func aLifeByTheMinute() throws {
        let run = try folder.vitalgate("stats", "stepCount", "--every", "1m")
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        for word in ["27,876,960", "--every", "--from"] { #expect(run.errors.contains(word), "\(run.errors)") }
        let years = try folder.vitalgate("stats", "stepCount", "--every", "1y", "--format", "ndjson").objects()
        #expect(years.count == 53)
        #expect(abs(years.compactMap { $0["sum"].double }.reduce(0, +) - 50000) < 1e-6)
        let day = try folder.vitalgate(
            "stats", "stepCount", "--every", "1m", "--from", "2024-01-01", "--to", "2024-01-02", "--format", "ndjson")
        #expect(day.lines.count == 1440)
    }

    /// Two hundred thousand rows in the memory of some thousand.
    @Test(arguments: ["ndjson", "table"])
    func manyRows(format: String) throws {
        let run = try Vitalgate.run(
            try folder.options() + ["stats", "flightsClimbed", "--every", "1m", "--format", format],
            environment: Vitalgate.environment(home: folder.root), memory: 32 << 20)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.lines.count == 200_000 + (format == "ndjson" ? 0 : 1))
        #expect(run.lines.filter { $0.contains("type,start") || $0.contains("from  ") }.count == (format == "ndjson" ? 0 : 1))
    }

    @Test func severalTypesAndALimit() throws {
        let rows = try folder.vitalgate("stats", "heartRate,stepCount", "--every", "1d", "--limit", "2", "--format", "ndjson")
            .objects()
        #expect(rows.map { $0["type"].text } == ["heartRate", "heartRate", "stepCount", "stepCount"])
        #expect(rows.prefix(2).map { $0["average"].double } == [65, 80])
        let csv = try folder.vitalgate("stats", "heartRate,stepCount", "--every", "1y", "--limit", "1", "--format", "csv")
        #expect(csv.lines.count == 3)
        #expect(csv.lines[0] == "type,start,end,subject,unit,count,sum,average,min,max,mostRecent,zone")
        #expect(csv.lines.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 12 })
        let table = try folder.vitalgate("stats", "heartRate,stepCount", "--every", "1y", "--limit", "1")
        #expect(table.lines.filter { $0 == "heartRate" || $0 == "stepCount" }.count == 2)
        #expect(try folder.vitalgate("stats", "heartRate,all", "--every", "1y").status == 64)
        #expect(try folder.vitalgate("stats", "heartRate,", "--every", "1y").status == 64)
        #expect(try folder.vitalgate("stats", "heartRate,stepCount", "--every", "1y", "--unit", "/min").status == 65)
        #expect(try folder.vitalgate("stats", "heartRate", "--every", "1y", "--limit", "0").lines.count == 1)
    }
}
