import HealthModel

extension IngestAccount {
    /// The report as a line of NDJSON, with the number of readings for each outcome.
    package var object: JSONObject {
        var object = JSONObject([
            "ingest": Int(id), "file": name, "profile": profile, "read": read, "stored": stored, "duplicate": duplicate,
            "quarantined": quarantined, "refused": refused, "witnesses": ifPresent(nearDuplicates > 0 ? nearDuplicates : nil),
            "linked": ifPresent(linked > 0 ? linked : nil),
        ])
        if deleted + restored > 0 {
            object.set(["deleted": deleted, "restored": restored])
        }
        var kinds = JSONObject()
        for (kind, count) in skipped.sorted(by: { $0.key < $1.key }) { kinds.set(kind, count) }
        object.set([
            "skipped": kinds, "kind": kind.rawValue, "state": state, "zone": zone,
            "received": Instant(microseconds: received).description,
            "finished": finished.map { Instant(microseconds: $0).description }, "cut": ifPresent(isCut ? true : nil),
            "diskFull": ifPresent(isStoppedByDisk ? true : nil), "notes": notes,
        ])
        return object
    }

    /// The names of ``cells``.
    package static let columns = [
        "ingest", "kind", "file", "profile", "zone", "received", "finished", "state",
        "read", "stored", "duplicate", "quarantined", "refused", "skipped",
    ]

    /// The report as a row of CSV.
    package var cells: [String] {
        [
            "\(id)", kind.rawValue, name ?? "", profile ?? "", zone ?? "", Instant(microseconds: received).description,
            finished.map { Instant(microseconds: $0).description } ?? "", state, "\(read)", "\(stored)", "\(duplicate)",
            "\(quarantined)", "\(refused)", "\(skipped.values.reduce(0, +))",
        ]
    }
}
