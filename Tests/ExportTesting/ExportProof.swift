import ExportEngine
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

/// Tests that every target must pass: samples are added, deleted, restored and repaired in the store, deliveries fail in every way, and the
/// exporter is killed between a delivery and its cursor. Few values at few times, so that the same sample occurs again.
package struct ExportProof {
    /// The store.
    package let test: ExportedStore
    private let settings: TargetSettings
    /// Makes an exporter as a process that starts does.
    private let make: () throws -> any Exporter
    private let objects: [SampleKind]
    /// Simulates a kill after a delivery: a store whose cursor cannot be written.
    private let readOnly: SampleStore

    /// - Parameters:
    ///   - objects: other kinds of samples in addition to heart rates.
    ///   - make: creates a new exporter.
    package init(
        _ test: ExportedStore, _ settings: TargetSettings = TargetSettings(name: "other", batchSize: 7),
        objects: [SampleKind] = [], make: @escaping () throws -> any Exporter
    ) throws {
        (self.test, self.settings, self.make) = (test, settings, make)
        self.objects = objects
        readOnly = try SampleStore(path: test.store.path, access: .read)
    }

    /// Does `steps` things at random.
    ///
    /// - Parameter misfortune: called before each delivery: may prepare its failure.
    package func suffer(
        _ steps: Int, using random: inout SeededGenerator, misfortune: (inout SeededGenerator) throws -> Void
    ) throws {
        var current = try test.run(make(), settings)
        var ledger: [Int64] = []
        for _ in 0..<steps {
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1:
                let count = Int.random(in: 1...12, using: &random)
                ledger.append(try test.add(try (0..<count).map { _ in try sample(&random) }))
            case 2:
                let known = try test.contents().keys.sorted { $0.description < $1.description }
                if let one = known.randomElement(using: &random) {
                    _ = try test.store.samples.delete([one], description: test.description(.delete))
                }
            case 3:
                _ = try? test.store.samples.restore([sample(&random).sample.identity], description: test.description(.restore))
            case 4:
                guard let ingest = ledger.randomElement(using: &random) else { continue }
                if let undoing = try? test.store.ledger.undo(ingest, forget: false, description: test.description(.undo)).ingest,
                    undoing > 0
                {
                    ledger.append(undoing)
                }
            case 5:
                let shift = Int64(Int.random(in: -1...1, using: &random)) * 1_000_000
                var conditions = SampleConditions(types: objects.isEmpty ? [.heartRate] : Set(SampleType.all))
                conditions.from = Instant(seconds: 1_790_000_010)
                if shift != 0 {
                    _ = try? test.store.repairs.apply(
                        RepairRequest(.shift(shift), of: conditions, takesAmbiguous: true, now: ExportedStore.received))
                }
            case 6:
                // Killed after a delivery: the cursor does not move.
                let killed = try test.run(make(), settings, keeping: readOnly)
                try misfortune(&random)
                do { for _ in 0..<2 { _ = try killed.step() } } catch is StoreError {}
                current = try test.run(make(), settings)
            default:
                try misfortune(&random)
                _ = try current.step()
            }
        }
    }

    private func sample(_ random: inout SeededGenerator) throws -> GatedSample {
        let (number, second) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<30, using: &random))
        if let kind = objects.randomElement(using: &random), Bool.random(using: &random) {
            return try test.object(kind, number, at: second)
        }
        return try test.sample(60 + number, at: second)
    }

    /// Delivers everything that the target lacks, with a new exporter.
    package func finish() throws { try test.finish(try test.run(make(), settings)) }
}
