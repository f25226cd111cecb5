import ExportTesting
import FoundationEssentials
import Glibc
import HTTPClientKit
import PipelineTesting
import Testing

/// Tests with their own server, and with an OpenSSL server that has an untrusted certificate.
@Suite struct HTTPClientTests {
    @Test func sendsRequestAndReturnsResponse() throws {
        let stub = HTTPStub { request in
            HTTPStub.Answer(
                201,
                headers: [
                    ("X-Method", request.method), ("X-Path", request.path), ("X-Type", request.headers["content-type"] ?? ""),
                    ("Retry-After", "7"),
                ],
                body: request.body.reversed())
        }
        defer { stub.close() }
        let client = try HTTPClient()
        for method in [HTTPRequest.Method.post, .put] {
            let response = try client.send(
                HTTPRequest(method, stub.url + "/a?b=c", headers: [("Content-Type", "text/plain")], body: [1, 2, 3]))
            #expect(response.status == 201 && response.isSuccess && response.retryAfter == 7)
            #expect(response.headers["x-method"] == method.rawValue && response.headers["x-path"] == "/a?b=c")
            #expect(response.headers["x-type"] == "text/plain" && response.body == [3, 2, 1])
        }
        #expect(try client.send(HTTPRequest(.get, stub.url + "/")).headers["x-method"] == "GET")
        #expect(try client.send(HTTPRequest(.post, stub.url + "/")).body.isEmpty)
    }

    @Test func longAnswersAreBounded() throws {
        let stub = HTTPStub { _ in HTTPStub.Answer(200, body: [UInt8](repeating: 65, count: 3 << 20)) }
        defer { stub.close() }
        let client = try HTTPClient()
        #expect(try client.send(HTTPRequest(.get, stub.url)).body.count == HTTPClient.maximumAnswerLength)
        var count = 0
        _ = try client.send(HTTPRequest(.get, stub.url, isLong: true)) {
            count += $0.count
            return true
        }
        #expect(count == 3 << 20)
    }

    @Test func failsWithoutServer() throws {
        let client = try HTTPClient()
        let stub = HTTPStub { _ in HTTPStub.Answer(0) }
        let url = stub.url
        #expect(throws: HTTPFailure.self) { try client.send(HTTPRequest(.get, url)) }
        stub.close()
        #expect(failure { try client.send(HTTPRequest(.get, url)) }?.kind == .unreachable)
        #expect(failure { try client.send(HTTPRequest(.get, "ftp://a/b")) }?.kind == .address)
        #expect(failure { try client.send(HTTPRequest(.get, url, headers: [("A", "b\r\nC: d")])) }?.kind == .address)
    }

    /// A redirect could send data about people to another server.
    @Test func redirectionsAreNotFollowed() throws {
        let stub = HTTPStub { $0.path == "/" ? HTTPStub.Answer(307, headers: [("Location", "/other")]) : HTTPStub.Answer(200) }
        defer { stub.close() }
        #expect(try HTTPClient().send(HTTPRequest(.post, stub.url + "/", body: [1])).status == 307)
    }

    @Test func refusesUntrustedCertificate() throws {
        let folder = try TemporaryFolder()
        let certificate = try Certificate(in: folder.path)
        let port = FreePort.find()
        let server = try ServerProcess()
        defer { server.stop() }
        let url = "https://localhost:\(port)/"
        let trusting = try HTTPClient(certificateAuthority: certificate.path)
        try server.start(
            [
                "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-key", certificate.key, "-cert",
                certificate.path, "-www", "-quiet",
            ]
        ) { (try? trusting.send(HTTPRequest(.get, url)))?.status == 200 }
        #expect(failure { try HTTPClient().send(HTTPRequest(.get, url)) }?.kind == .untrusted)
        // Its name is another one.
        #expect(failure { try trusting.send(HTTPRequest(.get, "https://127.0.0.1:\(port)/")) }?.kind == .untrusted)
    }

    private func failure(_ body: () throws -> HTTPResponse) -> HTTPFailure? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? HTTPFailure
        }
    }

    @Test func encoded() {
        for (text, encoded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.text(Array(text.utf8)) == encoded)
            #expect(Base64.bytes(encoded) == Array(text.utf8))
        }
        #expect(Base64.bytes("a b") == nil)
        #expect(HTTPRequest.escaped("a b&ü~") == "a%20b%26%C3%BC~")
        #expect(HTTPRequest.basic("Aladdin", "open sesame").value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }
}
