import HealthModel
import Pipeline

/// Delivers a batch, of which a target may refuse some: halves of halves, until each change is taken, or is known to be what is not taken. One change
/// of n that is refused costs at most 2 log2 n deliveries more.
struct Delivery {
    /// A change that the target did not take.
    struct Refused {
        var change: SampleChange
        var words: String
    }

    let exporter: any Exporter
    /// Changes that the target took.
    private(set) var delivered = 0
    /// Changes among them that it has no place for.
    private(set) var leftOut = 0
    private(set) var refused: [Refused] = []
    /// Samples that are gone, and that the target knows to be.
    private(set) var gone: [SampleIdentity] = []

    /// A target that refuses so many and takes none takes nothing at all: that is for a person, and nothing is set aside.
    private static let patience = 100

    init(_ exporter: any Exporter) { self.exporter = exporter }

    /// Changes that are done with, taken or set aside: the first so many of the batch.
    var done: Int { delivered + refused.count }

    /// - Throws: ``DeliveryError`` where the rest waits; what came before it is ``done``.
    mutating func deliver(_ batch: ExportBatch) throws(DeliveryError) {
        guard let only = batch.changes.first else { return }
        do throws(DeliveryError) {
            leftOut += try exporter.deliver(batch)
            delivered += batch.changes.count
            for case .deleted(let deletion) in batch.changes { gone.append(deletion.uuid) }
        } catch {
            guard error.kind == .refused || error.kind == .tooLarge else { throw error }
            guard batch.changes.count > 1 else {
                refused.append(Refused(change: only, words: error.reason))
                guard delivered == 0, refused.count >= Self.patience else { return }
                refused.removeAll()
                throw DeliveryError(.unfit, "it takes nothing: \(error.reason)")
            }
            try deliver(batch.half(first: true))
            try deliver(batch.half(first: false))
        }
    }
}
