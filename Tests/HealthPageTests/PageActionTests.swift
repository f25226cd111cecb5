import FoundationEssentials
import Glibc
import HTTPServerTesting
import HealthAnswers
import HealthModel
import HealthServingTesting
import Pipeline
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthPage

/// Actions on the page.
@Suite struct PageActionTests {
    let served: ServedStore
    let inbox: TemporaryFolder
    private let ran = Ran()
    let cookie: String

    private final class Ran: Sendable {
        let words = Mutex<[[String]]>([])
    }

    init() throws {
        let (inbox, ran) = (try TemporaryFolder(), ran)
        self.inbox = inbox
        let folder = inbox.path
        served = try ServedStore(page: { settings in
            var door = HubDoor(
                inbox: folder, devices: { (true, []) },
                run: { words, _, _ in
                    ran.words.withLock { $0.append(words) }
                    let line =
                        #"{"address":"C0:01:02:03:04:05","durable":true,"name":"Strap <1>","strength":-60,"profiles":["sig-heart-rate"],"adopted":false,"bonded":false}"#
                    return HubDoor.Outcome(code: 0, output: line + "\n", words: "done so")
                }, reload: {})
            door.readName = { $0 == "Thumbs.db" ? nil : $0.hasSuffix(".part") ? String($0.dropLast(5)) : $0 }
            settings.hub = door
        })
        cookie = try PageTests.cookie(served)
    }

    private func get(_ target: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try #require(try served.client().get(target, cookie ?? self.cookie))
    }

    private func post(_ target: String, _ body: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try PageTests.post(served, target, body, cookie ?? self.cookie)
    }

    /// Phones are beside the sensors, and other clients are not.
    @Test func showsPhonesWithSensors() throws {
        #expect(try !get("/page/devices").text.contains("<h2>Phones</h2>"))
        let phone = try served.store.clients.add(
            named: "Anna's <phone>", purpose: "Posts of HC Webhook", app: "hc-webhook", at: ServedStore.now)
        _ = try served.store.clients.add(named: "grafana", purpose: "Posts of HC Webhook", at: ServedStore.now)
        try served.grant("bodyMass", to: phone)
        var page = try get("/page/devices").text
        #expect(page.contains("<h2>Phones</h2>") && page.contains("Anna&#39;s &lt;phone&gt;") && page.contains("No post yet"))
        #expect(page.contains("HC Webhook · ") && !page.contains("grafana"))
        let entry = try served.store.beginIngest(
            IngestDescription(kind: .import, name: phone.ledgerName, received: ServedStore.now.microseconds))
        _ = try entry.finish(at: ServedStore.now.microseconds)
        page = try get("/page/devices").text
        #expect(page.contains("Last post <time") && !page.contains("No post yet"))
    }

    @Test func answersClientRequestByType() throws {
        try served.add([61])
        let client = try served.store.clients.add(named: "asker", purpose: "Charts <b>", at: ServedStore.now)
        let token = try served.store.clients.makeToken(for: client, at: ServedStore.now)
        let (pulse, mass) = (ObjectType(.heartRate), ObjectType(.bodyMass))
        try served.store.clients.request(
            AuthorizationRequest(person: ServedStore.person, read: [pulse, mass], write: [mass]), for: client,
            at: ServedStore.now)
        let page = try get("/page/clients").text
        #expect(page.contains("Charts &lt;b&gt;") && page.contains("value=\"read.heartRate\""))
        let bearer = "Authorization: Bearer \(token)\r\n"
        #expect(try get("/v1/latest", bearer).text == "{\"samples\":[]}\n")
        // An unmarked item is refused, and an item that was not requested is not granted.
        let body =
            "do=answer&asked=read.heartRate&asked=read.bodyMass&asked=write.bodyMass&asked=read.height&yes=read.heartRate&yes=read.height"
        #expect(try post("/page/clients/\(client.id)", body).headers["location"] == "/page/clients")
        #expect(try served.store.clients.openRequests(of: client).isEmpty)
        let granted = try served.store.clients.grants(of: client).filter { $0.reading != .none || $0.mayWrite }
        #expect(granted.map(\.type) == [pulse] && granted.first?.reading == .all)
        #expect(try get("/v1/latest", bearer).text.contains("61"))
        #expect(try post("/page/clients/\(client.id)", "do=withdraw&type=heartRate").status == 303)
        #expect(try get("/v1/latest", bearer).text == "{\"samples\":[]}\n")
        #expect(try post("/page/clients/999", "do=withdraw&type=heartRate").status == 404)
        #expect(try post("/page/clients/\(client.id)", "do=all").status == 400)
    }

