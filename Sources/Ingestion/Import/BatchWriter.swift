import Dispatch
import Pipeline
import SampleStore

/// What of a file goes into one commit.
struct ImportBatch {
    var output = Normaliser.Output()
    var skipped: [SkipKind: Int] = [:]
    /// Held provisional rows, by their numbers, whose longer versions are in this batch or in none.
    var arrived: [Int64] = []
    /// Of its local times, where there are any.
    var zone: String?

    /// Empties it; the room stays, but for what was hardly used: batches of large bodies have few samples.
    mutating func clear() {
        output.samples.removeAll(keepingCapacity: output.samples.count > output.samples.capacity / 8)
        output.refusals.removeAll(keepingCapacity: true)
        skipped.removeAll(keepingCapacity: true)
        arrived.removeAll(keepingCapacity: true)
        zone = nil
    }
}

/// Writes batches in their order, one at a time, on a thread of its own, while the next one is read.
///
/// From the first batch until ``finish()`` the store is this thread's alone.
final class BatchWriter: @unchecked Sendable {
    private let body: (ImportBatch) throws -> Void
    private let queue = DispatchQueue(label: "vitalgate.import")
    private let work = DispatchGroup()
    // The thread's while it works, the caller's else.
    private var batch = ImportBatch()
    private var failure: (any Error)?

    /// - Parameter body: makes a batch durable, or nothing of it.
    init(_ body: @escaping (ImportBatch) throws -> Void) { self.body = body }

    /// Takes a batch once the one before is durable, and gives an empty one for it.
    ///
    /// - Throws: what writing the one before threw; then nothing more is written.
    func write(_ next: inout ImportBatch) throws {
        try finish()
        swap(&batch, &next)
        queue.async(group: work) { self.writeTaken() }
    }

    /// Waits until all that was taken is durable.
    ///
    /// - Throws: what writing it threw.
    func finish() throws {
        work.wait()
        if let failure { throw failure }
    }

    private func writeTaken() {
        do { try body(batch) } catch { failure = error }
        batch.clear()
    }
}
