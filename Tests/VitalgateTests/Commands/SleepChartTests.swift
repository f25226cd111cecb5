import Testing

/// `query sleepAnalysis --chart`: nights, each moment once.
@Suite struct SleepChartTests {
    private static func store(_ reported: [(source: String, raw: String, from: Int64, minutes: Int64)]) throws -> ObjectStore {
        var objects = try ObjectStore()
        for (index, each) in reported.enumerated() {
            try objects.add(
                "\(index)", "sleepAnalysis", number: each.raw, at: each.from * 60, lasting: each.minutes * 60, source: each.source
            )
        }
        return objects
    }

    /// A watch and a phone report one night, and the watch counts whenever it reports. The totals are minutes counted by hand.
    @Test func eachMomentOnce() throws {
        let objects = try Self.store([
            ("iPhone", "0", 0, 480), ("iPhone", "1", 10, 460), ("Watch", "3", 30, 60), ("Watch", "4", 90, 30),
            ("Watch", "2", 120, 6),
            ("Watch", "5", 126, 24), ("Watch", "3", 150, 200), ("Watch", "3", 100, 20),
        ])
        let run = try objects.folder.vitalgate(
            ["query", "sleepAnalysis", "--chart"], environment: ["LC_ALL": "C"])
        #expect(run.status == 0, "\(run.errors)")
        // The watch reports from minute 30 to 350, and the phone's rest is 20 + 120 minutes. Core takes precedence over deep if one source
        // reports both.
        let totals = run.lines.compactMap { line in
            line.split(separator: " ").first.map { (String($0), line.suffix(10).trimmingPrefix { $0 == " " }) }
        }
        func total(_ name: String) -> String? { totals.first { $0.0 == name }.map { String($0.1) } }
        #expect(total("awake") == "6 min")
        #expect(total("REM") == "24 min")
        #expect(total("core") == "4 h 40 min")
        #expect(total("deep") == "10 min")
        #expect(total("asleep") == "2 h 20 min")
        #expect(total("in") == "8 h 00 min")
        #expect(run.lines.first == "2026-11-20 07:31 to 15:31 +01:00, asleep 7 h 34 min (Watch, iPhone)")
        #expect(run.output.utf8.allSatisfy { $0 < 0x80 })
        let drawn = try objects.folder.vitalgate(
            ["query", "sleepAnalysis", "--chart"], environment: ["LC_ALL": "C.UTF-8"])
        #expect(drawn.output.contains("█") && drawn.lines.allSatisfy { $0.count <= 80 })
    }

    /// The configured priority takes precedence over worn devices.
    @Test func thePersonsOwnPriority() throws {
        let objects = try Self.store([("iPhone", "1", 0, 100), ("Watch", "4", 0, 60)])
        #expect(try objects.folder.vitalgate("query", "sleepAnalysis", "--chart").output.contains("deep"))
        try objects.folder.write("config.json5", "{ priority: ['iPhone'] }")
        let run = try objects.folder.vitalgate("query", "sleepAnalysis", "--chart")
        #expect(!run.output.contains("deep") && run.output.contains("asleep 1 h 40 min (iPhone, Watch)"))
    }

    /// A nap is separate. A night is drawn completely if it overlaps the range.
    @Test func nightsAndRanges() throws {
        let objects = try Self.store([
            ("Watch", "3", 0, 60), ("Watch", "3", 60, 60), ("Watch", "1", 400, 30), ("Watch", "3", 1440, 60),
        ])
        func starts(_ arguments: String...) throws -> [String] {
            let run = try objects.folder.vitalgate(["query", "sleepAnalysis", "--chart"] + arguments)
            #expect(run.status == 0, "\(run.errors)")
            return run.lines.filter { $0.hasPrefix("2026") }.map { String($0.prefix(16)) }
        }
        #expect(try starts() == ["2026-11-20 07:31", "2026-11-20 14:11", "2026-11-21 07:31"])
        #expect(
            try starts("--from", "2026-11-20T07:00:00Z", "--to", "2026-11-21T00:00:00Z") == [
                "2026-11-20 07:31", "2026-11-20 14:11",
            ])
        #expect(try starts("--limit", "1", "--sort", "-start") == ["2026-11-21 07:31"])
        #expect(try starts("--where", "case = asleepUnspecified") == ["2026-11-20 14:11"])
        for wrong in [
            ["query", "heartRate", "--chart"], ["query", "all", "--chart"],
            ["query", "sleepAnalysis", "--chart", "--format", "csv"],
        ] {
            #expect(try objects.folder.vitalgate(wrong).status == 64)
        }
        let page = try objects.folder.vitalgate("show", objects["1"])
        #expect(
            page.output.contains("the night around it")
                && page.output.contains("2026-11-20 07:31 to 09:31 +01:00, asleep 2 h 00 min"))
    }
}
