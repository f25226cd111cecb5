import ExportEngine
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// A store that something else keeps, in memory: it has a sample once, by its UUID, and fails as such things do.
private final class ScriptedTarget: Exporter {
    var batchLimit = 7
    /// What it has.
    private(set) var contents: [SampleIdentity: Double] = [:]
    /// It never takes a value like this.
    var refuses: (Double) -> Bool = { _ in false }
    /// What happens at a delivery; nothing where it works.
    var mood: () -> Mood? = { nil }
    private(set) var deliveries = 0

    enum Mood: CaseIterable {
        /// Nobody answers.
        case gone
        /// It takes everything, and the answer is lost: the classic double.
        case deaf
        /// The connection breaks in the middle.
        case torn
        case busy
        case small
    }

    func check() -> [Finding] { [] }
    func finish() {}

    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        deliveries += 1
        switch mood() {
        case .gone: throw DeliveryError(.unreachable, "nobody answers")
        case .busy: throw DeliveryError(.busy(.seconds(7)), "later")
        case .small where batch.changes.count > 1: throw DeliveryError(.tooLarge, "too much at once")
        case .deaf:
            try take(batch.changes)
            throw DeliveryError(.unreachable, "the answer was lost")
        case .torn:
            try take(Array(batch.changes.prefix(batch.changes.count / 2)))
            throw DeliveryError(.unreachable, "the connection broke")
        case .small, nil: try take(batch.changes)
        }
        return 0
    }

    private func take(_ changes: [SampleChange]) throws(DeliveryError) {
        for case .added(let stored) in changes where refuses(stored.sample.value) {
            throw DeliveryError(.refused, "no such value")
        }
        for change in changes {
            switch change {
            case .added(let stored): contents[stored.uuid] = stored.sample.value
            case .deleted(let deletion): contents[deletion.uuid] = nil
            }
        }
    }
}

