import FoundationEssentials
import Glibc
import Testing

/// The limits of memory of the processes beside a hub.
@Suite struct MemoryLimitTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// An import that needs too much ends with its reason. What it has stored stays, and the rest can be imported later.
    @Test func explainsTheEndOfAnImport() throws {
        let file = try folder.write("many.csv", Self.rows(60_000))
        let run = try folder.vitalgate(["import", file], environment: ["VITALGATE_MEMORY": "\(24 << 20)"])
        #expect(run.status != 0)
        #expect(run.errors.contains("vitalgate: this process reached its memory limit of 24 MiB"), "\(run.errors)")
        #expect(try folder.vitalgate("store", "check").status == 0)
        #expect(try folder.vitalgate("import", file).status == 0)
        #expect(try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.count == 60_000)
    }

    /// An import below a running hub that needs too much ends alone. The hub goes on, and the file is refused with the reason after some
    /// attempts.
    @Test func theHubOutlivesAnImport() throws {
        mkdir(folder.path("inbox"), 0o700)
        // The limit of the machine, below which the hub has room and the import of this element does not.
        let limit = 40 << 20
        let element =
            "{\"data\":{\"metrics\":[{\"name\":\"step_count\",\"units\":\"count\",\"data\":["
            + "{\"date\":\"2026-05-11 00:00:00 +0200\",\"qty\":1,\"x\":[" + String(repeating: "[],", count: 5 << 20) + "1]}]}]}}"
        let hub = try RunningHub(folder, wrapper: ["/usr/bin/prlimit", "--data=\(limit)"])
        try hub.waits { folder.exists("inbox/refused") }
        try hub.drop("large.json", element)
        try hub.waitsFor("inbox/refused/large.json.account.json")
        let account = try hub.account("refused/large.json")
        #expect(account["error"].text == "vitalgate: this process reached its memory limit of 40 MiB and has ended", "\(account)")
        try hub.drop("small.csv", Self.rows(3))
        try hub.waitsFor("inbox/done/small.csv.account.json")
        #expect(try hub.stop().status == 0)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    /// A process that stays below its limit works as usual.
    @Test func worksBelowTheLimit() throws {
        let run = try folder.vitalgate(["types"], environment: ["VITALGATE_MEMORY": "\(256 << 20)"])
        #expect(run.status == 0 && !run.errors.contains("memory"), "\(run.errors)")
    }

    private static func rows(_ count: Int) -> String {
        func two(_ number: Int) -> String { "\(number / 10)\(number % 10)" }
        let rows = (0..<count).map { second in
            "2026-01-01T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z,heartRate,\(60 + second % 40),/min\n"
        }
        return "time,type,value,unit\n" + rows.joined()
    }
}
