import Dispatch
import FoundationEssentials
import Glibc
import HTTPServerKit
import HTTPServerTesting
import HealthModel
import PipelineTesting
import Testing

/// The server and two phones are killed again and again, and answers are lost. At the end each phone has every sample once.
@Suite struct WriteBackKillTests {
    private let folder: TestFolder
    private let address: ListeningAddress
    private static let path = "/v1/changes/write-back"

    init() throws {
        folder = try TestFolder()
        address = .unix(path: folder.path("api.socket"))
        try folder.write("config.json5", "{ api: { listen: 'unix:\(folder.path("api.socket"))' } }\n")
    }

    private struct Page: Decodable {
        var items: [Item]
        var cursor: Int64
        var more: Bool
    }

    private struct Item: Decodable {
        var key: String
        var version: Int64
        var op: String
        var value: Double?
        var start: String
        var previous: [Earlier]
    }

    private struct Earlier: Decodable {
        var start: String
        var value: Double
    }

    /// An app that can be killed after each of its steps. Its written records stay.
    private final class Phone {
        let token: String
        var cursor: Int64?
        /// Health Connect: one record for each id. A higher version replaces it.
        var records: [String: (version: Int64, item: Item)] = [:]
        /// Apple Health, written by a Shortcut: no ids, and only additions.
        var log: [String] = []
        let hasKeys: Bool

        init(_ token: String, hasKeys: Bool) { (self.token, self.hasKeys) = (token, hasKeys) }

        /// One run, until everything is reported or until it is killed. Returns whether everything is reported.
        func run(_ address: ListeningAddress, isKilled: () -> Bool) -> Bool {
            while true {
                let query = cursor.map { "&after=\($0)" } ?? ""
                let head = "Authorization: Bearer \(token)\r\n"
                guard let answer = RawClient(address)?.get("\(WriteBackKillTests.path)?limit=3\(query)", head),
                    answer.status == 200, let page = try? JSONDecoder().decode(Page.self, from: Data(answer.body)), !isKilled()
                else { return false }
                if hasKeys { cursor = page.cursor }
                for item in page.items {
                    let outcome = write(item)
                    guard !isKilled() else { return false }
                    let result = #"{"key":"\#(item.key)","version":\#(item.version),"outcome":"\#(outcome)"}"#
                    let body = #"{"results":[\#(result)]}"#
                    let reported = RawClient(address)?.send("POST", WriteBackKillTests.path, head, body)
                    guard reported?.status == 200, !isKilled() else { return false }
                }
                if !page.more { return true }
            }
        }

        private func write(_ item: Item) -> String {
            guard hasKeys else {
                // A Shortcut looks for the sample, and for earlier forms of it, before it writes it. It cannot replace or delete one.
                let entry = "\(item.start) \(item.value ?? 0)"
                let hasEarlier = item.previous.contains { log.contains("\($0.start) \($0.value)") }
                guard item.op == "put" else { return hasEarlier ? "refused" : "exists" }
                if log.contains(entry) { return "exists" }
                if hasEarlier { return "refused" }
                log.append(entry)
                return "written"
            }
            guard item.version > records[item.key]?.version ?? 0 else { return "exists" }
            records[item.key] = item.op == "put" ? (item.version, item) : nil
            return "written"
        }
    }

    private func live() throws -> [String] {
        try folder.vitalgate("query", "bodyMass", "--format", "ndjson").objects().map {
            "\(try #require($0["start"].text).prefix(19))Z \(try #require($0["value"].double))"
        }.sorted()
    }

    private func phone(_ name: String, _ app: String, hasKeys: Bool) throws -> Phone {
        let added = try folder.vitalgate("phones", "add", name, "--app", app)
        let token = try #require(added.output.firstMatch(of: #/Bearer (\S+)/#)).output.1
        #expect(try folder.vitalgate("clients", "grant", name, "--read", "bodyMass").status == 0)
        return Phone(String(token), hasKeys: hasKeys)
    }

