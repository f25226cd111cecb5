import Formats
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A store in its own folder. Closing it asserts that no statement is busy and that the store's own check finds nothing.
final class TestStore {
    let folder: TemporaryFolder
    private var opened: SampleStore?
    /// A store that was damaged on purpose is not checked.
    var isSound = true

    static let person = "6d1f6e7c-2f0a-4a0e-9a52-0f8f6f3f2b11"
    static let received = Instant(seconds: 1_795_156_260)

    var path: String { folder.file("store.db") }

    init(folder: TemporaryFolder? = nil) throws {
        self.folder = try folder ?? TemporaryFolder()
        try open()
    }

    static func with<Result>(_ body: (TestStore) throws -> Result) throws -> Result {
        let test = try TestStore()
        let result = try body(test)
        try test.close()
        return result
    }

    var store: SampleStore {
        get throws { try #require(opened) }
    }

    func open() throws { opened = try Self.open(path) }

    static func open(_ path: String, _ access: SampleStore.Access = .write) throws -> SampleStore {
        try SampleStore(path: path, access: access, creation: SampleStore.Creation(person: person, time: received.microseconds))
    }

    /// Another writer on the same file.
    func another(_ access: SampleStore.Access = .write) throws -> SampleStore { try SampleStore(path: path, access: access) }

    func close() throws {
        guard let store = opened else { return }
        if isSound {
            let problems = try store.check()
            #expect(problems == [])
            try expectOneRowEach(store)
        }
        // SQLite refuses to vacuum while a statement runs.
        try store.connection.execute("VACUUM")
        opened = nil
    }

    /// Whatever wrote them (an import, a device, a repair, a clock's correction, an undoing): equal contexts are one row, and so are series.
    private func expectOneRowEach(_ store: SampleStore) throws {
        for (table, columns) in [
            ("context", "origin, unit, molar_mass, zone, time_origin, skew, resolution, ordinal, body"),
            ("series", "type, subject, source, device"),
        ] {
            let twice = try store.connection.integer(
                "SELECT count(*) FROM (SELECT 1 FROM \(table) GROUP BY \(columns) HAVING count(*) > 1)")
            #expect(twice == 0, "\(table)")
        }
    }

    func reopen() throws {
        try close()
        try open()
    }

    static func description(_ kind: IngestKind = .import, received: Instant = received) -> IngestDescription {
        IngestDescription(kind: kind, received: received.microseconds)
    }

    /// One ingest of these batches, on behalf of a client if one is given.
    @discardableResult
    func keep(_ batches: [GatedSample]..., received: Instant = received, client: Client? = nil) throws -> (
        outcomes: [[SampleOutcome]], account: IngestAccount
    ) {
        var description = Self.description(received: received)
        description.client = client?.source
        let ingest = try store.beginIngest(description)
        let outcomes = try batches.map { try ingest.store($0) }
        return (outcomes, try ingest.finish(at: received.microseconds))
    }

    /// One ingest that compares nothing with other units or paths, as `import --exact` does.
    @discardableResult
    func keepExactly(_ batch: [GatedSample], client: Client? = nil) throws -> Int64 {
        var description = IngestDescription(kind: .import, received: Self.received.microseconds, comparesPaths: false)
        description.client = client?.source
        let ingest = try store.beginIngest(description)
        _ = try ingest.store(batch)
        return try ingest.finish(at: Self.received.microseconds).id
    }

    @discardableResult
    func delete(_ samples: GatedSample...) throws -> Int64 {
        try store.samples.delete(samples.map(\.sample.identity), description: Self.description(.delete)).ingest
    }

    @discardableResult
    func restore(_ samples: GatedSample..., received: Instant = received) throws -> Int64 {
        try store.samples.restore(samples.map(\.sample.identity), description: Self.description(.restore, received: received))
            .ingest
    }

    /// The samples of a query, in its order.
    func samples(_ query: SampleQuery = SampleQuery()) throws -> [StoredSample] {
        let cursor = try store.samples.cursor(matching: query)
        defer { cursor.close() }
        var samples: [StoredSample] = []
        while let next = try cursor.next() { samples.append(next) }
        return samples
    }

    func identities(_ query: SampleQuery = SampleQuery()) throws -> [SampleIdentity] { try samples(query).map(\.uuid) }

    /// Every live sample as its line, without its place in ledger and change log.
    func lines() throws -> Set<String> { Set(try samples().map { Self.line($0.sample) }) }

    static func line(_ sample: Sample) -> String {
        var bytes: [UInt8] = []
        SampleLine(me: person).append(sample, ingest: nil, seq: nil, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func execute(_ sql: String) throws { try store.connection.execute(sql) }
}

/// Makes samples as the normaliser does.
struct SampleMaker {
    var origin: Origin
    var unit: Unit
    var zone: ZoneOffset?
    /// By how much a local time is ahead of the instant: such samples have a nominal start of their own.
    var skew: Int64 = 0
    var received = TestStore.received
    var timeOrigin = TimeOrigin.device
    var timeResolution: Int32 = 1

    init(
        _ type: SampleType = .heartRate, source: String = "strap", sourceName: String = "Strap", version: String? = nil,
        device: Device? = nil,
        person: String = TestStore.person, unit: String? = nil
    ) throws {
        origin = Origin(
            person: person, type: type, source: SourceRevision(id: source, name: sourceName, version: version), device: device)
        self.unit = try unit.map { try Unit(ucum: $0) } ?? type.canonicalUnit
    }

    /// Local times read in a zone this many hours ahead of UTC.
    func local(_ hours: Int) -> SampleMaker {
        var maker = self
        maker.skew = Int64(hours) * 3_600_000_000
        maker.zone = ZoneOffset(seconds: Int32(hours * 3600))
        return maker
    }

    /// - Parameter seconds: after 2026-01-01T00:00:00Z, in the source's local time.
    func callAsFunction(
        _ numeral: String, at seconds: Double, lasting duration: Double = 0, ordinal: UInt32 = 0, group: UInt64? = nil,
        metadata: Metadata? = nil, record: RecordIdentifier? = nil, body: SampleBody? = nil, rule: GateRule? = nil,
        repeats: SkipKind? = nil
    ) throws -> GatedSample {
        let nominal = 1_767_225_600_000_000 + Int64(seconds * 1e6)
        let length = Int64(duration * 1e6)
        let numeral = try Numeral(numeral)
        // SQLite knows no negative zero.
        let value = try origin.type.conversion(from: unit).convert(numeral) + 0
        let start = timeOrigin == .receipt ? received : Instant(microseconds: nominal - skew)
        let identity =
            record.map { SampleIdentity(series: origin.seriesKey, start: nominal, record: $0, numeral: numeral, unit: unit) }
            ?? SampleIdentity(
                series: origin.seriesKey, start: timeOrigin == .receipt ? start.microseconds : nominal,
                end: (timeOrigin == .receipt ? start.microseconds : nominal) + length, numeral: numeral, unit: unit,
                ordinal: ordinal, method: metadata?.method ?? [])
        return GatedSample(
            sample: Sample(
                origin: origin, identity: identity, nominalStart: timeOrigin == .receipt ? start.microseconds : nominal,
                start: start,
                end: Instant(microseconds: start.microseconds + length), value: value,
                numeral: numeral, unit: unit, zone: zone, timeOrigin: timeOrigin, received: received, group: group,
                metadata: metadata,
                record: record, timeResolution: timeResolution, ordinal: record == nil ? ordinal : nil, body: body),
            rule: rule, repeats: repeats, place: Place(.line, 1))
    }
}
