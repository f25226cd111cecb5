import ExportTesting
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Synchronization
import Testing

@testable import WebhookExport

/// A webhook gets each message about an alert as one signed JSON object.
@Suite struct WebhookAlertSenderTests {
    private let folder: TemporaryFolder
    private let message = AlertMessage(id: "1a2b3c4d-12", event: .began, json: Array(#"{"event":"began"}"#.utf8))

    init() throws { folder = try TemporaryFolder() }

    /// The requests that arrived, and the status of the next answer.
    private final class Receiver: Sendable {
        private let state = Mutex((requests: [HTTPStub.Request](), answer: HTTPStub.Answer(200)))
        var requests: [HTTPStub.Request] { state.withLock { $0.requests } }
        func set(_ answer: HTTPStub.Answer) { state.withLock { $0.answer = answer } }
        func answer(_ request: HTTPStub.Request) -> HTTPStub.Answer {
            state.withLock {
                $0.requests.append(request)
                return $0.answer
            }
        }
    }

    @Test func postsSignedMessage() throws {
        let receiver = Receiver()
        let stub = HTTPStub { receiver.answer($0) }
        defer { stub.close() }
        try folder.write(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8), to: "secret")
        chmod(folder.file("secret"), 0o600)
        let sender = WebhookAlertSender(
            .init(url: stub.url + "/alerts", secret: .file(folder.file("secret"))), now: { Instant(seconds: 1_614_265_330) })
        try sender.send(message)
        let request = try #require(receiver.requests.first)
        #expect(request.method == "POST" && request.path == "/alerts" && request.body == message.json)
        #expect(request.headers["content-type"] == "application/json" && request.headers["webhook-id"] == "1a2b3c4d-12")
        #expect(
            request.headers["webhook-signature"]
                == Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").text(
                    of: message.json, id: "1a2b3c4d-12", time: "1614265330"))
    }

    @Test func statusDecidesDeliveryError() throws {
        let receiver = Receiver()
        let stub = HTTPStub { receiver.answer($0) }
        defer { stub.close() }
        let sender = WebhookAlertSender(.init(url: stub.url), now: { Instant(seconds: 0) })
        for (answer, kind) in [
            (HTTPStub.Answer(503, headers: [("Retry-After", "7")]), DeliveryError.Kind.busy(.seconds(7))),
            (HTTPStub.Answer(500), .unreachable), (HTTPStub.Answer(0), .unreachable), (HTTPStub.Answer(401), .unauthorised),
        ] {
            receiver.set(answer)
            #expect { try sender.send(message) } throws: { ($0 as? DeliveryError)?.kind == kind }
        }
        receiver.set(HTTPStub.Answer(204))
        try sender.send(message)
    }
}