    private func serve() throws -> RunningVitalgate {
        let server = try folder.start("api", "serve")
        #expect(eventually { server.errors.contains("listening at") })
        return server
    }

    @Test func killedServerAndPhones() throws {
        var random = SeededGenerator(seed: 62)
        func weights(_ round: Int) -> String {
            let rows = (0..<4).map {
                "2026-0\(round % 9 + 1)-11T\(10 + round / 9):0\($0):07Z,bodyMass,\(80 + $0).\(round % 10),kg\n"
            }
            return "time,type,value,unit\n" + rows.joined()
        }
        try folder.vitalgate("import", folder.write("0.csv", weights(0)))
        let phones = [
            try phone("pixel", "hc-webhook", hasKeys: true), try phone("iphone", "health-auto-export", hasKeys: false),
        ]
        var repair = 0
        for round in 1...25 {
            let server = try serve()
            // Two kills of a phone, somewhere in its steps, and one of the server while the phones run.
            let process = server.process
            let delay = UInt32(random.next() % 30_000)
            let killer = DispatchQueue.global().asyncDetached {
                usleep(2000 + delay)
                kill(process, SIGKILL)
            }
            for phone in phones {
                var steps = Int(random.next() % 12)
                _ = phone.run(address) {
                    steps -= 1
                    return steps < 0
                }
            }
            killer.wait()
            _ = try server.wait()
            if round == 10 { #expect(try folder.vitalgate("store", "backup", folder.path("copy.db")).status == 0) }
            switch round % 5 {
            case 1:
                repair += 1
                let scale = ["repair", "apply", "--type", "bodyMass", "--scale", "1.5", "--ambiguous"]
                #expect(try folder.vitalgate(scale).status == 0)
            case 2: #expect(try folder.vitalgate("repair", "undo", "\(repair)").status == 0)
            case 3:
                let last = try folder.vitalgate("query", "bodyMass", "--format", "ndjson").objects().last
                let uuid = try #require(last?["uuid"].text)
                #expect(try folder.vitalgate("delete", uuid).status == 0)
                if round % 2 == 0 { #expect(try folder.vitalgate("restore", uuid).status == 0) }
            default: try folder.vitalgate("import", folder.write("\(round).csv", weights(round)))
            }
            guard round == 18 else { continue }
            // A restored backup. Later files are imported again.
            for suffix in ["-wal", "-shm", ""] { try? FileManager.default.removeItem(atPath: folder.store + suffix) }
            try FileManager.default.copyItem(atPath: folder.path("copy.db"), toPath: folder.store)
            repair = 2
            for earlier in 10...18 where folder.exists("\(earlier).csv") {
                try folder.vitalgate("import", folder.path("\(earlier).csv"))
            }
        }
        let server = try serve()
        for phone in phones { #expect(phone.run(address) { false }) }
        server.signal(SIGTERM)
        #expect(try server.wait().status == 0)
        let samples = try live()
        #expect(samples.count > 20)
        #expect(phones[0].records.values.map { "\($0.item.start) \($0.item.value ?? 0)" }.sorted() == samples)
        // None twice, and none lost that was never corrected or deleted.
        let times = phones[1].log.map { $0.split(separator: " ")[0] }
        #expect(Set(times).count == times.count, "\(phones[1].log)")
        #expect(Set(samples.map { $0.split(separator: " ")[0] }).subtracting(times).isEmpty)
        let account = try JSON(try folder.vitalgate("phones", "list", "--format", "ndjson").last)
        #expect(account["waiting"].integer == 0)
    }
}

extension DispatchQueue {
    /// Runs a closure and returns what waits for its end.
    fileprivate func asyncDetached(_ body: @escaping @Sendable () -> Void) -> DispatchGroup {
        let group = DispatchGroup()
        async(group: group, execute: body)
        return group
    }
}
