import HealthModel
import Pipeline

/// A batch in the form in which it is written. It needs no database, so another thread can prepare it while the last batch is written.
package struct PreparedBatch: Sendable {
    /// The UUIDs of rows that may be new (``NewRows``).
    struct Identities {
        /// They as an array of PostgreSQL.
        let array: [UInt8]
        let count: Int
        let range: ClosedRange<SampleIdentity>

        /// `nil` unless all samples are quantities without a record of a manufacturer.
        fileprivate init?(_ samples: [Sample]) {
            guard samples.allSatisfy({ $0.origin.kind == .quantity && $0.record == nil }) else { return nil }
            let identities = samples.map(\.identity)
            guard let first = identities.min(), let last = identities.max() else { return nil }
            (array, count, range) = (CopyRow.array(of: identities), identities.count, first...last)
        }
    }

    /// The number of changes before any was left out.
    package let changes: Int
    private(set) var added: [Sample]
    private(set) var deleted: [SampleChange] = []
    /// The UUIDs of ``added`` if the rows may be new.
    private(set) var identities: Identities?
    /// The columns in which ``added`` has values.
    private(set) var columns: OptionalColumns
    /// The days that ``added`` changes.
    private(set) var days: DayMarks
    let rewrites: Bool
    let mark: TargetMark?
    /// The persons of all changes.
    private(set) var people: Set<String> = []

    package init(_ batch: ExportBatch) {
        (changes, rewrites, mark) = (batch.changes.count, batch.rewrites, batch.mark)
        // For a sample with several changes, the last one counts.
        var seen = Set<SampleIdentity>(minimumCapacity: batch.changes.count)
        var latest: Origin?
        var added: [Sample] = []
        added.reserveCapacity(batch.changes.count)
        for change in batch.changes.reversed() {
            let sample = change.sample
            // Neighbors are usually of one series.
            if latest !== sample.origin { people.insert(sample.origin.person) }
            latest = sample.origin
            guard seen.insert(sample.identity).inserted else { continue }
            if case .deleted = change { deleted.append(change) } else { added.append(sample) }
        }
        added.reverse()
        deleted.reverse()
        (self.added, identities) = (added, Identities(added))
        (columns, days) = (OptionalColumns(of: added), DayMarks(added))
    }

    /// Removes the changes of some people.
    ///
    /// - Returns: Their number.
    mutating func leaveOut(_ erased: Set<String>) -> Int {
        guard !people.isDisjoint(with: erased) else { return 0 }
        let count = added.count + deleted.count
        added.removeAll { erased.contains($0.origin.person) }
        deleted.removeAll { erased.contains($0.sample.origin.person) }
        people.subtract(erased)
        (identities, days) = (Identities(added), DayMarks(added))
        return count - added.count - deleted.count
    }
}
