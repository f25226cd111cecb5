import HealthModel
import Pipeline

/// Decides which readings of a batch do not become samples, by the versions of their records and by the quarantine.
/// Used inside a transaction.
struct BatchDecision {
    let connection: Connection
    let ingest: Int64
    let batch: [GatedSample]
    /// Finds readings repeated in another unit, or `nil` if only identical readings count as duplicates.
    let unitRepeats: UnitRepeatSearch?
    /// Whether a record has the same identity on all devices.
    var acrossDevices = false
    /// The only people whose samples may end, or `nil` if those of all may.
    var people: Set<String>?
    /// The repaired samples of readings that arrive as the repair made them, by row index.
    var forms: [Int32: SampleKey] = [:]
    /// The room in quarantine, or `nil` if there always is some.
    let room: QuarantineRoom?

    /// Registers the versions of records in a batch. A version in quarantine is not registered.
    ///
    /// - Returns: The rows that are kept as lower versions, with the sample that counts instead.
    func registerRecords(
        _ groups: [SeriesRows], text: [UInt8], _ outcomes: inout [SampleOutcome]
    ) throws(StoreError) -> [(row: SampleRow, of: SampleKey)] {
        let records = Records(connection: connection, ingest: ingest, acrossDevices: acrossDevices, of: people)
        var superseded: [(row: SampleRow, of: SampleKey)] = []
        var registered: [SampleKey: SampleRow] = [:]
        let rows = groups.flatMap(\.rows).filter {
            let gated = batch[Int($0.index)]
            // One that breaks a rule is held, unless the same version is known already.
            return gated.sample.record != nil && (gated.rule == nil || outcomes[Int($0.index)] == .duplicate)
        }
        let outdated = markOutdated(rows, &outcomes)
        // The highest version first, so that the lower ones of the batch are not stored as samples.
        for row in rows.sorted(by: { (-version(of: $0), $0.index) < (-version(of: $1), $1.index) }) {
            let sample = batch[Int(row.index)].sample
            guard let record = sample.record else { continue }
            switch outcomes[Int(row.index)] {
            case .duplicate:
                guard !record.isOpen else {
                    if record.isSentAgain, !outdated.contains(row.index) {
                        try records.claimAgain(record, at: row.key, form: forms[row.index])
                    }
                    continue
                }
                guard try conflicts(row, with: row.key, registered[row.key]) else { continue }
            case .stored:
                if sample.origin.kind == .activitySummary || sample.origin.kind == .clinicalRecord,
                    try hasSameContent(row, as: record.id)
                {
                    outcomes[Int(row.index)] = .duplicate
                    continue
                }
                switch try records.claim(record, at: row.key, identity: sample.identity, sample) {
                case .stored:
                    registered[row.key] = row
                    continue
                case .superseded(let other):
                    registered[row.key] = row
                    superseded.append((row, other))
                    outcomes[Int(row.index)] = .duplicate
                    continue
                case .known(let key):
                    outcomes[Int(row.index)] = .duplicate
                    guard try conflicts(row, with: key, registered[key]) else { continue }
                }
            case .quarantined, .refused: continue
            }
            outcomes[Int(row.index)] = try quarantineConflict(row, text: text)
        }
        return superseded
    }

    private struct RecordPlace: Hashable {
        var series: Int64
        var record: RecordIdentifier
    }

    /// Marks the rows of open records of which the batch has a later row. If several rows have the last value, only the first of them is kept.
    ///
    /// - Returns: The indices of the marked rows.
    private func markOutdated(_ rows: [SampleRow], _ outcomes: inout [SampleOutcome]) -> Set<Int32> {
        var open: [(place: RecordPlace, row: SampleRow)] = []
        for row in rows {
            guard let record = batch[Int(row.index)].sample.record, record.isOpen else { continue }
            open.append((RecordPlace(series: row.series, record: record), row))
        }
        open.sort { $0.row.index < $1.row.index }
        let last = Dictionary(open.map { ($0.place, $0.row.key) }) { $1 }
        var seen: Set<RecordPlace> = []
        var outdated: Set<Int32> = []
        for (place, row) in open where row.key != last[place] || !seen.insert(place).inserted {
            outcomes[Int(row.index)] = .duplicate
            outdated.insert(row.index)
        }
        return outdated
    }

    private func version(of row: SampleRow) -> Int64 { batch[Int(row.index)].sample.record?.version ?? 0 }

    /// Whether the number, unit, or time of a row differs from those of the same version at a place.
    private func conflicts(_ row: SampleRow, with key: SampleKey, _ arrived: SampleRow?) throws(StoreError) -> Bool {
        let sample = batch[Int(row.index)].sample
        // HealthKit ignores a version that a program saves again. A resource and a day's summary have no number.
        guard !acrossDevices, sample.origin.kind != .clinicalRecord, sample.origin.kind != .activitySummary else { return false }
        var known = arrived.map { [batch[Int($0.index)].sample] } ?? []
        for key in [key, forms[row.index] ?? key] {
            for rows in SampleTable.Rows.allCases where known.isEmpty {
                if let other = try connection.samples.sample(at: key, among: rows) { known.append(other) }
            }
        }
        if known.contains(where: sample.hasSameReading) { return false }
        // The source may report a version as a repair made it.
        if let repaired = try repaired(sample.record, in: row.series) { known.append(repaired) }
        return !known.isEmpty && !known.contains(where: sample.hasSameReading)
    }

