import HTTPServerTesting
import Testing

@testable import HTTPServerKit

/// A head that two parsers read differently lets one request hide in another (RFC 9112, section 11.2): it is refused, and the connection ends.
@Suite struct StrictHeadTests {
    private let handler = TestHandler()

    private func server() throws -> HTTPServer {
        try HTTPServer(ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0)), handler)
    }

    /// The number of responses with status 200 to a request with these fields, after which another request is hidden.
    private func answered(_ fields: String) throws -> (status: Int?, others: Int) {
        let server = try server()
        let client = try #require(RawClient(server.address))
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let first = client.answer()
        var others = 0
        if client.answer()?.status == 200 { others += 1 }
        withExtendedLifetime(server) {}
        return (first?.status, others)
    }

    @Test(arguments: [
        "Content-Length : 37", "Transfer-Encoding : chunked", "Content-Length\t: 37", "X: y\n\rContent-Length: 37",
        "X: y\nContent-Length: 37", "X: y\rContent-Length: 37", "X: a\u{0}b", "X\u{0}: a", " Content-Length: 37",
        "X: y\r\n Content-Length: 37", "X: a\r\n b", "X: a\r\n\tb", "X:\r\n b", "(X): y", "X: a\u{7}b",
    ])
    func refusesAmbiguousHeaders(fields: String) throws {
        let (status, others) = try answered(fields)
        #expect(status != 200)
        #expect(others == 0)
    }

    @Test(arguments: ["xchunked", "gzip, chunked", "\u{B}chunked", "identity", "chunked, chunked"])
    func onlyChunkedIsATransferCoding(coding: String) throws {
        let (status, others) = try answered("Transfer-Encoding: \(coding)")
        #expect(status.map { $0 >= 400 } ?? true)
        #expect(others == 0)
    }

    @Test(arguments: ["+5", "5, 5", "0x5", " ", "5 5", "18446744073709551616"])
    func aLengthIsANumber(length: String) throws {
        let (status, others) = try answered("Content-Length: \(length)")
        #expect(status != 200)
        #expect(others == 0)
    }

    /// libmicrohttpd before 0.9.77 answers a wrong length itself, closes the connection, and writes the head of that answer twice.
    @Test(.enabled(if: !HTTPServer.readsHeadsLeniently), arguments: ["5, 5", "x", "18446744073709551616"])
    func aWrongLengthHasOneAnswer(length: String) throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n12345")
        let answers = String(decoding: client.readAll(), as: UTF8.self).split(
            separator: "HTTP/1.1 ", omittingEmptySubsequences: true)
        #expect(answers.count == 1)
        withExtendedLifetime(server) {}
    }

    @Test func aPlainHeadIsTaken() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        #expect(client.get("/", "X:a\r\nY:\t b \r\nZ: \u{E4}\r\nEmpty:\r\n")?.status == 200)
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nheart\r\n0\r\n\r\n")
        #expect(client.answer()?.text == "heart")
    }
}
