import ExportEngine
import ExportTesting
import FoundationEssentials
import Glibc
import HTTPClientKit
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import InfluxExport

/// Tests against Debian's InfluxDB: it contains the same as the store.
@Suite struct InfluxExporterTests {
    private let test: ExportedStore
    private let server: InfluxServer
    /// Of this test alone.
    private let database: String

    init() throws {
        test = try ExportedStore()
        server = try InfluxServer.shared.get()
        database = "t" + test.store.identifier
        _ = try server.query("CREATE DATABASE \(database)")
    }

    private func exporter(url: String? = nil, database: String? = nil, entry: InfluxSettings.Entry = .anonymous) throws
        -> InfluxExporter
    {
        InfluxExporter(
            InfluxSettings(
                url: url ?? server.url, place: .database(database ?? self.database, retentionPolicy: nil), entry: entry),
            context: try ExportContext(
                name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received }))
    }

    /// UUIDs with their values.
    private func stored() throws -> [SampleIdentity: Double] {
        struct Answer: Decodable {
            struct Result: Decodable {
                struct Series: Decodable { var values: [[Cell]] }
                var series: [Series]?
            }
            enum Cell: Decodable {
                case text(String)
                case number(Double)
                case none
                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if let text = try? container.decode(String.self) {
                        self = .text(text)
                    } else {
                        self = (try? container.decode(Double.self)).map { .number($0) } ?? .none
                    }
                }
            }
            var results: [Result]
        }
        let text = try server.query("SELECT uuid, value FROM heartRate", in: database)
        var stored: [SampleIdentity: Double] = [:]
        for series in try JSONDecoder().decode(Answer.self, from: Data(text.utf8)).results.flatMap({ $0.series ?? [] }) {
            for row in series.values {
                guard case .text(let uuid) = row[1], case .number(let value) = row[2] else { continue }
                stored[try #require(SampleIdentity(uuid))] = value
            }
        }
        return stored
    }

    @Test func aPointForEachSample() throws {
        let samples = try (0..<50).map { try test.sample(60 + $0 % 3, at: $0 / 2) }
        try test.add(samples)
        let exporter = try exporter()
        #expect(try exporter.check().count == 3)
        let run = try test.run(exporter)
        try test.finish(run)
        #expect(try stored() == test.contents())
        try test.delete(samples[3])
        try test.finish(run)
        #expect(try stored() == test.contents())
        _ = try test.store.samples.restore([samples[3].sample.identity], description: test.description(.restore))
        try test.finish(run)
        #expect(try stored() == test.contents())
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: exporter, store: test.store, now: { ExportedStore.received })
        #expect(try comparison.compare() == TargetDifferences(equal: test.contents().count))
    }

    /// Intervals of one packet have one start.
    @Test func ofOneMomentEachIsAPoint() throws {
        let start = Instant(seconds: 1_790_000_000)
        let readings = try (0..<9).map { index in
            Reading(
                origin: test.origin, numeral: try Numeral("\(60 + index)"), unit: try Unit(ucum: "/min"),
                time: .instants(start: start, end: start, offset: .utc), group: .shared(77), place: Place(.line, 1))
        }
        try test.add(try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received))
        try test.finish(try test.run(exporter()))
        #expect(try stored() == test.contents())
        #expect(try stored().count == 9)
    }

    @Test func repairsGoOver() throws {
        var counts: [Int] = []
        try test.repair(delivering: test.run(exporter())) {
            #expect(try stored() == test.contents())
            counts.append(try stored().count)
        }
        #expect(counts == [10_000, 10_000, 10_000, 9000, 0])
    }

    /// InfluxData's own cases, as far as a point of ours can be such: names that are not empty, texts and numbers with a point.
    @Test func matchesCasesOfInfluxData() throws {
        struct Case: Decodable {
            struct Input: Decodable { var point: Point }
            struct Point: Decodable {
                var time: Int64?
                var name: String?
                var tags: [Tag]?
                var fields: [Field]?
            }
            struct Tag: Decodable { var key: String, value: String }
            struct Field: Decodable { var key: String, value: Value }
            struct Value: Decodable {
                var float: Double?
                var string: String?
            }
            struct Output: Decodable { var result: String? }
            var input: Input
            var output: Output
        }
        func escaped(_ text: String, _ part: LineProtocol.Part) -> String {
            var bytes: [UInt8] = []
            LineProtocol.append(text, part, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/line-protocol-encode.json")
        var checked = 0
        for each in try JSONDecoder().decode([Case].self, from: Data(contentsOf: file)) {
            let point = each.input.point
            guard let line = each.output.result, let name = point.name, let time = point.time, let fields = point.fields,
                !fields.isEmpty,
                fields.allSatisfy({
                    $0.value.string != nil || $0.value.float.map { $0 == $0.rounded() && abs($0) < 1000 } == true
                })
            else { continue }
            let tags = (point.tags ?? []).map { ",\(escaped($0.key, .tag))=\(escaped($0.value, .tag))" }
                .joined()
            let values = fields.map { field in
                let value = field.value.string.map { "\"\(escaped($0, .text))\"" } ?? "\(Int(field.value.float ?? 0))"
                return "\(escaped(field.key, .tag))=\(value)"
            }
            #expect("\(escaped(name, .measurement))\(tags) \(values.joined(separator: ",")) \(time)" == line)
            checked += 1
        }
        #expect(checked > 20)
    }

    /// Any names from devices and files: a written point is found again, to be deleted.
    @Test(arguments: ["a b,c=d", "x\\", "it's \"quoted\"", "tab\tand more", "ü ✓", "trailing \\ \\"]) func anyNameRoundTrips(
        name: String
    ) throws {
        let origin = Origin(
            person: test.store.owner, type: .heartRate, source: SourceRevision(id: name, name: name),
            device: Device(key: name, name: name))
        let samples = try (0..<2).flatMap { second -> [GatedSample] in
            let start = Instant(seconds: 1_790_000_000 + Int64(second))
            let reading = Reading(
                origin: origin, numeral: try Numeral("60.50"), unit: try Unit(ucum: "/min"),
                time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
            return try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
        }
        try test.add(samples)
        let run = try test.run(exporter())
        try test.finish(run)
        #expect(try stored() == test.contents())
        try test.delete(samples[0])
        try test.finish(run)
        #expect(try stored() == test.contents())
        #expect(try stored().count == 1)
    }

    /// Of a batch with a point that is not taken the good ones are in, and the bad one is found.
    @Test func setsAsideRejectedPoint() throws {
        _ = try HTTPClient().send(
            HTTPRequest(
                .post, "\(server.url)/write?db=\(database)", body: Array("bodyMass value=\"text\" 1790000000000000000\n".utf8)))
        let start = Instant(seconds: 1_790_000_000)
        let weighing = Reading(
            origin: Origin(person: test.store.owner, type: .bodyMass, source: SourceRevision(id: "s", name: "s"), device: nil),
            numeral: try Numeral("80"), unit: try Unit(ucum: "kg"), time: .instants(start: start, end: start, offset: .utc),
            place: Place(.line, 1))
        try test.add(
            try (0..<20).map { try test.sample(60, at: $0) }
                + ReadingPath.samples(of: [weighing], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received))
        try test.finish(try test.run(exporter()))
        #expect(try stored().count == 20)
        let words = try test.store.targets.setAside(by: "other").map(\.words)
        #expect(words == ["HTTP 400: field type conflict"])
    }

    /// A server that keeps a week: old readings are set aside, however many, and live ones are delivered. Both arrive in one batch and
    /// alternately.
    @Test func olderThanTheServerKeeps() throws {
        _ = try server.query("CREATE DATABASE \(database)w WITH DURATION 168h")
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int(time.tv_sec) - 1_790_000_000
        let live = try (0..<10).map { try test.sample(61, at: now - 60 * $0) }
        try test.add(try (0..<212).map { try test.sample(60, at: now - 86_400 * ($0 + 9)) } + live)
        let run = try test.run(exporter(database: database + "w"))
        try test.finish(run)
        #expect(try test.store.targets.target("other")?.state == .delivering)
        let aside = try test.store.targets.setAside(by: "other")
        #expect(aside.count == 212)
        #expect(aside.allSatisfy { $0.words.contains("points beyond retention policy") })
        try test.add([try test.sample(62, at: now)])
        try test.finish(run)
        let stored = try server.query("SELECT count(value) FROM heartRate", in: database + "w")
        #expect(stored.contains(",11]"), "\(stored)")
        _ = try test.store.targets.retry([], of: "other")
        try test.finish(run)
        #expect(try test.store.targets.setAside(by: "other").count == 212)
    }

    /// A database that is dropped and created again is not the one that was filled, also in the middle of a run.
    @Test func detectsRecreatedDatabase() throws {
        try test.add(try (0..<20).map { try test.sample(60, at: $0) })
        let run = try test.run(exporter())
        try test.finish(run)
        _ = try server.query("DROP DATABASE \(database)")
        _ = try server.query("CREATE DATABASE \(database)")
        try test.add([try test.sample(61, at: 30)])
        _ = try run.step()
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("targets verify other") == true)
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.repair().differences.missing == 21)
        try test.finish(run)
        #expect(try stored() == test.contents())
    }

    /// A point that another program has overwritten is found by its value.
    @Test func findsChangedPoint() throws {
        let sample = try test.sample(60, at: 0)
        try test.add([sample, try test.sample(61, at: 1)])
        try test.finish(try test.run(exporter()))
        let point = Point(sample.sample)
        let tags = point.tags.map { ",\($0.key)=\($0.value)" }.joined()
        _ = try HTTPClient().send(
            HTTPRequest(
                .post, "\(server.url)/write?db=\(database)", body: Array("heartRate\(tags) value=1.0 \(point.nanoseconds)\n".utf8)
            ))
        let comparison = TargetComparison(
            TargetSettings(name: "other"), exporter: try exporter(), store: test.store, now: { ExportedStore.received })
        #expect(try comparison.repair().differences == TargetDifferences(equal: 1, differing: 1))
        #expect(try stored() == test.contents())
    }

    /// A server that takes points and returns none, such as one of another maker, is found out by a look, and by the first delivery.
    @Test func detectsWriteOnlyServer() throws {
        let stub = HTTPStub { request in
            request.path.hasPrefix("/query")
                ? HTTPStub.Answer(200, body: Array(#"{"results":[{"series":[{"values":[]}]}]}"#.utf8)) : HTTPStub.Answer(204)
        }
        defer { stub.close() }
        try expectFoundOut(stub.url)
    }

    /// VictoriaMetrics itself.
    @Test func victoriaMetrics() throws {
        let server = try VictoriaMetricsServer()
        try expectFoundOut(server.url)
    }

    private func expectFoundOut(_ url: String) throws {
        let words = "not InfluxDB 1"
        do {
            _ = try exporter(url: url).check()
            Issue.record("it takes points, and is called good")
        } catch let error as DeliveryError {
            #expect(error.kind == .unfit && error.reason.contains(words))
        }
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter(url: url))
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains(words) == true)
        #expect(run.target.delivered == 0)
    }

    @Test func aPersonHasToAct() throws {
        try test.add([try test.sample(60, at: 0)])
        #expect(try test.run(exporter(database: "nowhere")).step() == .stopped)
        let locked = try InfluxServer(needsPassword: true)
        defer { locked.stop() }
        _ = try locked.query("CREATE USER a WITH PASSWORD 'b' WITH ALL PRIVILEGES")
        _ = try locked.query("CREATE DATABASE \(database)", HTTPRequest.basic("a", "b"))
        try test.folder.write(Array("wrong\n".utf8), to: "password")
        chmod(test.folder.file("password"), 0o600)
        let entry = InfluxSettings.Entry.user("a", .file(test.folder.file("password")))
        #expect(try test.run(exporter(url: locked.url, entry: entry)).step() == .stopped)
        #expect(try test.store.targets.target("other")?.words?.hasPrefix("HTTP 401") == true)
        try test.folder.write(Array("b\n".utf8), to: "password")
        try test.finish(try test.run(exporter(url: locked.url, entry: entry)))
        #expect(try locked.query("SELECT count(value) FROM heartRate", in: database, HTTPRequest.basic("a", "b")).contains(",1]"))
    }

    /// The connection breaks at any byte, in either direction.
    @Test(arguments: 0..<8 as Range<UInt64>) func survivesRandomFailures(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let relay = CuttingRelay(.tcp(0), server: .tcp(server.port))
        defer { relay.close() }
        let proof = try ExportProof(test) { try exporter(url: "http://127.0.0.1:\(relay.port)") }
        try proof.suffer(40, using: &random) { random in
            guard Int.random(in: 0..<3, using: &random) > 0 else { return }
            let direction = CuttingRelay.Direction.allCases[Int.random(in: 0..<2, using: &random)]
            relay.cut(direction, after: Int.random(in: 1..<(direction == .toServer ? 3000 : 400), using: &random))
        }
        #expect(relay.count > 0)
        relay.mend()
        try proof.finish()
        #expect(try test.store.targets.setAside(by: "other").map(\.words) == [])
        let (stored, contents) = try (stored(), test.contents())
        #expect(Set(stored.keys).subtracting(contents.keys) == [])
        #expect(Set(contents.keys).subtracting(stored.keys) == [])
        #expect(stored == contents)
    }

    /// Each answer arrives a few bytes at a time.
    @Test func answersSlowly() throws {
        var random = SeededGenerator(seed: 3)
        let relay = CuttingRelay(.tcp(0), server: .tcp(server.port))
        defer { relay.close() }
        relay.slow(to: 3)
        let proof = try ExportProof(test) { try exporter(url: "http://127.0.0.1:\(relay.port)") }
        try proof.suffer(20, using: &random) { _ in }
        try proof.finish()
        #expect(relay.slowLots > 100)
        #expect(try stored() == test.contents())
    }

    @Test func survivesKilledServer() throws {
        let server = try InfluxServer()
        defer { server.stop() }
        _ = try server.query("CREATE DATABASE \(database)")
        var random = SeededGenerator(seed: 5)
        let proof = try ExportProof(test) { try exporter(url: server.url) }
        for _ in 0..<2 {
            try proof.suffer(15, using: &random) { _ in }
            server.crash()
            try proof.suffer(10, using: &random) { _ in }
            try server.start()
        }
        try proof.finish()
        var uuids: Set<SampleIdentity> = []
        try exporter(url: server.url).contents { uuids.formUnion($0.map(\.identity)) }
        #expect(try uuids == Set(test.contents().keys))
    }

    /// Changed only between two requests.
    private final class Bucket: @unchecked Sendable {
        var id = "0123456789abcdef"
    }

    /// Requests to version 2, which Debian does not include, as documented.
    @Test func requestsOfVersion2() throws {
        nonisolated(unsafe) var asked: [HTTPStub.Request] = []
        let bucket = Bucket()
        let stub = HTTPStub { request in
            if request.path == "/api/v2/buckets?org=me&name=my%20bucket" {
                return HTTPStub.Answer(200, body: Array(#"{"buckets":[{"id":"\#(bucket.id)","name":"my bucket"}]}"#.utf8))
            }
            asked.append(request)
            return request.path.contains("/query")
                ? HTTPStub.Answer(200, body: Array(",result,table,_value\r\n,,0,01a19467-e800-87c5-9a1e-ddcb12f66358\r\n".utf8))
                : HTTPStub.Answer(204)
        }
        defer { stub.close() }
        try test.folder.write(Array("t0ken".utf8), to: "token")
        chmod(test.folder.file("token"), 0o600)
        let exporter = InfluxExporter(
            InfluxSettings(
                url: stub.url, place: .bucket("my bucket", org: "me"), entry: .token(.file(test.folder.file("token")))),
            context: try ExportContext(name: "other", me: test.store.owner, now: { ExportedStore.received }))
        let sample = try test.sample(60, at: 0)
        try test.add([sample])
        let run = try test.run(exporter)
        try test.finish(run)
        #expect(asked[0].path == "/api/v2/write?org=me&bucket=my%20bucket&precision=ns")
        #expect(asked[0].headers["authorization"] == "Token t0ken")
        try test.delete(sample)
        try test.finish(run)
        let body = String(decoding: asked[1].body, as: UTF8.self)
        #expect(asked[1].path == "/api/v2/delete?org=me&bucket=my%20bucket")
        let nanoseconds = sample.sample.identity.low % 1000
        #expect(body.hasPrefix("{\"start\":\"2026-09-21T14:13:20.000000\(String("000\(nanoseconds)".suffix(3)))Z\""), "\(body)")
        #expect(
            body.contains(
                #""predicate":"_measurement=\"heartRate\" AND source=\"strap\" AND subject=\"\#(test.store.owner)\"""#),
            "\(body)")
        var uuids: [SampleIdentity] = []
        try exporter.contents { uuids += $0.map(\.identity) }
        #expect(uuids.map(\.description) == ["01a19467-e800-87c5-9a1e-ddcb12f66358"])
        // The bucket was deleted and made again under its name.
        bucket.id = "fedcba9876543210"
        let again = try test.run(exporter)
        #expect(try again.step() == .stopped)
        #expect(again.target.words?.contains("not the target that was filled") == true)
    }
}