    /// Returns the sample that repairs made of a version of a record. A reading with its identity is known by that sample.
    private func repaired(_ record: RecordIdentifier?, in series: Int64) throws(StoreError) -> Sample? {
        guard let record else { return nil }
        let reader = MeasurementReader(connection: connection)
        let versions = try reader.versions(of: record.id, in: series, acrossDevices: false)
        guard let known = versions.first(where: { $0.number == record.version })?.key else { return nil }
        let form = try reader.measurement(of: known).history.form(of: known)
        return try connection.samples.sample(at: form, among: .live)
    }

    /// Quarantines a version that contradicts the stored one, under an identity of its own.
    ///
    /// - Returns: `quarantined`, `duplicate` if it is in quarantine already, or `refused` if there is no room.
    private func quarantineConflict(_ row: SampleRow, text: [UInt8]) throws(StoreError) -> SampleOutcome {
        let gated = batch[Int(row.index)]
        var (row, sample) = (row, gated.sample)
        sample.identity = SampleIdentity(
            series: sample.origin.seriesKey, start: sample.nominalStart,
            end: sample.nominalStart + (sample.end.microseconds - sample.start.microseconds), numeral: sample.numeral,
            unit: sample.unit, ordinal: 0, method: sample.method)
        (row.high, row.low) = (sample.identity.high, sample.identity.low)
        row.context = try Interner(connection: connection).context(like: row.context) { $0.ordinal = 0 }
        return try quarantine(row, sample, gated, rule: .versionConflict, text: text)
    }

    private func quarantine(
        _ row: SampleRow, _ sample: Sample, _ gated: GatedSample, rule: GateRule, text: [UInt8]
    ) throws(StoreError) -> SampleOutcome {
        if let room, try room.isFull(for: sample.origin.person) {
            return try connection.quarantine.contains(sample.identity) ? .duplicate : .refused
        }
        let numeral = text[Int(row.numeral.lowerBound)..<Int(row.numeral.upperBound)]
        let isNew = try connection.quarantine.add(
            row, sample, numeral: numeral.isEmpty ? nil : String(decoding: numeral, as: UTF8.self), rule: rule.name,
            place: gated.place.description, frame: gated.frame?.text, ingest: ingest)
        if isNew { room?.count(for: sample.origin.person) }
        return isNew ? .quarantined : .duplicate
    }

    /// Whether an earlier version of the record, live or deleted, has the same body as a row. In exports the only
    /// version of a day's rings or of a resource is the time of the export, so each later export would replace them
    /// with the same content.
    private func hasSameContent(_ row: SampleRow, as record: String) throws(StoreError) -> Bool {
        try connection.records.hasBody(ofContext: row.context, record, in: row.series)
    }

    /// Handles readings that were quarantined or rejected before, in this unit or another, and now pass the gate.
    /// Rejected readings stay out. Readings that are still in quarantine are released, because the rules have improved.
    func consultQuarantine(_ group: SeriesRows, _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        guard try connection.quarantine.contains(series: group.series) else { return }
        // The rows are sorted by nominal time.
        var instants: Set<Int64> = []
        if let unitRepeats, let first = group.rows.first, let last = group.rows.last {
            instants = try unitRepeats.quarantinedStarts(of: group.series, from: first.nominal, to: last.nominal)
        }
        for row in group.rows where outcomes[Int(row.index)] == .stored && batch[Int(row.index)].rule == nil {
            let quarantined: (number: Int64, state: String)
            if let known = try connection.quarantine.decided(batch[Int(row.index)].sample.identity, inSeries: group.series) {
                // Rejecting a row because it may be incomplete does not reject the complete row.
                quarantined = (known.number, known.rule == GateRule.provisional.name ? "held" : known.state)
            } else if instants.contains(row.nominal), let repeated = try quarantinedReading(row) {
                quarantined = repeated
            } else {
                continue
            }
            switch quarantined.state {
            case "held":
                try connection.quarantine.decide([quarantined.number], "released", by: ingest)
            case "rejected": outcomes[Int(row.index)] = .duplicate
            default: break
            }
        }
    }

    /// Puts the readings that break a rule into quarantine, with the frame that arrived, so that a person can review
    /// them. Readings without room are refused.
    func hold(_ groups: [SeriesRows], text: [UInt8], _ outcomes: inout [SampleOutcome]) throws(StoreError) {
        for group in groups {
            // Keep the order of arrival, which is the order in which readings may be released.
            for row in group.rows.sorted(by: { $0.index < $1.index }) where outcomes[Int(row.index)] == .stored {
                let gated = batch[Int(row.index)]
                guard let rule = gated.rule else { continue }
                if try quarantinedReading(row) != nil {
                    outcomes[Int(row.index)] = .duplicate
                    continue
                }
                outcomes[Int(row.index)] = try quarantine(row, gated.sample, gated, rule: rule, text: text)
            }
        }
    }

    /// The quarantined reading that a row repeats in another unit. Records are excluded, because their source
    /// identifies them.
    private func quarantinedReading(_ row: SampleRow) throws(StoreError) -> (number: Int64, state: String)? {
        guard let unitRepeats, batch[Int(row.index)].sample.record == nil else { return nil }
        return try unitRepeats.quarantined(row, of: batch[Int(row.index)].sample.origin.type)
    }
}