    @Test func otherPersonAnswersOwnRequests() throws {
        try served.add([61])
        let client = try served.store.clients.add(named: "asker", purpose: "Charts", at: ServedStore.now)
        let request = AuthorizationRequest(person: ServedStore.person, read: [ObjectType(.heartRate)])
        try served.store.clients.request(request, for: client, at: ServedStore.now)
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        _ = try post("/page/clients/\(client.id)", "do=answer&asked=read.heartRate&yes=read.heartRate", theirs)
        #expect(try served.store.clients.grants(of: client).isEmpty)
        #expect(try served.store.clients.openRequests(of: client) == [request])
        for path in ["/page/devices", "/page/files", "/page/targets", "/page/care/ingest/1"] {
            #expect(try get(path, theirs).status == 403 && get(path).status == 200, "\(path)")
        }
    }

    @Test func decidesOnQuarantinedReadings() throws {
        try served.add([61, 62, 9000, 63, 9001])
        let quarantined = try served.store.quarantine.all()
        try #require(quarantined.count == 2)
        let paths = quarantined.map { "/page/care/held/\($0.stored.sample.identity)" }
        let page = try get("/page/care").text
        #expect(page.contains("class=\"marked\"") && page.contains(paths[0]))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try post(paths[0], "do=accept", theirs).status == 404)
        #expect(try post("/page/care/held/\(quarantined[0].id)", "do=accept").status == 404)
        #expect(try post(paths[0], "do=accept").status == 303)
        #expect(try post(paths[0], "do=accept").status == 404)
        #expect(try post(paths[1], "do=reject").status == 303)
        #expect(try served.store.quarantine.all().isEmpty)
        #expect(try get("/page/data/today").text.contains("\"value\":\"63\""))
        #expect(try served.get("/v1/samples?types=heartRate").text.contains("9000"))
        #expect(try get("/page/care?done=judged").text.contains("care.") == false)
    }

    /// Only user text is escaped on a page, never the page itself.
    @Test func pagesDoNotShowMarkup() throws {
        try served.add([61, 9000])
        _ = try served.store.clients.add(named: "asker", purpose: "Charts", at: ServedStore.now)
        let paths = [
            "", "clients", "care", "care?done=judged", "care/plan", "care/ingest/1", "devices", "files", "targets",
            "type/heartRate",
            "type/sleepAnalysis", "nothing",
        ]
        for path in paths {
            let text = try get("/page/" + path).text
            #expect(!text.contains("&lt;") && !text.contains("HTML(") && !text.contains("Optional("), "\(path)")
            // Each key has its text.
            #expect(text.firstMatch(of: #/>[a-z]+\.[a-zA-Z]+</#) == nil, "\(path)")
        }
    }

    @Test func whyASampleIsOne() throws {
        let uuid = try #require(try served.add([61]).first)
        #expect(try get("/page/sample/\(uuid.description)").text.contains("Heart Rate: 61 /min"))
        #expect(try get("/page/sample/\(uuid.description)", try PageTests.cookie(served, as: PageTests.other)).status == 404)
        #expect(try get("/page/type/heartRate").text.contains("/page/sample/\(uuid.description)"))
    }

