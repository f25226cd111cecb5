import ExportEngine
import HealthModel
import Pipeline
import SampleStore

extension ExportedStore {
    /// A store of 10,000 that is repaired, whose repair is undone, of which 1,000 are deleted, and whose import is withdrawn.
    ///
    /// - Parameters:
    ///   - run: delivers to a target that has nothing.
    ///   - compare: is called after each of these, when the target has all.
    package func repair(_ count: Int = 10_000, delivering run: TargetRun, compare: () throws -> Void) throws {
        let samples = try (0..<count).map { try sample(60 + $0 % 50, at: $0) }
        let ingest = try add(samples)
        func delivered() throws {
            try finish(run)
            try compare()
        }
        try delivered()
        let repairID = try store.repairs.apply(
            RepairRequest(
                .scale(try Numeral("0.5")), of: SampleConditions(types: [.heartRate]), takesAmbiguous: true, now: Self.received))
        try delivered()
        _ = try store.repairs.undo(repairID.repairID ?? 0, at: Self.received)
        try delivered()
        _ = try store.samples.delete(samples[..<(count / 10)].map(\.sample.identity), description: description(.delete))
        try delivered()
        _ = try store.ledger.undo(ingest, forget: false, description: description(.undo))
        try delivered()
    }
}
