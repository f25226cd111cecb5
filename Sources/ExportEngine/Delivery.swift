import HealthModel
import Pipeline

/// Delivers a batch, of which a target may refuse some: halves of halves, until each change is taken, or is known to be what is not taken. One change
/// of n that is refused costs at most 2 log2 n deliveries more. However many are refused, the others go on.
struct Delivery {
    /// A change that the target did not take.
    struct Refused {
        var change: SampleChange
        var words: String
    }

    let exporter: any Exporter
    /// What the first delivery writes as its mark; `nil` for none.
    private let mark: TargetMark?
    /// Deliveries that the target acknowledged.
    private(set) var acknowledged: Int64 = 0
    /// Changes that the target took.
    private(set) var delivered = 0
    /// Changes among them that it has no place for.
    private(set) var leftOut = 0
    private(set) var refused: [Refused] = []
    /// Samples that are gone, and that the target knows to be.
    private(set) var gone: [SampleIdentity] = []

    init(_ exporter: any Exporter, mark: TargetMark? = nil) { (self.exporter, self.mark) = (exporter, mark) }

    /// Changes that are done with, taken or set aside: the first so many of the batch.
    var done: Int { delivered + refused.count }

    /// - Throws: ``DeliveryError`` where the rest waits; what came before it is ``done``.
    mutating func deliver(_ batch: ExportBatch) throws(DeliveryError) {
        guard let only = batch.changes.first else { return }
        do throws(DeliveryError) {
            leftOut += try exporter.deliver(marked(batch))
            acknowledge(batch.changes)
        } catch {
            switch error.kind {
            case .refusedSome(let places):
                let places = Set(places)
                var taken: [SampleChange] = []
                for (place, change) in batch.changes.enumerated() {
                    if places.contains(place) {
                        refused.append(Refused(change: change, words: error.reason))
                    } else {
                        taken.append(change)
                    }
                }
                acknowledge(taken)
            case .refused, .tooLarge:
                guard batch.changes.count > 1 else { return refused.append(Refused(change: only, words: error.reason)) }
                try deliver(batch.half(first: true))
                try deliver(batch.half(first: false))
            default: throw error
            }
        }
    }

    private mutating func acknowledge(_ changes: [SampleChange]) {
        delivered += changes.count
        acknowledged += 1
        for case .deleted(let deletion) in changes { gone.append(deletion.uuid) }
    }

    private func marked(_ batch: ExportBatch) -> ExportBatch {
        guard var mark else { return batch }
        mark.count += acknowledged
        if let anchor = batch.anchors.last { mark.anchor = anchor }
        var batch = batch
        batch.mark = mark
        return batch
    }
}
