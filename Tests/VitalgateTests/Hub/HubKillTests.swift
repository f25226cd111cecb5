import FoundationEssentials
import Glibc
import PipelineTesting
import Testing

/// The hub is killed with SIGKILL at random moments while frames and files arrive. Data that was reported as stored is there afterwards,
/// and all repeatable data is there once.
@Suite struct HubKillTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func setting(_ name: String, _ standard: Int) -> Int { getenv(name).flatMap { Int(String(cString: $0)) } ?? standard }

    private func adopt(_ pty: Pty) throws {
        let run = try folder.vitalgate("devices", "adopt", pty.path, "--profile", "generic-lines")
        #expect(run.status == 0, "\(run.errors)")
    }

    private func start() throws -> RunningHub {
        let hub = try RunningHub(folder)
        try hub.waits("it works") { folder.exists("inbox/refused") && hub.count("it is plugged in") == 2 }
        return hub
    }

    /// The records that a device with a memory sends for each request.
    private static let memory = (0..<40).map { number in
        "bodyTemperature,\(36 + Double(number) / 100),Cel,2025-06-01T06:\(number + 10):00Z\n"
    }

    @Test func acknowledgedReadingsAreStoredOnce() throws {
        let kills = setting("VITALGATE_HUB_KILLS", 20)
        let seed = setting("VITALGATE_SEED", 2026)
        var random = SeededGenerator(seed: UInt64(seed))
        let (stream, meter) = (try Pty(), try Pty())
        try adopt(stream)
        try adopt(meter)
        // A reader outside of the hub that survives it. The data that it received is acknowledged.
        let reader = try folder.start("changes", "--follow")
        var sent = 0
        for kill in 0..<kills {
            let hub = try start()
            try folder.write("part.tmp", Self.part(kill))
            rename(folder.path("part.tmp"), folder.path("inbox/\(kill).csv"))
            for line in Self.memory { meter.write(line) }
            // Every fourth one dies young.
            let frames = Int.random(in: 0..<(random.next() % 4 == 0 ? 20 : 600), using: &random)
            for _ in 0..<frames {
                stream.write("bodyMass=\(50 + Double(sent) / 1000) kg\n")
                sent += 1
                usleep(2000)
            }
            hub.program.signal(SIGKILL)
            #expect(try hub.program.wait().status == 128 + SIGKILL)
            guard kill % 20 == 19 || kill == kills - 1 else { continue }
            #expect(try folder.vitalgate("store", "check").status == 0, "after kill \(kill), seed \(seed)")
        }
        let hub = try start()
        for line in Self.memory { meter.write(line) }
        try hub.waits("every file is put away") { (0..<kills).allSatisfy { folder.exists("inbox/done/\($0).csv.account.json") } }
        try hub.waits("all of the memory is there") {
            try folder.vitalgate("query", "bodyTemperature", "--format", "ndjson").lines.count == Self.memory.count
        }
        #expect(try hub.stop().status == 0)
        reader.signal(SIGTERM)
        try verify(reported: try reader.wait().lines, sent: sent, kills: kills, seed: seed)
    }

    private func verify(reported: [String], sent: Int, kills: Int, seed: Int) throws {
        let lines = try folder.vitalgate("query", "all", "--format", "ndjson").lines.map { try JSON($0) }
        let uuids = lines.compactMap { $0["uuid"].text }
        #expect(Set(uuids).count == lines.count)
        let acknowledged = try reported.map { try JSON($0) }.compactMap { $0["uuid"].text }
        #expect(acknowledged.count > kills, "the reader was told of something")
        #expect(Set(acknowledged).isSubset(of: uuids), "acknowledged and gone, seed \(seed)")
        #expect(Set(acknowledged).count == acknowledged.count, "told once")
        let weights = lines.filter { $0["type"].text == "bodyMass" }.compactMap { $0["original"]["value"].text }
        #expect(Set(weights).count == weights.count && weights.count <= sent)
        #expect(lines.count { $0["type"].text == "heartRate" } == kills * 5)
        let check = try folder.vitalgate("store", "check")
        #expect(check.status == 0, "\(check.output)")
        for line in try folder.vitalgate("ledger", "list", "--format", "ndjson").lines {
            let account = try JSON(line)
            let retained = ["stored", "duplicate", "quarantined", "refused"].compactMap { account[$0].integer }.reduce(0, +)
            #expect(account["read"].integer == retained, "\(line)")
        }
    }

    private static func part(_ number: Int) -> String {
        "time,type,value,unit\n"
            + (0..<5).map {
                "2025-0\(number / 250 + 1)-01T0\(number / 60 % 10):\(10 + number % 50):0\($0)Z,heartRate,\(60 + number % 100).\($0 + 1),/min\n"
            }
            .joined()
    }
}
