import HealthModel
import SampleStore

/// The sender of an import that arrives in many small parts, such as the posts of a phone.
package struct ImportSender {
    /// The name in the ledger. All posts of a day are one entry.
    package var name: String
    /// The day, in microseconds since 1970.
    package var day: Range<Int64>
    package var client: Client
    /// The types that the sender may write. Other readings are refused.
    package var types: Set<ObjectType>
    /// Called in each transaction. It throws if the sender may write less than before.
    package var confirm: () throws -> Void
}

extension IngestAccount {
    /// The counts that were added to an account since an earlier state of it.
    func since(_ earlier: IngestAccount?) -> IngestAccount {
        guard let earlier else { return self }
        var account = self
        account.stored -= earlier.stored
        account.duplicate -= earlier.duplicate
        account.quarantined -= earlier.quarantined
        account.refused -= earlier.refused
        account.skipped = skipped.reduce(into: [:]) { counts, entry in
            let count = entry.value - earlier.skipped[entry.key, default: 0]
            if count > 0 { counts[entry.key] = count }
        }
        account.notes = notes.filter { !earlier.notes.contains($0) }
        return account
    }
}
