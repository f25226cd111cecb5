import Dispatch
import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServing
import HealthServingTesting
import Pipeline
import SampleStore
import Synchronization
import Testing

@testable import HealthPage

/// The page as browsers ask it.
@Suite struct PageTests {
    static let other = "99999999-2222-4333-8444-555555555555"
    let served: ServedStore

    init() throws {
        served = try ServedStore()
    }

    /// The checkout's own.
    static var folder: String {
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/WebPage"
    }

    static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

    /// The response to a form.
    static func post(_ served: ServedStore, _ target: String, _ body: String, _ headers: String = "") throws -> RawClient.Answer {
        let length = "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        let client = try served.client()
        client.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(form)\(headers)\(length)")
        return try #require(client.answer())
    }

    /// The header of a logged-in browser.
    static func cookie(_ served: ServedStore, as person: String = ServedStore.person) throws -> String {
        let code = try served.store.pageSessions.makeCode(for: person, at: ServedStore.now)
        let answer = try post(served, "/page/login", "code=\(code)")
        #expect(answer.status == 303 && answer.headers["location"] == "/page/")
        let cookie = try #require(answer.headers["set-cookie"])
        #expect(cookie.contains("; HttpOnly; SameSite=Strict") && cookie.contains("Path=/page;"))
        return "Cookie: \(cookie.prefix { $0 != ";" })\r\n"
    }

    private func get(_ target: String, _ headers: String) throws -> RawClient.Answer {
        try #require(try served.client().get(target, headers))
    }

    @Test func aCodeOpensThePageOnce() throws {
        let code = try served.store.pageSessions.makeCode(for: ServedStore.person, at: ServedStore.now)
        #expect(try get("/page/", "").status == 401)
        #expect(try get("/page/", "").text.contains("action=\"/page/login\""))
        #expect(try get("/", "").headers["location"] == "/page/")
        #expect(try get("/page/data/today", "").status == 401)
        #expect(try Self.post(served, "/page/login", "code=ABCD").status == 401)
        #expect(try Self.post(served, "/page/login", "").status == 401)
        // As a user types it.
        let typed = code.lowercased().replacing("-", with: "+")
        let opened = try Self.post(served, "/page/login", "code=\(typed)")
        #expect(opened.status == 303)
        #expect(try Self.post(served, "/page/login", "code=\(code)").status == 401)
        let cookie = "Cookie: a=b; \(try #require(opened.headers["set-cookie"]).prefix { $0 != ";" })\r\n"
        #expect(try get("/page/", cookie).status == 200)
        #expect(try get("/page/", "Cookie: vitalgate-page=guessed\r\n").status == 401)
        // The API ignores cookies, and the page ignores tokens.
        #expect(try get("/v1/samples", cookie).status == 401)
        #expect(try served.get("/page/").status == 401)
        #expect(try Self.post(served, "/page/logout", "", cookie).status == 303)
        #expect(try get("/page/", cookie).status == 401)
    }

    @Test func endedSessionLosesAccess() throws {
        let cookie = try Self.cookie(served)
        #expect(try get("/page/", cookie).status == 200)
        let session = try #require(try served.store.pageSessions.all(at: ServedStore.now).first)
        #expect(session.person == ServedStore.person)
        #expect(try served.store.pageSessions.end(session.id) == 1)
        #expect(try get("/page/", cookie).status == 401)
    }

    /// A browser that is logged in becomes the person of a link.
    @Test func aLinkOpensThePageOfItsPerson() throws {
        try served.store.people.save(Person(id: Self.other, name: "Anna"))
        let mine = try Self.cookie(served)
        let form = try get("/page/login", mine)
        #expect(form.status == 200 && form.text.contains("id=\"login\"") && !form.text.contains("class=\"who\""))
        let code = try served.store.pageSessions.makeCode(for: Self.other, at: ServedStore.now)
        let opened = try Self.post(served, "/page/login", "code=\(code)", mine)
        let theirs = "Cookie: \(try #require(opened.headers["set-cookie"]).prefix { $0 != ";" })\r\n"
        #expect(try get("/page/", theirs).text.contains("<title>Today · Anna · Vitalgate</title>"))
    }

