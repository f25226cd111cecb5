/// The schema of a store as named steps.
///
/// Step 1 is the schema of the first release, one text for each table. Steps are never changed and only added at the end. An older store is
/// upgraded by the steps it lacks, and `PRAGMA user_version` is the number of applied steps.
enum Schema {
    /// A named step. Its number is its position, starting at 1.
    struct Step {
        var name: String
        var sql: String
    }

    /// "VGAT", the SQLite application id of a Vitalgate store.
    static let applicationID: Int64 = 0x5647_4154

    static let steps = [
        Step(name: "first release", sql: firstRelease),
        Step(name: "samples that phones write", sql: [writeBack, writeBackPhone].joined(separator: "\n")),
        Step(name: "apps of phones", sql: clientApp),
    ]

    private static let firstRelease = [
        setting, series, origin, context, body, metadata, sample, deleted, place, record, derived, summary, summarized,
        decision, duplicateRow, duplicate, link, repairID, repaired, dismissed, readingAlias,
        device, deviceAlias, clock, person, sharedUse, scaleUser, characteristic, medication, annotation, goal, alert,
        alertEvent, alertDelivery, alertReceiver,
        ingest, skipped, refused, quarantine, quarantinedCount, quarantineDecision, decided, pending,
        change, epoch, lost, target, setAside,
        client, token, granted, grantedObject, widening, asked, readBy, savedAnswer, pageCode, pageSession,
        firstRows,
    ].joined(separator: "\n")
}
