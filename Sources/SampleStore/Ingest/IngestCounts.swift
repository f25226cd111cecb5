import HealthModel
import Pipeline

/// What an entry has counted since its last batch, or reports at its end. If a batch fails, its counts are those before it.
struct IngestCounts {
    /// Refusals that are added to the ledger with the next batch.
    var refusals: [Refusal] = []
    var skipped: [SkipKind: Int] = [:]
    /// The number of refusals in the ledger.
    var retainedRefusals = 0
    /// The number of readings that the source repeated.
    var repeated = 0
    /// The reasons why duplicates differ from the incoming readings.
    var duplicateReport = DuplicateReport()
    /// The number of weighings that were stored as unassigned.
    var unassignedWeighings = 0

    /// The notes at the end of the entry.
    var notes: [String] {
        guard unassignedWeighings > 0 else { return duplicateReport.notes }
        return duplicateReport.notes + [
            "\(unassignedWeighings) weighing\(unassignedWeighings == 1 ? " is" : "s are") unassigned, because the weight differs too much from the person's earlier weights: "
                + "'vitalgate query all --person unassigned' lists them, and 'vitalgate devices assign --samples UUID --person NAME' "
                + "assigns them"
        ]
    }
}