    @Test func anotherSitesPageMayDoNothing() throws {
        let cookie = try Self.cookie(served)
        for header in ["Sec-Fetch-Site: cross-site\r\n", "Origin: http://evil.example\r\n", "Origin: null\r\n"] {
            #expect(try Self.post(served, "/page/logout", "", cookie + header).status == 403, "\(header)")
            #expect(try get("/page/data/today", cookie + header).status == 403, "\(header)")
        }
        #expect(try Self.post(served, "/page/logout", "", cookie + "Origin: http://localhost\r\n").status == 303)
    }

    @Test func aPersonSeesTheirOwn() throws {
        try served.add([61, 62])
        let mine = try Self.cookie(served)
        let theirs = try Self.cookie(served, as: Self.other)
        #expect(try get("/page/", mine).text.contains("Heart Rate"))
        #expect(try get("/page/data/today", mine).text.contains("\"value\":\"62\""))
        let empty = try get("/page/data/today", theirs)
        #expect(empty.text == "{\"cards\":[]}\n")
        #expect(try !get("/page/type/heartRate?range=all", theirs).text.contains(">62"))
        #expect(try get("/page/type/heartRate?range=all", mine).text.contains("<td>62</td>"))
        #expect(try get("/page/type/nothing", mine).status == 404)
        // Known from another person's data.
        #expect(SampleType(category: "glowing") != nil)
        #expect(try get("/page/type/glowing", mine).text == get("/page/type/nothing", mine).text)
    }

