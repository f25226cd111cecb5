import Glibc
import HTTPServerTesting
import Testing

@testable import HTTPServerKit

@Suite struct GuardTests {
    /// The listening address, the header, and whether the request is answered. Names that only look like this machine are still names.
    static let hosts: [(listening: String, host: String, isAllowed: Bool)] = [
        ("127.0.0.1:8642", "localhost", true), ("127.0.0.1:8642", "localhost:8642", true), ("127.0.0.1:8642", "LOCALHOST.", true),
        ("127.0.0.1:8642", "127.0.0.1:8642", true), ("127.0.0.1:8642", "[::1]:8642", true), ("127.0.0.1:8642", "hub.home", true),
        ("127.0.0.1:8642", "evil.example", false), ("127.0.0.1:8642", "localhost.evil.example", false),
        ("127.0.0.1:8642", "127.0.0.1.evil.example", false), ("127.0.0.1:8642", "192.0.2.42", false),
        ("127.0.0.1:8642", "0x7f.1", false), ("127.0.0.1:8642", "2130706433", false), ("127.0.0.1:8642", "", false),
        ("127.0.0.1:8642", "localhost:80@evil.example", false), ("127.0.0.1:8642", "[localhost]", false),
        ("127.0.0.1:8642", "localhost:999999", false), ("127.0.0.1:8642", "::1", false),
        ("192.0.2.42:8642", "192.0.2.42:8642", true), ("192.0.2.42:8642", "127.0.0.1", false),
        ("192.0.2.42:8642", "evil.example", false), ("192.0.2.42:8642", "localhost", true),
        ("0.0.0.0:8642", "192.0.2.42:8642", true), ("0.0.0.0:8642", "evil.example:8642", false),
        ("[::]:8642", "[2001:db8::1]:8642", true), ("[2001:db8::1]:8642", "[2001:DB8:0::1]", true),
        ("unix:/run/vitalgate/api", "localhost", true), ("unix:/run/vitalgate/api", "evil.example", false),
    ]

    @Test(arguments: hosts) func refusesForeignHostNames(_ one: (listening: String, host: String, isAllowed: Bool)) throws {
        let guarded = HostGuard(try #require(ListeningAddress(one.listening)), names: ["hub.home"])
        #expect(guarded.allows(one.host) == one.isAllowed, "\(one)")
    }

    @Test func listeningAddressesRoundTrip() {
        for text in ["127.0.0.1:8642", "[::1]:0", "unix:/run/api"] { #expect(ListeningAddress(text)?.description == text) }
        #expect(ListeningAddress("localhost:1") == .tcp(host: "127.0.0.1", port: 1))
        for text in [
            "", "8642", ":8642", "127.0.0.1", "127.0.0.1:65536", "hub.home:80", "unix:run",
            "unix:/" + String(repeating: "x", count: 120),
        ] {
            #expect(ListeningAddress(text) == nil, "\(text)")
        }
        #expect(ListeningAddress.tcp(host: "127.0.0.9", port: 1).isLoopback)
        #expect(!ListeningAddress.tcp(host: "0.0.0.0", port: 1).isLoopback)
    }

    @Test func refusesRebindingOverHTTP() throws {
        let server = try HTTPServer(ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0)), TestHandler())
        func status(_ head: String) throws -> Int? {
            let client = try #require(RawClient(server.address))
            client.send(head + "\r\n\r\n")
            return client.answer()?.status
        }
        #expect(try status("GET / HTTP/1.1\r\nHost: localhost") == 200)
        #expect(try status("GET / HTTP/1.1\r\nHost: evil.example") == 421)
        #expect(try status("GET /nothing HTTP/1.1\r\nHost: evil.example") == 421)
        #expect(try status("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example") == 400)
        #expect(try status("GET / HTTP/1.1") == 400)
        #expect(try status("GET / HTTP/1.0") == 400)
    }

    @Test func otherSitesMayNotAsk() throws {
        let server = try HTTPServer(ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0)), TestHandler())
        func status(_ method: String, _ headers: String) throws -> Int? {
            let client = try #require(RawClient(server.address))
            return client.get("/", headers, method: method)?.status
        }
        for (headers, expected) in [
            ("", 200), ("Sec-Fetch-Site: same-origin\r\n", 200), ("Sec-Fetch-Site: none\r\n", 200),
            ("Sec-Fetch-Site: cross-site\r\n", 403),
            ("Sec-Fetch-Site: same-site\r\n", 403), ("Origin: http://localhost\r\n", 200),
            ("Origin: http://evil.example\r\n", 403),
            ("Origin: null\r\n", 403), ("Origin: http://localhost:1\r\n", 403),
            ("Origin: http://localhost.evil.example\r\n", 403),
            ("Sec-Fetch-Site: cross-site\r\nCookie: a=b\r\nAuthorization: Bearer x\r\n", 403),
        ] {
            #expect(try status("POST", headers) == expected, "\(headers)")
            #expect(try status("DELETE", headers) == expected, "\(headers)")
            // A read is refused if the browser sends cookies with it.
            let isWithCookie = headers.contains("Cookie")
            #expect(try status("GET", headers) == (isWithCookie ? 403 : 200), "\(headers)")
            #expect(try status("GET", headers + (isWithCookie ? "" : "Cookie: a=b\r\n")) == expected, "\(headers)")
        }
    }

    @Test func unixSocketIsForOwnerAndGroup() throws {
        let path = "/tmp/vitalgate-\(getpid())-\(UInt32.random(in: 0 ... .max)).socket"
        defer { unlink(path) }
        let address = ListeningAddress.unix(path: path)
        let server = try HTTPServer(ServerSettings(listening: address), TestHandler())
        #expect(try #require(RawClient(address)).get("/")?.text == "hello")
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        #expect(throws: ServerError.self) { try HTTPServer(ServerSettings(listening: address), TestHandler()) }
        server.stop()
        #expect(access(path, F_OK) != 0)
        // The socket of a killed server is replaced. Other files stay.
        let left = try ListeningSocket(address)
        close(left.descriptor)
        let next = try HTTPServer(ServerSettings(listening: address), TestHandler())
        #expect(try #require(RawClient(address)).get("/")?.text == "hello")
        next.stop()
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(throws: ServerError.self) { try HTTPServer(ServerSettings(listening: address), TestHandler()) }
        #expect(access(path, F_OK) == 0)
    }

    @Test func othersAreServedWithTLSOnly() {
        let settings = ServerSettings(listening: .tcp(host: "0.0.0.0", port: 0))
        #expect(throws: ServerError.self) { try HTTPServer(settings, TestHandler()) }
        var broken = settings
        broken.identity = ("no certificate", "no key")
        #expect(throws: ServerError.self) { try HTTPServer(broken, TestHandler()) }
        var plain = settings
        plain.allowsPlain = true
        #expect(throws: Never.self) { try HTTPServer(plain, TestHandler()) }
    }
}