    @Test func aDeviceIsFoundAndAdopted() throws {
        #expect(try post("/page/devices", "do=scan").status == 303)
        #expect(eventually { (try? get("/page/devices").text.contains("Strap &lt;1&gt;")) ?? false })
        // The program's own messages are for a terminal, and names of profiles for configuration files.
        let text = try get("/page/devices").text
        #expect(text.contains("The scan has ended.") && !text.contains("done so") && text.contains("<td>Heart rate</td>"))
        let body = "do=adopt&address=C0%3A01%3A02%3A03%3A04%3A05&profile=sig-heart-rate&profile=--all&name=--delete"
        #expect(try post("/page/devices", body).status == 303)
        #expect(eventually { ran.words.withLock { $0.count } == 2 })
        // Text from outside is never used as an option.
        #expect(
            ran.words.withLock { $0.last } == [
                "devices", "adopt", "C0:01:02:03:04:05", "--profile", "sig-heart-rate", "--name=--delete",
            ])
        #expect(try post("/page/devices", "do=pair&address=--help").status == 400)
        try served.store.devices.save(
            AdoptedDevice(
                address: "bluetooth:C0:01:02:03:04:05", key: "k", profiles: ["sig-heart-rate"], name: "Strap",
                person: ServedStore.person, adopted: 0))
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        #expect(
            try post("/page/devices", "do=assign&address=bluetooth%3AC0%3A01%3A02%3A03%3A04%3A05&subject=\(PageTests.other)")
                .status == 303)
        #expect(try served.store.devices.adopted().first?.person == PageTests.other)
        #expect(try post("/page/devices", "do=assign&address=x&subject=\(PageTests.other)").status == 409)
    }

    private func send(_ name: String, at: Int, _ text: String, whole: Bool, key: String = PageTests.other) throws -> Int {
        let target = "/page/data/files/\(key)?name=\(name)&at=\(at)" + (whole ? "&whole=true" : "")
        let client = try served.client()
        client.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(cookie)Content-Length: \(text.utf8.count)\r\n\r\n\(text)")
        return try #require(client.answer()).status
    }

    /// A file that the hub ignores in its inbox would never be read.
    @Test func renamesOrRefusesTemporaryFileNames() throws {
        #expect(try send("a.csv.part", at: 0, "time,type", whole: true) == 200)
        #expect(try send("Thumbs.db", at: 0, "x", whole: true) == 422)
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path) == ["a.csv"])
    }

    private static func draft(_ key: String) -> String { ".page-draft-\(ServedStore.person)-\(key)" }

    @Test func removesAbandonedUploads() throws {
        let keys = (0..<3).map { "7f9c0000-0000-4000-8000-00000000000\($0)" }
        func draft(_ key: String, hoursAgo: Int64) throws {
            #expect(try send("a.csv", at: 0, "time,type", whole: false, key: key) == 200)
            let seconds = ServedStore.now.microseconds / 1_000_000 - hoursAgo * 3600
            var times = [timeval(tv_sec: Int(seconds), tv_usec: 0), timeval(tv_sec: Int(seconds), tv_usec: 0)]
            #expect(utimes(inbox.file(Self.draft(key)), &times) == 0)
        }
        try draft(keys[0], hoursAgo: 1)
        try draft(keys[1], hoursAgo: 2)
        try draft(keys[2], hoursAgo: 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: inbox.path)
        #expect(left.sorted() == [Self.draft(keys[0]), Self.draft(keys[2])])
        // And at the start.
        var times = [timeval(tv_sec: 0, tv_usec: 0), timeval(tv_sec: 0, tv_usec: 0)]
        #expect(utimes(inbox.file(Self.draft(keys[2])), &times) == 0)
        try served.again().stop()
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path) == [Self.draft(keys[0])])
    }

    @Test func uploadsInPieces() throws {
        #expect(try send("a.csv", at: 0, "time,type", whole: false) == 200)
        #expect(try send("a.csv", at: 20, "x", whole: true) == 409)
        // A piece that is sent again is the same piece.
        #expect(try send("a.csv", at: 4, ",type", whole: false) == 200)
        #expect(!FileManager.default.fileExists(atPath: inbox.file("a.csv")))
        #expect(try send("a.csv", at: 9, ",value\n", whole: true) == 200)
        #expect(FileManager.default.contents(atPath: inbox.file("a.csv")) == Data("time,type,value\n".utf8))
        #expect(try send("a.csv", at: 0, "other", whole: true) == 200)
        #expect(FileManager.default.contents(atPath: inbox.file("2-a.csv")) == Data("other".utf8))
        #expect(FileManager.default.contents(atPath: inbox.file("a.csv")) == Data("time,type,value\n".utf8))
        for name in [".hidden", "..%2Fup", "", "a%00b", "a%0Ab"] {
            #expect(try send(name, at: 0, "x", whole: true) == 400, "\(name)")
        }
        #expect(try send("a.csv", at: 0, "x", whole: true, key: "..") == 400)
        #expect(try send("a.csv", at: .max, "x", whole: true) == 413)
        let all = try FileManager.default.contentsOfDirectory(atPath: inbox.path)
        #expect(all.sorted() == ["2-a.csv", "a.csv"])
    }
}