/// A target ends up with what the store has, whatever fails on the way.
@Suite struct TargetRunTests {
    private let folder: TemporaryFolder
    private let store: SampleStore
    private let origin = Origin(
        subject: "11111111-2222-4333-8444-555555555555", type: .heartRate,
        source: SourceRevision(id: "strap", name: "Strap", version: nil), device: nil)
    private static let received = Instant(seconds: 1_800_000_000)

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write, creation: .init(subject: origin.subject, time: 0))
    }

    private func sample(_ value: Int, at second: Int) throws -> GatedSample {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let reading = Reading(
            origin: origin, numeral: try Numeral("\(value)"), unit: try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: .utc), place: Place(.line, 1))
        return try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.received).first)
    }

    private func description(_ kind: IngestKind = .import) -> IngestDescription {
        IngestDescription(kind: kind, received: Self.received.microseconds)
    }

    private func add(_ samples: [GatedSample]) throws {
        let ingest = try store.beginIngest(description())
        _ = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
    }

    private func contents() throws -> [SampleIdentity: Double] {
        var contents: [SampleIdentity: Double] = [:]
        let cursor = try store.samples(matching: SampleQuery())
        while let stored = try cursor.next() { contents[stored.uuid] = stored.sample.value }
        return contents
    }

    private func run(_ target: ScriptedTarget, keeping cursor: SampleStore? = nil) throws -> TargetRun {
        try TargetRun(
            TargetSettings(name: "other"), exporter: target,
            reader: try SampleStore(path: store.path, access: .read), store: cursor ?? store,
            generator: SeededGenerator(seed: 1), now: { Self.received })
    }

    private func finish(_ run: TargetRun) throws {
        for _ in 0..<10_000 {
            switch try run.step() {
            case .upToDate: return
            case .stopped: Issue.record("it has stopped: \(run.target.words ?? "")")
            case .more, .wait: continue
            }
        }
        Issue.record("it never ends")
    }

    @Test func itHasWhatTheStoreHas() throws {
        let target = ScriptedTarget()
        try add(try (0..<50).map { try sample(60 + $0 % 3, at: $0) })
        let run = try run(target)
        try finish(run)
        #expect(try target.contents == contents())
        #expect(run.target.delivered == 50)
        // Back-dated by weeks, and gone again.
        try add([try sample(70, at: -3_000_000), try sample(71, at: -3_000_001)])
        _ = try store.delete([try sample(60, at: 0).sample.identity], description: description(.delete))
        try finish(run)
        #expect(try target.contents == contents())
        #expect(try store.targets().map(\.delivered) == [53])
        // Idle means idle.
        let (deliveries, before) = (target.deliveries, try store.targets())
        #expect(try run.step() == .upToDate)
        #expect(target.deliveries == deliveries)
        #expect(try store.targets() == before)
    }

    /// One of many that is not taken costs few deliveries, and the rest goes on.
    @Test func whatIsRefusedIsSetAside() throws {
        let target = ScriptedTarget()
        target.batchLimit = 1024
        target.refuses = { $0 == 99 }
        try add(try (0..<1024).map { try sample($0 == 700 ? 99 : 60, at: $0) })
        let run = try TargetRun(
            TargetSettings(name: "other", batchSize: 1024), exporter: target,
            reader: try SampleStore(path: store.path, access: .read), store: store, now: { Self.received })
        try finish(run)
        #expect(target.contents.count == 1023)
        #expect(target.deliveries <= 1 + 2 * 10)
        let aside = try store.setAside(by: "other")
        #expect(aside.map(\.words) == ["no such value"])
        #expect(try aside.map(\.uuid) == [sample(99, at: 700).sample.identity])
        #expect(run.target.delivered == 1023)
    }

    @Test func whoLetsUsNotInIsNotAskedAgain() throws {
        final class Closed: Exporter {
            let batchLimit = 10
            func check() -> [Finding] { [] }
            func finish() {}
            func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int { throw DeliveryError(.unauthorised, "401") }
        }
        try add([try sample(60, at: 0)])
        let run = try TargetRun(
            TargetSettings(name: "closed"), exporter: Closed(), reader: try SampleStore(path: store.path, access: .read), store: store,
            now: { Self.received })
        #expect(try run.step() == .stopped)
        let target = try #require(try store.targets().first)
        #expect(target.state == .stopped && target.words == "401" && target.anchor == .beginning)
    }

    /// Another filter makes other contents.
    @Test func anotherFilterIsAnotherTarget() throws {
        try add([try sample(60, at: 0)])
        try finish(try run(ScriptedTarget()))
        #expect(throws: StoreError.self) {
            try TargetRun(
                TargetSettings(name: "other", filter: .types([.bodyMass]), filterText: "bodyMass"), exporter: ScriptedTarget(),
                reader: store, store: store, now: { Self.received })
        }
    }

    /// Few values at few times, so that the same comes, goes and comes back; failures of all kinds; kills between a delivery and its cursor; a
    /// target that was filled halfway by a run that is gone.
    @Test(arguments: 0..<40) func whateverFails(seed: UInt64) throws {
        var random: any RandomNumberGenerator = SeededGenerator(seed: seed)
        func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }
        let target = ScriptedTarget()
        target.refuses = { $0 == 63 }
        target.mood = { roll(3) == 0 ? ScriptedTarget.Mood.allCases[roll(5)] : nil }
        let readOnly = try SampleStore(path: store.path, access: .read)
        var current = try run(target)
        for _ in 0..<60 {
            switch roll(6) {
            case 0, 1: try add(try (0..<1 + roll(12)).map { _ in try sample(60 + roll(4), at: roll(30)) })
            case 2:
                let known = try contents().keys.sorted { $0.description < $1.description }
                if !known.isEmpty { _ = try store.delete([known[roll(known.count)]], description: description(.delete)) }
            case 3:
                let gone = try sample(60 + roll(4), at: roll(30)).sample.identity
                _ = try? store.restore([gone], description: description(.restore))
            case 4:
                // Killed behind a delivery: the cursor does not move.
                let killed = try run(target, keeping: readOnly)
                do {
                    for _ in 0..<3 { _ = try killed.step() }
                } catch is StoreError {}
                current = try run(target)
            default: _ = try current.step()
            }
        }
        target.mood = { nil }
        try finish(try run(target))
        #expect(try target.contents == contents().filter { $0.value != 63 })
        #expect(try store.check().isEmpty)
    }
}
