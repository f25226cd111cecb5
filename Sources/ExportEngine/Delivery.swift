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

    init(_ exporter: any Exporter) { self.exporter = exporter }

    /// - Throws: ``DeliveryError`` where the rest waits; what came before it was delivered.
    mutating func deliver(_ batch: ExportBatch) throws(DeliveryError) {
        guard let only = batch.changes.first else { return }
        do throws(DeliveryError) {
            leftOut += try exporter.deliver(batch)
            delivered += batch.changes.count
        } catch {
            guard error.kind == .refused || error.kind == .tooLarge else { throw error }
            guard batch.changes.count > 1 else {
                refused.append(Refused(change: only, words: error.reason))
                return
            }
            try deliver(batch.half(first: true))
            try deliver(batch.half(first: false))
        }
    }
}
