import EventLoopKit
import HealthModel
import Ingestion
import PipelineTesting
import SampleStore
import Testing

/// Situations that people reported (`Captures/field/README.md`).
@Suite struct FieldCaptureTests {
    private let folder: TemporaryFolder
    private let store: SampleStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: "7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57", time: 0))
    }

    @discardableResult private func replay(_ name: String) throws -> IngestAccount {
        let path = Checkout.root + "/Tests/HubTests/Captures/field/\(name).ndjson"
        let replay = Replay(
            reader: try CaptureReader(path: path),
            settings: Replay.Settings(
                library: try Checkout.library, keys: [:], now: { Instant(seconds: 2_000_000_000) },
                zone: { $0 == "UTC" ? TimeZoneRules(fixed: .utc) : nil }))
        try replay.check()
        return try replay.run(into: store, name: path)
    }

    private func samples() throws -> [Sample] {
        let cursor = try store.samples.cursor(matching: SampleQuery())
        defer { cursor.close() }
        var samples: [Sample] = []
        while let next = try cursor.next() { samples.append(next.sample) }
        return samples
    }

    /// Each measurement is quarantined as a whole. The third one of 2021 has the values and the default date of the first, but the second one
    /// arrived without them.
    @Test(arguments: [("clock-anew-2021", 4, 0), ("clock-anew-2026", 3, 0)])
    func clockResetsAtPowerUp(name: String, measurements: Int, repetitions: Int) throws {
        let account = try replay(name)
        #expect((account.stored, account.duplicate, account.quarantined) == (0, 4 * repetitions, 4 * measurements))
        let quarantined = try store.quarantine.all()
        #expect(Set(quarantined.map(\.rule)) == ["clock-unknown"])
        #expect(quarantined.allSatisfy { $0.stored.sample.metadata?[ClockDoubt.key] != nil })
        let groups = Dictionary(grouping: quarantined) { $0.stored.sample.group }
        #expect(groups.count == measurements && groups.values.allSatisfy { $0.count == 4 })
        // The same capture again adds nothing, and each can be accepted.
        #expect(try replay(name).duplicate == 4 * (measurements + repetitions))
        try store.quarantine.accept(quarantined.map(\.id), description: IngestDescription(kind: .accept, received: 0))
        #expect(try samples().count == 4 * measurements)
        #expect(try replay(name).duplicate == 4 * (measurements + repetitions))
        #expect(try store.check() == [])
    }

    @Test func aRightClock() throws {
        #expect(try replay("clock-right").stored == 16)
        #expect(try replay("clock-right").duplicate == 16)
        #expect(try store.quarantine.all().isEmpty)
    }

    /// A comparison of the clock now proves nothing about records from before it was set.
    @Test func recordsOfAClockThatWasNotSet() throws {
        let account = try replay("memory-before-clock-was-set")
        #expect((account.stored, account.duplicate, account.quarantined) == (15, 0, 9))
        #expect(try samples().allSatisfy { $0.start.description.hasPrefix("2026-") })
        #expect(try store.quarantine.all().map(\.place).count == 9)
        #expect(try replay("memory-before-clock-was-set").duplicate == 24)
        #expect(try samples().count == 15)
        #expect(try store.check() == [])
    }

    @Test func aRestartAmidAdverts() throws {
        try replay("adverts-before-restart")
        try replay("adverts-after-restart")
        let weights = try samples().map { "\($0.identity)" }
        #expect(weights.count == 1)
        #expect(try replay("adverts-without-restart").stored == 0)
        #expect(try samples().map { "\($0.identity)" } == weights)
    }

    @Test(arguments: [("stray-from-day-1", 15), ("stray-after-10", 25)])
    func strayWeights(name: String, right: Int) throws {
        try replay(name)
        let weights = try samples().filter { $0.origin.type == .bodyMass }
        let strays = weights.filter { $0.value < 10 }
        #expect(strays.count == 15 && strays.allSatisfy { $0.origin.person == Origin.unassigned })
        let own = weights.filter { $0.origin.person == store.owner }
        #expect(own.count == right && own.allSatisfy { $0.value > 60 })
        #expect(try replay(name).stored == 0)
    }
}
