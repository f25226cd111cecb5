import HealthModel
import Pipeline

/// A store that something else keeps, in memory: it has a sample once, by its UUID, and fails as such things do.
final class ScriptedTarget: ComparableExporter {
    var batchLimit = 7
    var isOrdered = false
    var kinds: Set<SampleKind> = [.quantity]
    /// Of these kinds it has no place for others.
    var hasPlace: (Sample) -> Bool = { _ in true }
    func accepts(_ sample: Sample) -> Bool { kinds.contains(sample.origin.kind) && hasPlace(sample) }
    /// The samples that it contains.
    private(set) var samples: [SampleIdentity: Double] = [:]
    /// The numbers of the changes that it has applied, in their order.
    private(set) var applied: [Int64] = []
    /// The makers' record identifiers that it received.
    private(set) var records: [SampleIdentity: RecordIdentifier] = [:]
    /// The UUIDs of successors that it received with deletions.
    private(set) var successors: [SampleIdentity: String] = [:]
    var reportsRecords = false
    /// It never takes a value like this.
    var refuses: (Double) -> Bool = { _ in false }
    /// It forbids a value like this (403).
    var forbids: (Double) -> Bool = { _ in false }
    /// It forbids everything, also a request without readings.
    var isClosed = false
    private(set) var accessChecks = 0
    /// Its identity. Another value means another target.
    var identity: String? = "itself"
    /// The mark of the last delivery. `nil` if the target is set up to store none.
    var mark: TargetMark?
    var storesMarks = true
    var address = "here"
    var shape = ""
    /// The factor applied to values, which other settings change.
    var factor = 1.0
    let contentComparison = ContentComparison.prints
    func print(of sample: Sample) -> UInt64? { (sample.value * factor).bitPattern }

    func found() throws(DeliveryError) -> FoundMark? { storesMarks ? FoundMark(identity: identity, mark: mark) : nil }
    /// Whether it turns out to keep no marks when one is written.
    var refusesMarks = false
    func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        guard !refusesMarks else { return false }
        self.mark = mark
        identity = identity ?? mark.identity
        return true
    }

    /// The failure of the next delivery. `nil` if it succeeds.
    var mood: () -> Mood? = { nil }
    private(set) var deliveries = 0

    enum Mood: CaseIterable {
        /// The target does not answer.
        case deleted
        /// It takes everything, and the answer is lost: the classic double.
        case deaf
        /// The connection breaks in the middle.
        case torn
        case busy
        case small
    }

    func check() -> [Finding] { [] }

    func checkAccess() throws(DeliveryError) {
        accessChecks += 1
        if isClosed { throw DeliveryError(status: 403, retryAfter: nil, words: "") }
    }

    func contents(_ body: ([TargetSample]) throws -> Void) throws {
        let all = samples.map { TargetSample($0.key, print: $0.value.bitPattern) }
        for start in stride(from: 0, to: all.count, by: 3) { try body(Array(all[start..<min(start + 3, all.count)])) }
    }

    /// Changes the content as another program would.
    func meddle(_ body: (inout [SampleIdentity: Double]) -> Void) { body(&samples) }

    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        deliveries += 1
        switch mood() {
        case .deleted: throw DeliveryError(.unreachable, "nobody answers")
        case .busy: throw DeliveryError(.busy(.seconds(7)), "later")
        case .small where batch.changes.count > 1: throw DeliveryError(.tooLarge, "too much at once")
        case .deaf:
            try take(batch)
            throw DeliveryError(.unreachable, "the answer was lost")
        case .torn:
            try take(batch.half(first: true))
            throw DeliveryError(.unreachable, "the connection broke")
        case .small, nil: try take(batch)
        }
        return 0
    }

    private func take(_ batch: ExportBatch) throws(DeliveryError) {
        for case .added(let stored) in batch.changes where isClosed || forbids(stored.sample.value) {
            throw DeliveryError(status: 403, retryAfter: nil, words: "")
        }
        for case .added(let stored) in batch.changes where refuses(stored.sample.value) {
            throw DeliveryError(.refused, "no such value")
        }
        if let next = batch.mark, storesMarks {
            guard mark?.count == next.count - 1, next.after == nil || next.after == mark?.anchor else {
                throw DeliveryError(.unreachable, "somebody else was here")
            }
            mark = next
        }
        for change in batch.changes {
            applied.append(change.seq)
            switch change {
            case .added(let stored):
                records[stored.uuid] = stored.sample.record
                if samples[stored.uuid] == nil || batch.rewrites { samples[stored.uuid] = stored.sample.value * factor }
            case .deleted(let deletion):
                samples[deletion.uuid] = nil
                successors[deletion.uuid] = deletion.replacedBy
            }
        }
    }
}
