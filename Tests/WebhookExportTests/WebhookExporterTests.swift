import ExportEngine
import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import WebhookExport

/// A receiver that keeps what it is told, by UUID, and fails as receivers do.
private final class Receiver: @unchecked Sendable {
    private let lock = NSLockless()
    private var lines: [String] = []
    private var mood: (() -> Int?)?
    private(set) var requests: [HTTPStub.Request] = []

    /// A status instead of taking it; 0 breaks the line, a negative one takes it first.
    func set(_ mood: (() -> Int?)?) { lock.holding { self.mood = mood } }

    func answer(_ request: HTTPStub.Request) -> HTTPStub.Answer {
        lock.holding {
            let status = mood?() ?? 200
            if status == 200 || status < 0 {
                requests.append(request)
                lines += String(decoding: request.body, as: UTF8.self).split(separator: "\n").map(String.init)
            }
            return HTTPStub.Answer(max(0, status))
        }
    }

    var told: [String] { lock.holding { lines } }
    var last: HTTPStub.Request? { lock.holding { requests.last } }

    /// What a receiver that goes by UUIDs has in the end.
    func contents() -> Set<String> {
        var held: Set<String> = []
        for line in told {
            let quoted = line.split(separator: "\"")
            if quoted[1] == "deleted" { held.remove(String(quoted[3])) } else { held.insert(String(quoted[3])) }
        }
        return held
    }
}

/// A mutex.
private final class NSLockless: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    init() { pthread_mutex_init(mutex, nil) }
    func holding<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

@Suite struct WebhookExporterTests {
    private let test: ExportedStore
    private let receiver = Receiver()
    private let stub: HTTPStub

    init() throws {
        test = try ExportedStore()
        stub = HTTPStub { [receiver] in receiver.answer($0) }
    }

    private func exporter(secret: String? = nil) throws -> WebhookExporter {
        var kept: Secret?
        if let secret {
            try test.folder.write(Array(secret.utf8), to: "secret")
            chmod(test.folder.file("secret"), 0o600)
            kept = .file(test.folder.file("secret"))
        }
        return WebhookExporter(
            .init(url: stub.url + "/hook", secret: kept),
            context: try ExportContext(name: "hook", me: test.store.subject, now: { Instant(seconds: 1_614_265_330) }))
    }

    /// The example of Standard Webhooks' specification.
    @Test func signedAsTheSpecificationHasIt() {
        let signature = Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let text = signature.text(
            of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: "1614265330")
        #expect(text == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func linesInOrder() throws {
        defer { stub.close() }
        try test.add(try (0..<30).map { try test.sample(60, at: $0) })
        try test.finish(try test.run(exporter(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
        #expect(receiver.told.count == 30)
        let request = try #require(receiver.last)
        #expect(request.path == "/hook" && request.headers["content-type"] == "application/x-ndjson")
        #expect(request.headers["webhook-timestamp"] == "1614265330")
        let id = try #require(request.headers["webhook-id"])
        #expect(id.hasPrefix("hook_"))
        #expect(
            request.headers["webhook-signature"]
                == Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").text(of: request.body, id: id, time: "1614265330"))
    }

    @Test func aSecretThatOthersMayRead() throws {
        defer { stub.close() }
        let exporter = try exporter(secret: "a")
        chmod(test.folder.file("secret"), 0o644)
        try test.add([try test.sample(60, at: 0)])
        #expect(try test.run(exporter).step() == .stopped)
        #expect(receiver.told.isEmpty)
    }

    @Test(arguments: [(401, true), (404, true), (500, false), (503, false), (429, false), (0, false)]) func whoHasToAct(
        status: Int, isStopped: Bool
    ) throws {
        defer { stub.close() }
        receiver.set { status }
        try test.add([try test.sample(60, at: 0)])
        let outcome = try test.run(exporter()).step()
        #expect((outcome == .stopped) == isStopped)
        #expect(outcome != .upToDate(again: nil))
        receiver.set(nil)
        try test.finish(try test.run(exporter()))
        #expect(receiver.told.count == 1)
    }

    /// What was taken, and its acknowledgement lost, comes again with the same id.
    @Test(arguments: 0..<12 as Range<UInt64>) func whateverFails(seed: UInt64) throws {
        defer { stub.close() }
        var random = SeededGenerator(seed: seed)
        let proof = try ExportProof(test, TargetSettings(name: "hook", batchSize: 7)) { try exporter() }
        try proof.suffer(60, using: &random) { random in
            let status = [nil, nil, 0, -1, -1, 500, 413, 429].randomElement(using: &random) ?? nil
            nonisolated(unsafe) var isDue = status != nil
            receiver.set {
                defer { isDue = false }
                return isDue ? status : nil
            }
        }
        receiver.set(nil)
        try proof.finish()
        #expect(try receiver.contents() == Set(test.contents().keys.map(\.description)))
    }
}
