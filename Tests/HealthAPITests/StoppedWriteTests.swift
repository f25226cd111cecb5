import Dispatch
import HTTPServerTesting
import HealthModel
import HealthServing
import HealthServingTesting
import SampleStore
import Testing

@testable import HTTPServerKit
@testable import HealthAPI

/// A service that stops while a client's write waits for its turn: the write is done, and whether the client still hears of it or not, its key settles it.
@Suite struct StoppedWriteTests {
    private let key = "Idempotency-Key: morning\r\n"

    private func line(_ value: String) -> String {
        "{\"type\":\"bodyMass\",\"start\":\"2026-11-20T07:00:00+01:00\",\"value\":\(value),\"unit\":\"kg\"}"
    }

    @Test func keyResolvesInterruptedWrite() throws {
        let served = try ServedStore { $0.server.drainTime = .zero }
        try served.grant("bodyMass")
        let writing = served.service.core.writer.queue
        writing.suspend()
        let client = try served.client()
        let body = line("71.4")
        client.send(
            "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.otherToken)\r\n\(key)"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(eventually { served.service.server.isAnswerAwaited(1) })
        // The server has begun to stop by then and waits for accepted requests.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) { writing.resume() }
        served.service.stop()
        #expect(try count(served) == 1)
        let received = client.answer()
        let again = try served.again()
        defer { again.stop() }
        func post(_ body: String, _ headers: String) throws -> RawClient.Answer {
            let client = try #require(RawClient(again.address))
            return try #require(
                client.send("POST", "/v1/samples", "Authorization: Bearer \(served.otherToken)\r\n" + headers, body))
        }
        let answer = try post(body, key)
        #expect(answer.status == 200 && answer.text.contains("\"outcome\":\"stored\""), "\(answer.text)")
        if let received { #expect(received.status == 503 || received.body == answer.body, "\(received.text)") }
        #expect(try post(body, "").text.contains("\"outcome\":\"known\""))
        #expect(try post(line("72"), key).status == 422)
        #expect(try count(served) == 1)
    }

    private func count(_ served: ServedStore) throws -> Int {
        var count = 0
        try served.store.changes.read(after: .beginning, types: nil) { change, _ in if case .added = change { count += 1 } }
        return count
    }
}
