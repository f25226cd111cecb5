import HealthModel
import Pipeline

/// Decides which readings of a batch do not become samples, by the versions of their records and by the quarantine.
/// Used inside a transaction.
struct BatchJudgement {
    let connection: Connection
    let ingest: Int64
    let batch: [GatedSample]
    /// Finds readings repeated in another unit, or `nil` if only identical readings count as duplicates.
    let retellings: RetellingSearch?
    /// Whether a record has the same identity on all devices.
    var acrossDevices = false

    /// Replaces lower versions of records. A record version is a duplicate if an equal or higher version exists, live
    /// or deleted. A version in quarantine replaces nothing.
    func replaceRecords(_ groups: [SeriesRows], _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        let records = Records(connection: connection, ingest: ingest, acrossDevices: acrossDevices)
        // If a batch has several versions of a record, only the highest is stored.
        var newest: [RecordName: (version: Int64, row: SampleRow)] = [:]
        // A part of a version that the batch replaces is not stored, even if the new version has no such part.
        var newestWhole: [RecordName: Int64] = [:]
        for row in groups.lazy.flatMap(\.rows) where outcomes[Int(row.index)] == .stored && batch[Int(row.index)].rule == nil {
            let sample = batch[Int(row.index)].sample
            guard let record = sample.record else { continue }
            let name = RecordName(of: sample, record.id, series: acrossDevices ? nil : row.series)
            if let earlier = newest[name] {
                let isLater = earlier.version < record.version || record.isOpen && earlier.version == record.version
                outcomes[Int(isLater ? earlier.row.index : row.index)] = .duplicate
                guard isLater else { continue }
            }
            newest[name] = (record.version, row)
            let whole = RecordName(of: sample, record.whole ?? record.id, series: acrossDevices ? nil : row.series)
            newestWhole[whole] = max(newestWhole[whole] ?? .min, record.version)
        }
        for (name, (version, row)) in newest {
            let record = RecordIdentifier(id: name.record, version: version)
            if let whole = record.whole {
                let sample = batch[Int(row.index)].sample
                let latest = newestWhole[RecordName(of: sample, whole, series: name.series)] ?? version
                guard latest <= version else {
                    outcomes[Int(row.index)] = .duplicate
                    continue
                }
            }
            let kind = batch[Int(row.index)].sample.origin.kind
            if kind == .activitySummary || kind == .clinicalRecord, try saysTheSame(row, as: name.record) {
                outcomes[Int(row.index)] = .duplicate
                continue
            }
            let claimed = try records.claim(
                record, series: row.series, start: row.start,
                hash: row.place.hash, identity: batch[Int(row.index)].sample.identity)
            if !claimed { outcomes[Int(row.index)] = .duplicate }
        }
    }

    /// The identity of a record: its series and id, or across devices its person, type, source and id.
    private struct RecordName: Hashable {
        var series: Int64?
        var origin: [String]
        var record: String

        init(of sample: Sample, _ record: String, series: Int64?) {
            (self.series, self.record) = (series, record)
            origin = series == nil ? [sample.origin.subject, sample.origin.type.id, sample.origin.source.id] : []
        }
    }

    /// Whether an earlier version of the record, live or deleted, has the same body as a row. In exports the only
    /// version of a day's rings or of a resource is the time of the export, so each later export would replace them
    /// with the same content.
    private func saysTheSame(_ row: SampleRow, as record: String) throws(StoreError) -> Bool {
        try connection.records.hasBody(ofContext: row.context, record, in: row.series)
    }

    /// Handles readings that were quarantined or rejected before, in this unit or another, and now pass the gate.
    /// Rejected readings stay out. Readings that are still in quarantine are released, because the rules have improved.
    func consultQuarantine(_ group: SeriesRows, _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        guard try connection.quarantine.contains(series: group.series) else { return }
        // The rows are sorted by nominal time.
        var instants: Set<Int64> = []
        if let retellings, let first = group.rows.first, let last = group.rows.last {
            instants = try retellings.heldInstants(of: group.series, from: first.nominal, to: last.nominal)
        }
        for row in group.rows where outcomes[Int(row.index)] == .stored && batch[Int(row.index)].rule == nil {
            let judged: (number: Int64, state: String)
            if let known = try connection.quarantine.judged(batch[Int(row.index)].sample.identity, inSeries: group.series) {
                // Rejecting a row because it may be incomplete does not reject the complete row.
                judged = (known.number, known.rule == GateRule.provisional.name ? "held" : known.state)
            } else if instants.contains(row.nominal), let told = try toldAgain(row) {
                judged = told
            } else {
                continue
            }
            switch judged.state {
            case "held":
                try connection.quarantine.judge([judged.number], "released", by: ingest)
            case "rejected": outcomes[Int(row.index)] = .duplicate
            default: break
            }
        }
    }

    /// Puts the readings that break a rule into quarantine, with the frame that arrived, so that a person can review
    /// them.
    func hold(_ groups: [SeriesRows], text: [UInt8], _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        for group in groups {
            // Keep the order of arrival, which is the order in which readings may be released.
            for row in group.rows.sorted(by: { $0.index < $1.index }) where outcomes[Int(row.index)] == .stored {
                let gated = batch[Int(row.index)]
                guard let rule = gated.rule else { continue }
                if try toldAgain(row) != nil {
                    outcomes[Int(row.index)] = .duplicate
                    continue
                }
                let numeral = text[Int(row.numeral.lowerBound)..<Int(row.numeral.upperBound)]
                let isNew = try connection.quarantine.add(
                    row, gated.sample, numeral: numeral.isEmpty ? nil : String(decoding: numeral, as: UTF8.self), rule: rule.name,
                    place: gated.place.description, frame: gated.frame?.text, ingest: ingest)
                outcomes[Int(row.index)] = isNew ? .quarantined : .duplicate
            }
        }
    }

    /// The quarantined reading that a row repeats in another unit. Records are excluded, because their source
    /// identifies them.
    private func toldAgain(_ row: SampleRow) throws(StoreError) -> (number: Int64, state: String)? {
        guard let retellings, batch[Int(row.index)].sample.record == nil else { return nil }
        return try retellings.held(row, of: batch[Int(row.index)].sample.origin.type)
    }
}
