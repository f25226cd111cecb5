import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// A store whose answers are read. Times are hours after 2026-11-20, midnight in UTC.
struct AnsweredStore {
    let folder: TemporaryFolder
    let store: SampleStore
    static let person = "11111111-2222-4333-8444-555555555555"
    /// After all samples, so that none is of the future.
    static let received = instant(400 * 24)
    static let midnight: Int64 = 1_795_132_800

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(path: folder.file("store.db"), access: .write, creation: .init(person: Self.person, time: 0))
    }

    static func instant(_ hours: Double) -> Instant {
        Instant(microseconds: midnight * 1_000_000 + Int64(hours * 3_600_000_000))
    }

    /// Adds a sample from `hours` to `end`, by a source or by its device.
    func add(
        _ name: String, _ numeral: String, _ hours: Double, to end: Double? = nil, source: String = "watch",
        device: String? = nil
    ) throws {
        let type = try #require(SampleType(name))
        let reading = Reading(
            origin: Origin(
                person: Self.person, type: type, source: SourceRevision(id: source, name: source, version: nil),
                device: device.map { Device(key: $0, name: $0) }),
            numeral: try Numeral(numeral), unit: type.kind == .quantity ? type.canonicalUnit : .one,
            time: .instants(start: Self.instant(hours), end: Self.instant(end ?? hours), offset: .utc), place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.received)
        let ingest = try store.beginIngest(IngestDescription(kind: .import, received: Self.received.microseconds))
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
    }

    /// Adds a stage of sleep.
    func sleep(_ stage: String, _ hours: Double, to end: Double, source: String = "watch") throws {
        let type = try #require(SampleType("sleepAnalysis"))
        let value = try #require((0..<8).first { type.caseName(of: Double($0)) == stage })
        try add("sleepAnalysis", "\(value)", hours, to: end, source: source)
    }
}
