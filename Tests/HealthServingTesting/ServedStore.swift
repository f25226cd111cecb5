import HTTPServerKit
import HTTPServerTesting
import HealthModel
import HealthServing
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// A served store with tokens for the tests.
package final class ServedStore {
    package let folder: TemporaryFolder
    package let store: SampleStore
    package let service: HealthService
    package let sites: [any Site]
    private let settings: ServiceSettings
    private let make: (ServiceCore) throws -> [any Site]
    /// It may read everything of the person.
    package let watch: Client
    package let token: String
    /// Another one, who may read nothing.
    package let other: Client
    package let otherToken: String
    package static let person = "11111111-2222-4333-8444-555555555555"
    package static let now = Instant(seconds: 1_800_000_000)

    package init(
        sites: @escaping (ServiceCore) throws -> [any Site], _ change: (inout ServiceSettings) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: Self.person, time: 0))
        var settings = ServiceSettings(
            store: store.path, server: ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0)),
            zone: TimeZoneRules(fixed: .utc), zones: { ZoneOffset($0).map { TimeZoneRules(fixed: $0) } }, priority: [],
            now: { Self.now })
        settings.delayOfGuess = { _ in .zero }
        change(&settings)
        watch = try store.clients.add(named: "watch", purpose: "Tests", at: Self.now)
        token = try store.clients.makeToken(for: watch, at: Self.now)
        for type in SampleType.all where type.kind == .quantity || type.kind == .activitySummary {
            try Self.grant(ObjectType(type), to: watch, in: store)
        }
        for type in CharacteristicType.allCases { try Self.grant(ObjectType(type), to: watch, in: store) }
        other = try store.clients.add(named: "other", purpose: "Tests", at: Self.now)
        otherToken = try store.clients.makeToken(for: other, at: Self.now)
        (self.settings, make) = (settings, sites)
        var made: [any Site] = []
        service = try HealthService(settings) { core in
            made = try sites(core)
            return made
        }
        self.sites = made
    }

    /// Another service of the same store, which the test stops.
    package func again() throws -> HealthService { try HealthService(settings, make) }

    /// The response to a client's request with its token.
    package func post(
        _ target: String, _ body: String, type: String = "application/json", _ headers: String = "", token: String? = nil
    ) throws -> RawClient.Answer {
        try #require(
            try client().send("POST", target, "Authorization: Bearer \(token ?? self.token)\r\n" + headers, body, type: type))
    }

    /// Grants a client write access, and read access to other sources' samples.
    package func grant(_ name: String, reading: Grant.Reading = .none, mayWrite: Bool = true, to client: Client? = nil) throws {
        let type = try #require(ObjectType(name))
        try store.clients.set(
            Grant(person: Self.person, type: type, reading: reading, mayWrite: mayWrite), of: client ?? other, at: Self.now)
    }

    private static func grant(_ type: ObjectType, to client: Client, in store: SampleStore) throws {
        try store.clients.set(Grant(person: person, type: type, reading: .all, mayWrite: false), of: client, at: now)
    }

    /// The client has no token any more.
    package func revoke() throws { try store.clients.revokeTokens(of: watch, at: Self.now) }

    /// Heart rates, a minute apart.
    @discardableResult
    package func add(
        _ values: [Int], of name: String = "heartRate", from second: Int64 = 1_790_000_000, device: Device? = nil
    ) throws -> [SampleIdentity] {
        try add(numerals: values.map { "\($0)" }, of: name, from: second, every: 60, device: device)
    }

    /// So many seconds apart.
    @discardableResult
    package func add(
        numerals: [String], of name: String, from second: Int64 = 1_790_000_000, every seconds: Int64, device: Device? = nil
    ) throws -> [SampleIdentity] {
        let origin = Self.origin(try #require(SampleType(name)), device)
        return try keep(
            try numerals.enumerated().map { index, numeral in
                let start = Instant(seconds: second + seconds * Int64(index))
                return Reading(
                    origin: origin, numeral: try Numeral(numeral), unit: origin.type.canonicalUnit,
                    time: .instants(start: start, end: start, offset: .utc), place: Place(.line, index + 1))
            })
    }

    /// An immunization of a name.
    @discardableResult
    package func addRecord(_ name: String, at second: Int64 = 1_790_000_000) throws -> SampleIdentity {
        let type = try #require(SampleType("immunizationRecord"))
        let record = ClinicalRecord(displayName: name, resourceType: "Immunization", identifier: name, version: "R4")
        let body = try SampleBody(
            encoding: record, content: try PackedContent(Array("{\"resourceType\":\"Immunization\",\"id\":\"\(second)\"}".utf8)))
        let start = Instant(seconds: second)
        return try #require(
            try keep([
                Reading(
                    origin: Self.origin(type), numeral: try Numeral("0"), unit: .one,
                    time: .instants(start: start, end: start, offset: .utc), body: body, place: Place(.line, 1))
            ]).first)
    }

    private static func origin(_ type: SampleType, _ device: Device? = nil) -> Origin {
        Origin(person: person, type: type, source: SourceRevision(id: "strap", name: "Strap", version: nil), device: device)
    }

    @discardableResult
    package func keep(_ readings: [Reading]) throws -> [SampleIdentity] {
        let samples = try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: Self.now)
        let ingest = try store.beginIngest(IngestDescription(kind: .import, received: Self.now.microseconds))
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
        return samples.map(\.sample.identity)
    }

    /// A clinical record with its resource.
    package func addRecord(_ name: String, _ resource: String) throws -> SampleIdentity {
        let body = try SampleBody(
            encoding: ClinicalRecord(
                displayName: "Flu", resourceType: "Immunization", identifier: "1", version: "R4", sourceURL: nil, dates: [:],
                codes: []), content: try PackedContent(Array(resource.utf8)))
        let type = try #require(SampleType(name))
        let start = Instant(seconds: 1_790_000_000)
        let reading = Reading(
            origin: Origin(
                person: Self.person, type: type, source: SourceRevision(id: "clinic", name: "Clinic", version: nil), device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc), body: body,
            place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.now)
        let ingest = try store.beginIngest(IngestDescription(kind: .import, received: Self.now.microseconds))
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
        return try #require(samples.first).sample.identity
    }

    package func client() throws -> RawClient { try #require(RawClient(service.address)) }

    /// The response to a client with a token.
    package func get(_ target: String, _ headers: String = "", method: String = "GET") throws -> RawClient.Answer {
        try #require(try client().get(target, "Authorization: Bearer \(token)\r\n" + headers, method: method))
    }
}
