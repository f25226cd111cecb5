import HealthModel
import Pipeline

/// The delivery of one batch, of which the target may reject a part. A rejected batch is halved until each change is either
/// accepted or known to be the one that is rejected. One rejected change among n costs at most 2 log2 n more deliveries. Rejected
/// changes never block the others. Forbidden changes are rejected ones, unless the target forbids a request without readings too.
struct Delivery {
    /// A change that the target rejected.
    struct Refused {
        var change: SampleChange
        var words: String
    }

    let exporter: any Exporter
    /// The mark that the first delivery writes, or `nil` for none.
    private let mark: TargetMark?
    private(set) var acknowledged: Int64 = 0
    /// The number of changes that the target accepted.
    private(set) var delivered = 0
    /// The number of accepted changes that the target does not store because it has no place for them.
    private(set) var leftOut = 0
    private(set) var refused: [Refused] = []
    /// Deleted samples whose deletion the target has accepted.
    private(set) var deleted: [SampleIdentity] = []
    /// Whether the target has accepted everything in one delivery.
    var isWhole: Bool { acknowledged == 1 && refused.isEmpty }
    /// Whether the target has accepted our credentials since it forbade a change.
    private var hasAccess = false

    init(_ exporter: any Exporter, mark: TargetMark? = nil) { (self.exporter, self.mark) = (exporter, mark) }

    /// The number of changes at the start of the batch that are finished: accepted or set aside.
    var done: Int { delivered + refused.count }

    /// - Parameter acknowledgement: Waits for the acknowledgement of the whole batch if it was sent, or `nil` to deliver it.
    /// - Throws: ``DeliveryError`` if the rest has to wait. ``done`` counts the changes before the failure.
    mutating func deliver(
        _ batch: ExportBatch, _ acknowledgement: (() throws(DeliveryError) -> Int)? = nil
    ) throws(DeliveryError) {
        guard let only = batch.changes.first else { return }
        do throws(DeliveryError) {
            let count = if let acknowledgement { try acknowledgement() } else { try exporter.deliver(marked(batch)) }
            leftOut += count
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
            case .refused, .tooLarge, .forbidden:
                if error.kind == .forbidden { try checkAccess(error) }
                guard batch.changes.count > 1 else { return refused.append(Refused(change: only, words: error.reason)) }
                try deliver(batch.half(first: true))
                try deliver(batch.half(first: false))
            default: throw error
            }
        }
    }

    /// - Throws: ``DeliveryError`` of the kind `unauthorised` if the target forbids everything.
    private mutating func checkAccess(_ refusal: DeliveryError) throws(DeliveryError) {
        guard acknowledged == 0, !hasAccess else { return }
        guard try exporter.hasAccess() else { throw DeliveryError(.unauthorised, refusal.reason) }
        hasAccess = true
    }

    private mutating func acknowledge(_ changes: [SampleChange]) {
        delivered += changes.count
        acknowledged += 1
        for case .deleted(let deletion) in changes { deleted.append(deletion.uuid) }
    }

    func marked(_ batch: ExportBatch) -> ExportBatch {
        guard var mark else { return batch }
        mark.count += acknowledged
        if let anchor = batch.anchors.last { mark.anchor = anchor }
        var batch = batch
        batch.mark = mark
        return batch
    }
}
