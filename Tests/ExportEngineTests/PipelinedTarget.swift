import HealthModel
import Pipeline

/// A ``ScriptedTarget`` at the end of a slow line, on which two batches can be under way. A batch that the exporter has forgotten can still
/// arrive later, and two batches can arrive in the wrong order.
final class PipelinedTarget: PipeliningExporter {
    let target = ScriptedTarget()
    /// Whether the batches on the line change places.
    var swaps: () -> Bool = { false }
    /// Whether a batch that was forgotten arrives now.
    var returns: () -> Bool = { false }
    /// The largest number of batches on the line.
    private(set) var maximumSent = 0
    private var line: [ExportBatch] = []
    private var lost: [ExportBatch] = []
    private var results: [Result<Int, DeliveryError>] = []

    var batchLimit: Int { target.batchLimit }
    var kinds: Set<SampleKind> { target.kinds }
    var isOrdered: Bool { target.isOrdered }
    var address: String { target.address }
    func found() throws(DeliveryError) -> FoundMark? { try target.found() }
    func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool { try target.claim(mark) }
    func check() -> [Finding] { [] }

    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        forgetSent()
        try send(batch)
        return try acknowledgement()
    }

    func send(_ batch: ExportBatch) throws(DeliveryError) {
        line.append(batch)
        maximumSent = max(maximumSent, line.count + results.count)
    }

    func acknowledgement() throws(DeliveryError) -> Int {
        if results.isEmpty {
            if let first = lost.first, returns() {
                lost.removeFirst()
                _ = try? target.deliver(first)
            }
            let isSwapped = line.count == 2 && swaps()
            let all = (isSwapped ? line.reversed() : line).map { batch in
                Result { () throws(DeliveryError) in try target.deliver(batch) }
            }
            results = isSwapped ? all.reversed() : all
            line = []
        }
        return try results.removeFirst().get()
    }

    func forgetSent() {
        lost += line
        (line, results) = ([], [])
    }
}