    @Test func loadsNoExternalResources() throws {
        let cookie = try Self.cookie(served)
        let answer = try get("/page/", cookie)
        let policy = try #require(answer.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'") && !policy.contains("unsafe"))
        #expect(answer.headers["cache-control"] == "no-store" && answer.headers["referrer-policy"] == "same-origin")
        for text in ["http://", "https://", "style=", "onclick", "<script>"] { #expect(!answer.text.contains(text), "\(text)") }
        let files = try PageFiles(folder: Self.folder)
        #expect(files.files.count >= 4)
        for (name, file) in files.files {
            let sent = try get(files.address(of: name), "")
            #expect(sent.status == 200 && sent.body == file.bytes)
            #expect(sent.headers["content-type"] == file.type)
        }
        #expect(try get("/page/static/..%2fREADME.md", "").status == 400)
        #expect(try get("/page/static/texts", "").status == 404)
        #expect(try Self.post(served, "/page/", "", cookie).status == 405)
    }

    @Test func escapesNames() throws {
        let html: HTML = "<p title=\"\("\"a")\">\("<b>&'")</p>\(HTML("<i>"))"
        #expect(html.text == "<p title=\"&quot;a\">&lt;b&gt;&amp;&#39;</p><i>")
        // A name does not change the direction of the text next to it.
        let turned: HTML = "<p>\("heart\u{202E}rate\u{2066}\u{1B}[2J\n")</p>"
        #expect(turned.text == "<p>heart\u{FFFD}rate\u{FFFD}\u{FFFD}[2J\n</p>")
    }

    @Test func streamsNewReadings() throws {
        try served.add([61])
        let client = try served.client()
        let cookie = try Self.cookie(served)
        client.send("GET /page/live HTTP/1.1\r\nHost: localhost\r\n\(cookie)\r\n")
        #expect(client.read(until: "retry: 2000") != nil)
        try served.add([75, 77], from: 1_790_100_000)
        let reported = try #require(client.read(until: "\"value\":\"77\""))
        // Only the latest sample is sent.
        #expect(reported.contains("event: latest") && !reported.contains("\"value\":\"75\""))
        try served.store.pageSessions.end()
        try served.add([78], from: 1_790_200_000)
        let ended = try #require(client.read(until: "event: ended"))
        #expect(!ended.contains("\"value\":\"78\""))
    }

    /// The session ends after new samples were read and before they are sent.
    @Test func sendsNothingAfterSessionEnd() throws {
        let path = Mutex("")
        let served = try ServedStore(page: { settings in
            // The unit is requested for the samples that were read.
            settings.units = { _ in
                let path = path.withLock { $0 }
                if !path.isEmpty { _ = try? SampleStore(path: path, access: .write).pageSessions.end() }
                return nil
            }
        })
        let client = try served.client()
        client.send("GET /page/live HTTP/1.1\r\nHost: localhost\r\n\(try Self.cookie(served))\r\n")
        #expect(client.read(until: "retry: 2000") != nil)
        path.withLock { $0 = served.store.path }
        try served.add([75])
        let ended = try #require(client.read(until: "event: ended"))
        #expect(!ended.contains("75"))
    }

    /// The browser withholds the cookie when it follows another site's link, and sends it when this site's page repeats the request.
    @Test func anotherSitesLinkOpensThePage() throws {
        try served.add([61])
        let cookie = try Self.cookie(served)
        let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        let first = try get("/page/", link)
        #expect(first.status == 200 && first.text.contains("http-equiv=\"refresh\" content=\"0\""))
        #expect(!first.text.contains("Heart Rate") && !first.text.contains("action=\"/page/login\""))
        let again = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        #expect(try get("/page/", again + cookie).text.contains("Heart Rate"))
        #expect(try get("/page/", again).status == 401)
        // A browser that sends it at once gets the page. A request that is not a link does not.
        #expect(try get("/page/", link + cookie).text.contains("Heart Rate"))
        for (mode, place) in [("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")] {
            let other = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: \(mode)\r\nSec-Fetch-Dest: \(place)\r\n"
            #expect(try get("/page/", other + cookie).status == 403)
        }
        #expect(try Self.post(served, "/page/logout", "", link + cookie).status == 403)
    }

    /// However much programs have looked through.
    @Test func thePageWaitsForNoProgram() throws {
        try served.add([61])
        let (cookie, gate) = (try Self.cookie(served), DispatchSemaphore(value: 0))
        for lane in 0..<2 { try served.lookQueue.async(for: .client("\(lane)")) { gate.wait() } }
        defer { for _ in 0..<2 { gate.signal() } }
        for path in ["type/heartRate", "care", "data/series?types=heartRate&from=0&to=1000"] {
            #expect(try get("/page/" + path, cookie).status == 200, "\(path)")
        }
        // Programs with small requests do not wait for those with large ones either.
        #expect(try served.get("/v1/latest").status == 200)
    }

    @Test func roundsToSignificantDigits() {
        #expect(
            [72, 36.6, 4744.4, 12_345, 0.123, -3.5, 99.96, 0, 7.001].map(PageValues.text) == [
                "72", "36.6", "4,744", "12,345", "0.123", "−3.5", "100", "0", "7",
            ])
        #expect(PageValues.words("asleepCore") == "Asleep core" && PageValues.words("asleepREM") == "Asleep REM")
    }

    /// Each text that the page uses is in the file of texts, and each of those is used.
    @Test func theFileOfTextsIsWhole() throws {
        let root = String(Self.folder.dropLast("/WebPage".count))
        var sources = ""
        let folder = root + "/Sources/HealthPage/"
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where name.hasSuffix(".swift") {
            let file = FileManager.default.contents(atPath: folder + name)
            sources += String(decoding: try #require(file), as: UTF8.self)
        }
        let texts = try PageFiles(folder: Self.folder).texts(nil)
        let parts = Set(texts.keys.map { String($0.prefix { $0 != "." }) })
        let keys = sources.matches(of: #/"([a-z]+\.[A-Za-z.]*[A-Za-z])"/#).map { String($0.output.1) }
        let asked = keys.filter {
            parts.contains(String($0.prefix { $0 != "." })) && !$0.hasSuffix(".js") && !$0.hasSuffix(".css")
        }
        #expect(asked.count > 100)
        for key in asked { #expect(texts[key] != nil, "\(key)") }
        #expect(texts("time.hours", "1", "5") == "1\u{a0}h 5\u{a0}min")
        #expect(texts("no.such") == "no.such")
    }
}
