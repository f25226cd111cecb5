import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Measurements from up to three sources arrive in any order and are deleted, restored and undone. Each has at most one sample, the one of
/// the model.
@Suite struct TwoPathPropertyTests {
    /// The expected state of a measurement in the store, without its implementation.
    private struct Measurement {
        struct Arrival {
            var path: Int
            var ingest: Int64
            var isDeleted = false
        }

        var arrivals: [Arrival] = []
        var isDeleted = false

        /// The source whose sample was deleted.
        var deleted: Int?
        /// The source whose sample is live: the most precise one that has not been undone.
        var standing: Int? {
            isDeleted ? nil : arrivals.filter { !$0.isDeleted }.map(\.path).min { Self.ranks[$0] < Self.ranks[$1] }
        }

        /// Seconds are more precise than minutes, and a tenth of a pound more than a tenth of a kilogram.
        private static let ranks = [0, 2, 1]
    }

    private let paths: [SampleMaker]

    init() throws {
        var site = try NearDuplicateTests.file(unit: "[lb_av]")
        site.origin = Origin(
            person: site.origin.person, type: .bodyMass, source: SourceRevision(id: "site.Acme", name: "Acme site"),
            device: site.origin.device)
        paths = [try NearDuplicateTests.ble(), try NearDuplicateTests.file(), site]
    }

    /// Measurement number `index`, to the second in hundredths of a kilogram, or to the minute in tenths of a kilogram or a pound.
    private func sample(_ index: Int, _ path: Int) throws -> GatedSample {
        let hundredths = 8015 + index * 100
        let pounds = (Double(hundredths) / 100 / 0.45359237 * 10).rounded() / 10
        let numerals = ["\(hundredths / 100).15", "\(hundredths / 100).2", "\(pounds)"]
        return try paths[path](numerals[path], at: Double(index * 3600) + (path == 0 ? 24 : 0))
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func atMostOneSampleEach(group: UInt64) throws {
        for number in 0..<40 { try run(seed: group * 1000 + UInt64(number)) }
    }

    private func run(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let test = try TestStore()
        var measurements = [Measurement](repeating: Measurement(), count: 5)
        var imports: [Int64] = []
        for step in 0..<14 {
            let comment: Comment = "seed \(seed), step \(step)"
            func description(_ kind: IngestKind) -> IngestDescription {
                IngestDescription(kind: kind, received: TestStore.received.microseconds + Int64(step) * 1_000_000)
            }
            let index = Int.random(in: measurements.indices, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                guard let path = measurements[index].standing else { continue }
                _ = try test.store.samples.delete([sample(index, path).sample.identity], description: description(.delete))
                (measurements[index].isDeleted, measurements[index].deleted) = (true, path)
            case 1:
                guard measurements[index].isDeleted, let path = measurements[index].deleted else { continue }
                _ = try test.store.samples.restore([sample(index, path).sample.identity], description: description(.restore))
                measurements[index].isDeleted = false
            case 2:
                guard let undone = imports.randomElement(using: &random) else { continue }
                // A sample that was deleted and also undone has two reasons to be absent, which is another property.
                let touched = measurements.indices.filter { measurements[$0].arrivals.contains { $0.ingest == undone } }
                guard !touched.contains(where: { measurements[$0].isDeleted }) else { continue }
                _ = try test.store.ledger.undo(undone, forget: false, description: description(.undo))
                imports.removeAll { $0 == undone }
                for index in touched {
                    for key in measurements[index].arrivals.indices where measurements[index].arrivals[key].ingest == undone {
                        measurements[index].arrivals[key].isDeleted = true
                    }
                }
            case 3: try test.reopen()
            default:
                let path = Int.random(in: paths.indices, using: &random)
                let chosen = measurements.indices.filter { _ in Bool.random(using: &random) }
                let ingest = try test.store.beginIngest(description(.import))
                let outcomes = try ingest.store(chosen.map { try sample($0, path) })
                _ = try ingest.finish(at: TestStore.received.microseconds)
                imports.append(ingest.id)
                for (index, outcome) in zip(chosen, outcomes) {
                    let known = measurements[index].arrivals
                    var next = measurements[index]
                    if !known.contains(where: { $0.path == path }) { next.arrivals.append(.init(path: path, ingest: ingest.id)) }
                    // An undone sample may arrive again from another source. Its own source is known.
                    let isNew = next.standing == path && !known.contains { $0.path == path }
                    #expect(
                        outcome == (isNew ? .stored : .duplicate),
                        "seed \(seed), step \(step): \(index) over \(path), \(measurements[index])")
                    guard !known.contains(where: { $0.path == path }) else { continue }
                    measurements[index].arrivals.append(.init(path: path, ingest: ingest.id))
                }
            }
            let expected = try measurements.enumerated().compactMap { index, measurement in
                try measurement.standing.map { try sample(index, $0).sample.identity }
            }
            #expect(Set(try test.identities()) == Set(expected), comment)
        }
        #expect(try test.store.check(deep: true) == [], "seed \(seed)")
        try test.close()
    }
}
