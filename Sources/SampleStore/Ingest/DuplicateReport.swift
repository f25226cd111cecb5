/// Counts the duplicates that are not visible as imported (repaired, deleted, undone, or at another time), and explains
/// for the import report how to restore them.
struct DuplicateReport {
    enum Reason {
        /// A repair replaced the sample.
        case repaired
        /// This ledger entry undid the import of the sample.
        case withdrawn(by: Int64)
        /// A person deleted the sample.
        case deleted
        /// The sample has a different time than the reading. This import stored it.
        case elsewhere(ingestedBy: Int64)
    }

    private var repaired = 0
    private var deleted = 0
    private var withdrawn: [Int64: Int] = [:]
    private var elsewhere: [Int64: Int] = [:]

    mutating func count(_ reason: Reason) {
        switch reason {
        case .repaired: repaired += 1
        case .deleted: deleted += 1
        case .withdrawn(let ingest): withdrawn[ingest, default: 0] += 1
        case .elsewhere(let ingest): elsewhere[ingest, default: 0] += 1
        }
    }

    mutating func add(_ other: DuplicateReport) {
        repaired += other.repaired
        deleted += other.deleted
        withdrawn.merge(other.withdrawn, uniquingKeysWith: +)
        elsewhere.merge(other.elsewhere, uniquingKeysWith: +)
    }

    /// One sentence per reason, with the command that restores the readings.
    var notes: [String] {
        var notes: [String] = []
        if repaired > 0 {
            notes.append(
                "\(repaired) of the duplicates \(repaired == 1 ? "was" : "were") repaired after the earlier import and not changed: "
                    + "see 'vitalgate repair list'"
            )
        }
        if deleted > 0 {
            notes.append(
                "\(deleted) of the duplicates \(deleted == 1 ? "was" : "were") deleted and not restored: use 'vitalgate restore UUID'"
            )
        }
        for (ingest, count) in withdrawn.sorted(by: { $0.key < $1.key }) {
            notes.append(
                "\(count) of the duplicates \(count == 1 ? "was" : "were") undone by ledger entry \(ingest): "
                    + "restore with 'vitalgate ledger undo \(ingest)'"
            )
        }
        for (ingest, count) in elsewhere.sorted(by: { $0.key < $1.key }) {
            notes.append(
                "\(count) of the duplicates \(count == 1 ? "has another time" : "have other times") from ledger entry \(ingest): "
                    + "if this time zone is right, run 'vitalgate ledger undo \(ingest)' and import again")
        }
        return notes
    }
}
