import ExportEngine
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// A store that is exported: with heart rates, of few values at few times.
package struct ExportedStore {
    package let folder: TemporaryFolder
    package let store: SampleStore
    package let origin = Origin(
        person: "11111111-2222-4333-8444-555555555555", type: .heartRate,
        source: SourceRevision(id: "strap", name: "Strap", version: nil), device: nil)
    package static let received = Instant(seconds: 1_800_000_000)

    /// A new store in its own folder.
    package init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(person: origin.person, time: 0))
    }

    /// A heart rate, or a sample of a category.
    package func sample(
        _ value: Int, at second: Int, of name: String = "heartRate", record: RecordIdentifier? = nil
    ) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let type = try #require(SampleType(name))
        let reading = Reading(
            origin: type == origin.type ? origin : Origin(person: origin.person, type: type, source: origin.source),
            numeral: try Numeral("\(value)"), unit: type.kind == .category ? .one : try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: .utc), record: record, place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.received).first)
    }

    package func description(_ kind: IngestKind = .import) -> IngestDescription {
        IngestDescription(kind: kind, received: Self.received.microseconds)
    }

    @discardableResult package func add(_ samples: [GatedSample]) throws -> Int64 {
        let ingest = try store.beginIngest(description())
        _ = try ingest.store(samples)
        return try ingest.finish(at: 0).id
    }

    package func delete(_ sample: GatedSample) throws {
        _ = try store.samples.delete([sample.sample.identity], description: description(.delete))
    }

    package func contents() throws -> [SampleIdentity: Double] {
        var contents: [SampleIdentity: Double] = [:]
        let cursor = try store.samples.cursor(matching: SampleQuery())
        while let stored = try cursor.next() { contents[stored.uuid] = stored.sample.value }
        return contents
    }

    package func run(
        _ target: any Exporter, _ settings: TargetSettings = TargetSettings(name: "other"), keeping cursor: SampleStore? = nil
    ) throws -> TargetRun {
        try TargetRun(
            settings, exporter: target, reader: try SampleStore(path: store.path, access: .read), store: cursor ?? store,
            generator: SeededGenerator(seed: 1), now: { Self.received })
    }

    package func finish(_ run: TargetRun) throws {
        for _ in 0..<10_000 {
            switch try run.step() {
            case .upToDate: return
            case .stopped:
                Issue.record("it has stopped: \(run.target.words ?? "")")
                return
            case .more, .wait: continue
            }
        }
        Issue.record("it never ends")
    }
}
