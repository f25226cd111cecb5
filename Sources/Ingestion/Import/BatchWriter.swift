import Dispatch
import Pipeline
import SampleStore

/// The part of a file that goes into one commit.
struct ImportBatch {
    var output = Normaliser.Output()
    var skipped: [SkipKind: Int] = [:]
    /// The numbers of held provisional rows whose longer versions are in this batch.
    var arrived: [Int64] = []
    /// The zone of local times, if there are any.
    var zone: String?

    /// Empties the batch but keeps its memory, unless little of it was used. Batches of large bodies have few samples.
    mutating func clear() {
        output.samples.removeAll(keepingCapacity: output.samples.count > output.samples.capacity / 8)
        output.refusals.removeAll(keepingCapacity: true)
        skipped.removeAll(keepingCapacity: true)
        arrived.removeAll(keepingCapacity: true)
        zone = nil
    }
}

/// Writes batches in order, one at a time, on its own thread while the next one is read.
///
/// Only this thread may use the store from the first batch until ``finish()``.
final class BatchWriter: @unchecked Sendable {
    private let body: (ImportBatch) throws -> Void
    private let queue = DispatchQueue(label: "vitalgate.import")
    private let work = DispatchGroup()
    // Used by the thread while it writes, and by the caller otherwise.
    private var batch = ImportBatch()
    private var failure: (any Error)?

    /// - Parameter body: writes a batch completely or not at all.
    init(_ body: @escaping (ImportBatch) throws -> Void) { self.body = body }

    /// Takes a batch once the previous one is durable, and returns an empty one in its place.
    ///
    /// - Throws: the error of the previous write. Nothing is written after an error.
    func write(_ next: inout ImportBatch) throws {
        try finish()
        swap(&batch, &next)
        queue.async(group: work) { self.writeTaken() }
    }

    /// Waits until all batches are durable.
    ///
    /// - Throws: the error of the last write.
    func finish() throws {
        work.wait()
        if let failure { throw failure }
    }

    private func writeTaken() {
        do { try body(batch) } catch { failure = error }
        batch.clear()
    }
}
