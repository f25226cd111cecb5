import HTTPServerTesting
import HealthServingTesting
import Testing

@testable import HealthAPI
@testable import HealthPage

/// A reverse proxy shows the page below another path, as Home Assistant does.
@Suite struct ProxiedPageTests {
    private static let host = "Host: home.example:8123\r\n"
    private static let path = "X-Ingress-Path: /api/hassio_ingress/x1_y-2\r\n"

    private func served(proxy: String?) throws -> ServedStore {
        let settings = PageSettings(files: try PageFiles(folder: PageTests.folder))
        return try ServedStore(
            sites: { [PageSite($0, settings), try APISite($0)] },
            {
                $0.server.proxy = proxy
                $0.server.hosts = proxy == "127.0.0.1" ? ["home.example"] : []
            })
    }

    private func send(
        _ served: ServedStore, _ method: String, _ target: String, _ headers: String, _ form: String? = nil
    ) throws -> RawClient.Answer {
        let body = form.map { "\(PageTests.form)Content-Length: \($0.utf8.count)\r\n\r\n\($0)" } ?? "\r\n"
        let client = try served.client()
        client.send("\(method) \(target) HTTP/1.1\r\n\(headers)\(body)")
        return try #require(client.answer())
    }

    @Test func everyLinkIsBelowThePath() throws {
        let served = try served(proxy: "127.0.0.1")
        try served.add([61, 62])
        let form = try send(served, "GET", "/page/", Self.host + Self.path)
        #expect(form.status == 401 && form.text.contains("action=\"/api/hassio_ingress/x1_y-2/page/login\""))
        #expect(form.headers["content-security-policy"]?.contains("frame-ancestors 'self'") == true)
        #expect(form.headers["x-frame-options"] == "SAMEORIGIN")
        #expect(
            try send(served, "GET", "/", Self.host + Self.path).headers["location"] == "/api/hassio_ingress/x1_y-2/page/")

        let code = try served.store.pageSessions.makeCode(for: ServedStore.person, at: ServedStore.now)
        let origin = "Origin: https://home.example:8123\r\n"
        let opened = try send(served, "POST", "/page/login", Self.host + Self.path + origin, "code=\(code)")
        #expect(opened.status == 303 && opened.headers["location"] == "/api/hassio_ingress/x1_y-2/page/")
        let cookie = try #require(opened.headers["set-cookie"])
        #expect(cookie.contains("; Path=/api/hassio_ingress/x1_y-2/page;"))
        let session = "Cookie: \(cookie.prefix { $0 != ";" })\r\n"
        for page in PageSite.routes where page.method == "GET" && !page.path.contains("*") && !page.path.hasPrefix("data") {
            if page.path == "live" { continue }
            let answer = try send(served, "GET", "/page/\(page.path)", Self.host + Self.path + session)
            #expect(!answer.text.contains("\"/page/"), "\(page.path)")
        }
        let today = try send(served, "GET", "/page/", Self.host + Self.path + session)
        #expect(today.status == 200 && today.text.contains("data-root=\"/api/hassio_ingress/x1_y-2/page/\""))
        // The data for the scripts has no links.
        let data = try send(served, "GET", "/page/data/today", Self.host + Self.path + session)
        #expect(data.status == 200 && !data.text.contains("/page/"))
        // A proxy on the same machine must name the host as well, because any browser there has its address.
        #expect(try send(served, "GET", "/page/", Self.host + Self.path + "X-Forwarded-Host: other.example\r\n").status == 421)
        let foreign = "Origin: https://other.example:8123\r\n"
        #expect(try send(served, "POST", "/page/logout", Self.host + Self.path + session + foreign, "").status == 403)
    }

    /// The host that the proxy forwards is the one of the browser.
    @Test func forwardedHost() throws {
        let served = try served(proxy: "127.0.0.1")
        let headers = "Host: 172.30.33.4:8099\r\nX-Forwarded-Host: home.example\r\nX-Forwarded-Prefix: /health/\r\n"
        let code = try served.store.pageSessions.makeCode(for: ServedStore.person, at: ServedStore.now)
        let opened = try send(served, "POST", "/page/login", headers + "Origin: https://home.example\r\n", "code=\(code)")
        #expect(opened.status == 303 && opened.headers["location"] == "/health/page/")
    }

    @Test(arguments: [
        "https://other.example", "//other.example", "other", "/a\"b", "/a b", "/a<b", "/" + String(repeating: "a", count: 300),
    ])
    func refusesInvalidPaths(path: String) throws {
        let answer = try send(try served(proxy: "127.0.0.1"), "GET", "/page/", Self.host + "X-Ingress-Path: \(path)\r\n")
        #expect(answer.status == 400)
    }

    /// Only the configured proxy may choose the path and the name.
    @Test(arguments: [nil, "172.30.32.2"] as [String?]) func othersAreNotTrusted(proxy: String?) throws {
        let served = try served(proxy: proxy)
        #expect(try send(served, "GET", "/page/", Self.host + Self.path).status == 421)
        let answer = try send(served, "GET", "/page/", "Host: localhost\r\n" + Self.path + "X-Forwarded-Host: home.example\r\n")
        #expect(answer.status == 401 && answer.text.contains("action=\"/page/login\""))
        #expect(answer.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        let code = try served.store.pageSessions.makeCode(for: ServedStore.person, at: ServedStore.now)
        let headers = "Host: localhost\r\nX-Forwarded-Host: home.example\r\nOrigin: https://home.example\r\n"
        #expect(try send(served, "POST", "/page/login", headers, "code=\(code)").status == 403)
    }
}
