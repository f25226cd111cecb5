import HealthModel
import Pipeline

/// A store that something else keeps, in memory: it has a sample once, by its UUID, and fails as such things do.
final class ScriptedTarget: ComparableExporter {
    var batchLimit = 7
    var isOrdered = false
    var kinds: Set<SampleKind> = [.quantity]
    /// Of these kinds it has no place for others.
    var hasPlace: (Sample) -> Bool = { _ in true }
    func holds(_ sample: Sample) -> Bool { kinds.contains(sample.origin.kind) && hasPlace(sample) }
    /// What it has.
    private(set) var samples: [SampleIdentity: Double] = [:]
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

    func contents(_ body: ([SampleIdentity]) throws -> Void) throws {
        let all = Array(samples.keys)
        for start in stride(from: 0, to: all.count, by: 3) { try body(Array(all[start..<min(start + 3, all.count)])) }
    }

    /// What somebody else has put there, or lost.
    func meddle(_ body: (inout [SampleIdentity: Double]) -> Void) { body(&samples) }

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
            case .added(let stored): samples[stored.uuid] = stored.sample.value
            case .deleted(let deletion): samples[deletion.uuid] = nil
            }
        }
    }
}
