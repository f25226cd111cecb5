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

/// A receiver that stores changes by UUID and fails as receivers do.
private final class Receiver: @unchecked Sendable {
    private let lock = NSLockless()
    private var lines: [String] = []
    private var mood: (() -> Int?)?
    private var refusal: ((HTTPStub.Request) -> Int?)?
    private(set) var requests: [HTTPStub.Request] = []

    /// A status to return instead of accepting. 0 closes the connection, and a negative one accepts first.
    func set(_ mood: (() -> Int?)?) { lock.holding { self.mood = mood } }

    /// A status to return instead of accepting, by the content of a request.
    func setRefusal(_ refusal: @escaping (HTTPStub.Request) -> Int?) { lock.holding { self.refusal = refusal } }

    func answer(_ request: HTTPStub.Request) -> HTTPStub.Answer {
        lock.holding {
            let status = refusal?(request) ?? mood?() ?? 200
            if status == 200 || status < 0 {
                requests.append(request)
                lines += String(decoding: request.body, as: UTF8.self).split(separator: "\n").map(String.init)
            }
            return HTTPStub.Answer(max(0, status))
        }
    }

    var reported: [String] { lock.holding { lines } }
    var last: HTTPStub.Request? { lock.holding { requests.last } }

    /// The final content of a receiver that compares UUIDs.
    func contents() -> Set<String> {
        var stored: Set<String> = []
        for line in reported {
            let quoted = line.split(separator: "\"")
            if quoted[1] == "deleted" { stored.remove(String(quoted[3])) } else { stored.insert(String(quoted[3])) }
        }
        return stored
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

/// The content of a posted body.
private struct Posted: Decodable {
    struct Contents: Decodable {
        struct Metric: Decodable {
            struct Point: Decodable {
                var date: String
                var qty: Double?
                var lowest: Double?
                var average: Double?
                var highest: Double?
                var systolic: Double?
                var diastolic: Double?
                enum CodingKeys: String, CodingKey {
                    case date, qty, systolic, diastolic
                    case lowest = "Min"
                    case average = "Avg"
                    case highest = "Max"
                }
            }
            var name: String
            var units: String
            var data: [Point]
        }
        var metrics: [Metric]
        var deleted: [String]?
    }
    var data: Contents
}

@Suite struct WebhookExporterTests {
    private let test: ExportedStore
    private let receiver = Receiver()
    private let stub: HTTPStub

    init() throws {
        test = try ExportedStore()
        stub = HTTPStub { [receiver] in receiver.answer($0) }
    }

    private func exporter(secret: String? = nil, form: WebhookExporter.Form = .lines) throws -> WebhookExporter {
        var retained: Secret?
        if let secret {
            try test.folder.write(Array(secret.utf8), to: "secret")
            chmod(test.folder.file("secret"), 0o600)
            retained = .file(test.folder.file("secret"))
        }
        return WebhookExporter(
            .init(url: stub.url + "/hook", form: form, secret: retained),
            context: try ExportContext(
                name: "hook", me: test.store.owner, packet: PresentSamples(test.store, TargetSettings(name: "hook")).packet,
                now: { Instant(seconds: 1_614_265_330) }))
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
        #expect(receiver.reported.count == 30)
        let request = try #require(receiver.last)
        #expect(request.path == "/hook" && request.headers["content-type"] == "application/x-ndjson")
        #expect(request.headers["webhook-timestamp"] == "1614265330")
        let id = try #require(request.headers["webhook-id"])
        #expect(id.hasPrefix("hook_"))
        #expect(
            request.headers["webhook-signature"]
                == Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").text(of: request.body, id: id, time: "1614265330"))
    }

    private func sample(_ id: String, _ value: String, _ unit: String, at second: Int, group: Reading.Group = .none) throws
        -> GatedSample
    {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let reading = Reading(
            origin: Origin(
                person: test.origin.person, type: try #require(SampleType(id)),
                source: SourceRevision(id: "file.app", name: "App")),
            numeral: try Numeral(value), unit: try Unit(ucum: unit),
            time: .instants(start: start, end: start, offset: ZoneOffset(seconds: -3600)), group: group, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
    }

    private func posted() throws -> Posted.Contents {
        let request = try #require(receiver.last)
        return try JSONDecoder().decode(Posted.self, from: Data(request.body)).data
    }

    /// As the app's maker has published it.
    @Test func matchesHealthAutoExport() throws {
        defer { stub.close() }
        let weight = try sample("bodyMass", "80.50", "kg", at: 0)
        try test.add([
            weight, try sample("heartRate", "72", "/min", at: 1), try sample("heartRate", "73", "/min", at: 2),
            try sample("bloodPressureSystolic", "120", "mm[Hg]", at: 3, group: .shared(1)),
            try sample("bloodPressureDiastolic", "80", "mm[Hg]", at: 3, group: .shared(1)),
            try sample("bloodPressureSystolic", "121", "mm[Hg]", at: 4), try sample("bodyImpedance", "500", "Ohm", at: 5),
            try sample("distanceWalkingRunning", "1500", "m", at: 6),
        ])
        let run = try test.run(exporter(form: .healthAutoExport))
        try test.finish(run)
        #expect(run.target.leftOut == 2, "half a pressure, and what the app has no name for")
        let metrics = try posted().metrics
        #expect(metrics.map(\.name) == ["weight_body_mass", "heart_rate", "blood_pressure", "walking_running_distance"])
        #expect(metrics.map(\.units) == ["kg", "bpm", "mmHg", "km"])
        #expect(metrics[0].data.map(\.date) == ["2026-09-21 13:13:20 -0100"])
        #expect(metrics[0].data.map(\.qty) == [80.5] && metrics[3].data.map(\.qty) == [1.5])
        #expect(metrics[1].data.map { [$0.lowest, $0.average, $0.highest] } == [[72, 72, 72], [73, 73, 73]])
        #expect(metrics[2].data.map { [$0.systolic, $0.diastolic] } == [[120, 80]])
        #expect(receiver.last?.headers["content-type"] == "application/json")
        try test.delete(weight)
        try test.finish(run)
        #expect(try posted().deleted == [weight.sample.identity.description])
    }

    @Test func dataPointsOfOpenMHealth() throws {
        defer { stub.close() }
        try test.add([try sample("bodyMass", "80.50", "kg", at: 0), try sample("bodyImpedance", "500", "Ohm", at: 5)])
        let run = try test.run(exporter(form: .openMHealth))
        try test.finish(run)
        #expect(receiver.reported.count == 1 && run.target.leftOut == 1)
        #expect(receiver.reported.first?.contains(#""body":{"body_weight":{"value":80.50,"unit":"kg"}"#) == true)
        // Where nothing of a batch has a place, nothing is posted.
        try test.add([try sample("bodyImpedance", "501", "Ohm", at: 6)])
        try test.finish(run)
        #expect(receiver.reported.count == 1 && run.target.leftOut == 2)
    }

    @Test func refusesReadableSecret() throws {
        defer { stub.close() }
        let exporter = try exporter(secret: "a")
        chmod(test.folder.file("secret"), 0o644)
        try test.add([try test.sample(60, at: 0)])
        #expect(try test.run(exporter).step() == .stopped)
        #expect(receiver.reported.isEmpty)
    }

    @Test(arguments: [(401, true), (404, true), (500, false), (503, false), (429, false), (0, false)])
    func statusDecidesWhetherTargetStops(
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
        #expect(receiver.reported.count == 1)
    }

    /// A receiver that refuses a hundred records, or all, receives the others, and the refused ones again after the user retries.
    @Test(arguments: [150, 300]) func aHundredRefusals(refused: Int) throws {
        defer { stub.close() }
        try test.add(try (0..<300).map { try test.sample($0 < refused ? 60 : 61, at: $0) })
        receiver.setRefusal { String(decoding: $0.body, as: UTF8.self).contains("\"value\":60.0") ? 422 : nil }
        let run = try test.run(exporter())
        try test.finish(run)
        #expect(receiver.reported.count == 300 - refused)
        #expect(try test.store.targets.target("other")?.state == .delivering)
        #expect(try test.store.targets.setAsideSummary(of: "other").count == refused)
        #expect(try test.store.targets.setAsideSummary(of: "other").words == "HTTP 422")
        // Live readings go on.
        try test.add([try test.sample(62, at: 1000)])
        try test.finish(run)
        #expect(receiver.reported.count == 301 - refused)
        receiver.setRefusal { _ in nil }
        _ = try test.store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(try receiver.contents() == Set(test.contents().keys.map(\.description)))
    }

    /// A receiver that forbids one kind of record receives the others. One that forbids everything later is away first.
    @Test func aForbiddenKindAndAClosedReceiver() throws {
        defer { stub.close() }
        try test.add(try (0..<40).map { try test.sample($0 < 10 ? 60 : 61, at: $0) })
        receiver.setRefusal { String(decoding: $0.body, as: UTF8.self).contains("\"value\":60.0") ? 403 : nil }
        let run = try test.run(exporter())
        try test.finish(run)
        #expect(receiver.reported.count == 30)
        #expect(try test.store.targets.target("other")?.state == .delivering)
        #expect(try test.store.targets.setAsideSummary(of: "other").count == 10)
        receiver.setRefusal { _ in 403 }
        try test.add([try test.sample(62, at: 1000)])
        guard case .wait = try run.step() else {
            Issue.record("an answer to a target that has worked is an outage first")
            return
        }
        #expect(try test.store.targets.target("other")?.state == .waiting)
        #expect(try test.store.targets.setAsideSummary(of: "other").count == 10)
    }

    /// The message names the new address without possible secrets, and nothing is missed.
    @Test(arguments: [301, 302, 307, 308]) func redirectNamesNewAddress(status: Int) throws {
        let moved = HTTPStub { _ in
            HTTPStub.Answer(status, headers: [("Location", "https://new.example/hook?token=secret")])
        }
        defer { moved.close() }
        stub.close()
        try test.add([try test.sample(60, at: 0)])
        let exporter = WebhookExporter(
            .init(url: moved.url + "/hook"),
            context: try ExportContext(name: "hook", me: test.store.owner, now: { Instant(seconds: 1_614_265_330) }))
        let run = try test.run(exporter)
        guard case .wait = try run.step() else {
            Issue.record("it does not wait")
            return
        }
        let words = try #require(run.target.words)
        #expect(words.contains("HTTP \(status)") && words.contains("https://new.example/hook") && !words.contains("secret"))
    }

    /// Another address with the same name receives nothing until the user confirms it.
    @Test func anotherAddress() throws {
        defer { stub.close() }
        try test.add([try test.sample(60, at: 0)])
        try test.finish(try test.run(exporter()))
        let other = WebhookExporter(
            .init(url: stub.url + "/other"),
            context: try ExportContext(name: "hook", me: test.store.owner, now: { Instant(seconds: 1_614_265_330) }))
        #expect(try test.run(other).step() == .stopped)
        #expect(try test.store.targets.target("other")?.words?.contains("its address differs") == true)
    }

    /// A batch whose acknowledgement was lost is sent again with the same id.
    @Test(arguments: 0..<12 as Range<UInt64>) func survivesRandomFailures(seed: UInt64) throws {
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
