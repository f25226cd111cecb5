import HealthModel
import Pipeline

/// A reading in quarantine.
public struct QuarantinedSample: Sendable {
    /// The number by which it is accepted or rejected.
    public var id: Int64
    /// The sample that it becomes if it is accepted.
    public var stored: StoredSample
    /// The rule that quarantined it.
    public var rule: String
    /// Its position in the file or stream it came from.
    public var place: String
    /// The state: `reading`, `accepted`, `rejected`, or `released` if it passed the gate when it arrived again.
    public var state: String
    /// The received data: bytes in hexadecimal, or a row.
    public var frame: String?
}

extension SampleStore.Quarantine {
    /// Returns the number of quarantined readings by rule, the most frequent first.
    public func summary() throws(StoreError) -> [QuarantineSummary] { try connection.quarantine.summary() }

    /// Returns the quarantined readings in a state, oldest first.
    public func all(state: String = "held") throws(StoreError) -> [QuarantinedSample] {
        try quarantined("state = ?", [.text(state)])
    }

    /// Returns a person's quarantined readings, oldest first.
    public func all(of person: String, limit: Int) throws(StoreError) -> [QuarantinedSample] {
        try quarantined(QuarantineTable.quarantined(of: "?1", limit: "?2"), [.text(person), .integer(Int64(limit))])
    }

    /// Reads the quarantined readings of some series that may be right (``GateRule/isDoubt``), oldest first.
    ///
    /// There may be many, also of others, so only these are read, and few at a time.
    ///
    /// - Parameters:
    ///   - first: The number after which they begin.
    ///   - last: The number of the last one.
    func readDoubtful(
        after first: Int64, through last: Int64, of series: [Int64], _ body: (QuarantinedSample) throws -> Void
    ) throws {
        var next = first
        while true {
            let some = try quarantined(
                QuarantineTable.quarantined(after: "?1", through: "?2", ofSeries: series, limit: Self.some),
                [.integer(next), .integer(last)])
            for reading in some where GateRule(reading.rule).isDoubt { try body(reading) }
            guard some.count == Self.some, let end = some.last else { return }
            next = end.id
        }
    }

    /// The number of readings that are in memory at the same time.
    private static let some = 500

    /// Returns a quarantined reading of a person that may be right, by its start.
    public func doubtful(at start: Instant, type: SampleType, of person: String) throws(StoreError) -> QuarantinedSample? {
        try quarantined(
            "state = 'held' AND start = ?1 AND series IN \(SeriesTable.ids(ofPerson: "?2"))",
            [.integer(start.microseconds), .text(person)]
        ).first { $0.stored.sample.origin.type == type && GateRule($0.rule).isDoubt }
    }

    /// Returns a quarantined or judged reading by its number, or nil if there is none.
    public func sample(number: Int64) throws(StoreError) -> QuarantinedSample? {
        try quarantined("id = ?", [.integer(number)]).first
    }

    /// Returns a quarantined or judged reading by its UUID, or nil if there is none.
    public func sample(_ uuid: SampleIdentity) throws(StoreError) -> QuarantinedSample? {
        try quarantined("uuid = ?", [.text(uuid.description)]).first
    }

    /// Returns the number of quarantined readings.
    public func count() throws(StoreError) -> Int { try connection.quarantine.quarantinedCount() }

    /// Returns the number of an import's quarantined readings whose type or case this version does not know.
    public func unknownCount(of ingest: Int64) throws(StoreError) -> Int {
        let rules = [GateRule.unknownValue, .unknownType].map { Value.text($0.name) }
        return try connection.quarantine.quarantinedCount(of: ingest, by: rules)
    }

    /// Returns the number of a person's quarantined readings by type. Types without any are omitted.
    public func counts(of person: String) throws(StoreError) -> [SampleType: Int] {
        let reading = try connection.quarantine.quarantinedCounts(of: person)
        guard !reading.isEmpty else { return [:] }
        var counts: [SampleType: Int] = [:]
        for series in try store.allSeries() where series.person == person {
            if let count = reading[series.id] { counts[series.type, default: 0] += count }
        }
        return counts
    }

    func quarantined(_ condition: String, _ bindings: [Value], limit: Int? = nil) throws(StoreError) -> [QuarantinedSample] {
        let decoder = SampleDecoder(connection: connection)
        return try connection.quarantine.readings(where: condition, bindings, limit: limit) { row throws(StoreError) in
            QuarantinedSample(
                id: row.integer(11), stored: try decoder.decodeQuarantined(row, series: row.integer(10)), rule: row.text(12),
                place: row.text(13), state: row.text(14), frame: row.optionalText(15))
        }
    }

    /// Stores quarantined readings unchanged as samples, because a person decided that they are right.
    ///
    /// - Returns: The entry of the ledger, the number of accepted readings, and how many of them are not samples, because they are
    ///   duplicates or a higher version of their record counts instead.
    @discardableResult
    public func accept(
        _ ids: [Int64], description: IngestDescription
    ) throws -> (ingest: Int64, count: Int, duplicates: Int) {
        var duplicates = 0
        let (ingest, count) = try store.samples.change(description) { ingest, deletion in
            let quarantine = connection.quarantine
            var accepted: [SampleKey] = []
            var superseded: [SampleKey] = []
            for id in ids.sorted() {
                try requireQuarantined(id)
                try quarantine.decide([id], "accepted", by: ingest)
                guard let reading = try quarantine.row(id) else { throw Self.missing(id) }
                guard reading.rule != GateRule.unknownType.name else {
                    throw StoreError(
                        .invalid,
                        "the unit of number \(id) cannot be checked, because this version does not know its type: a version that does stores it"
                    )
                }
                // A repaired sample may be what this reading would have been if it had been read correctly. An import would treat the
                // reading as a duplicate.
                guard try reading.skew != 0 || !connection.repairs.hasAlias(reading.key) else {
                    throw StoreError(
                        .invalid, "number \(id) is already stored as the result of a repair: reject it")
                }
                let key = reading.key
                if try restoreAfterUndoneAcceptance(key, deletion) || restoreWithdrawn(reading, deletion) { continue }
                if let repeatedSample = try repeatedSample(reading: id) {
                    throw StoreError(
                        .invalid, "number \(id) is a duplicate of sample \(repeatedSample) in another unit: reject it")
                }
                if try !registerVersion(of: reading, id, deletion) { superseded.append(key) }
                let table = connection.samples
                guard try !table.contains(key), try !table.contains(key, among: .tombstones),
                    try quarantine.addSample(
                        id, start: key.start, context: reading.context, received: reading.received,
                        metadata: store.interner.id(of: decided(on: reading, id)), by: ingest)
                else { throw Self.arrivedLater(id) }
                accepted.append(key)
            }
            try LiveSampleUpdate(deletion).update(superseded)
            try Regrouping(deletion).update(around: accepted)
            let liveUpdate = LiveSampleUpdate(deletion)
            duplicates = try accepted.count { try liveUpdate.isDuplicate($0) }
            return ids.count
        }
        return (ingest, count, duplicates)
    }

    private func requireQuarantined(_ id: Int64) throws(StoreError) {
        guard try connection.quarantine.isQuarantined(id) else { throw Self.missing(id) }
    }

    private static func missing(_ id: Int64) -> StoreError { StoreError(.invalid, "there is no quarantined reading \(id)") }

    /// Restores a sample that returned to quarantine because its acceptance was undone. Returns false if it never was a sample or is
    /// deleted.
    func restoreAfterUndoneAcceptance(_ key: SampleKey, _ deletion: Deletion) throws(StoreError) -> Bool {
        let liveUpdate = LiveSampleUpdate(deletion)
        guard let row = try liveUpdate.reader.row(at: key), !row.isLive,
            try !liveUpdate.reader.states.isActive(liveUpdate.reader.ingestID(of: row.number, in: key.series))
        else { return false }
        try deletion.decide(.restored, [key])
        try connection.records.accept(key, by: deletion.ingest)
        try liveUpdate.update([key])
        // It may be a duplicate, or a lower version.
        return try liveUpdate.reader.measurement(of: key).history.counts(key)
    }

    /// Restores a sample that was withdrawn because the hub's clock was not confirmed. Returns false if it was not.
    private func restoreWithdrawn(_ reading: QuarantineTable.Row, _ deletion: Deletion) throws(StoreError) -> Bool {
        guard try SampleStore.Devices.doubt(reading.metadata?.json) == .hubClock,
            try connection.samples.contains(reading.key, among: .tombstones)
        else { return false }
        try deletion.decide(.restored, [reading.key])
        try LiveSampleUpdate(deletion).update([reading.key])
        return try connection.samples.contains(reading.key)
    }

    /// Returns the sample that a quarantined reading repeats in another unit, as `import --exact` quarantines both. The sample is live or
    /// deleted by a person.
    private func repeatedSample(reading id: Int64) throws(StoreError) -> SampleIdentity? {
        let search = UnitRepeatSearch(connection: connection)
        guard let first = try search.repeatedSample(quarantined: id) else { return nil }
        let history = try MeasurementReader(connection: connection).measurement(of: first).history
        let isDeleted = history.decisions.contains { $0.isActive && $0.kind == .deleted }
        return history.live.isEmpty && !isDeleted ? nil : try connection.samples.identity(at: first)
    }

    /// Returns the metadata of a quarantined reading with the decision to accept it.
    private func decided(on reading: QuarantineTable.Row, _ id: Int64) throws(StoreError) -> Metadata {
        var entries: [(String, MetadataValue)] = []
        if let json = reading.metadata?.json {
            do throws(MetadataError) {
                entries = try Metadata(json: json).entries.map { ($0.key, $0.value) }
            } catch {
                throw StoreError(.corrupt, "the metadata of number \(id) cannot be read: \(error)")
            }
        }
        return Metadata(entries + [("acceptedAgainst", .string(reading.rule))])
    }

    /// Returns the number of readings that an undo put back into quarantine and that are still there.
    public func requarantinedCount(by undoing: Int64) throws(StoreError) -> Int {
        try connection.quarantine.quarantinedCount(againBy: undoing)
    }

    /// Registers the version of a record, which replaces lower ones and the same version with another value.
    ///
    /// - Returns: False if a higher version counts instead.
    private func registerVersion(
        of reading: QuarantineTable.Row, _ id: Int64, _ deletion: Deletion
    ) throws(StoreError) -> Bool {
        guard let record = reading.record, let identity = SampleIdentity(reading.uuid) else { return true }
        let isSaved = try connection.ledger.kind(of: reading.ingest) == .save
        let records = Records(connection: connection, ingest: deletion.ingest, acrossDevices: isSaved, of: deletion.people)
        switch try records.claim(record, at: reading.key, identity: identity, nil) {
        case .stored: return true
        case .superseded: return false
        case .known:
            guard try connection.samples.number(at: reading.key) == nil else { throw Self.arrivedLater(id) }
            throw StoreError(
                .invalid, "number \(id) is the same version of a record as another of these numbers: accept one of them")
        }
    }

    private static func arrivedLater(_ id: Int64) -> StoreError {
        StoreError(.invalid, "number \(id) arrived again later and is already stored: reject it")
    }

    /// Rejects quarantined readings. If they arrive again, they are duplicates.
    @discardableResult
    public func reject(_ ids: [Int64], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try store.samples.change(description) { ingest, _ in
            for id in ids {
                try requireQuarantined(id)
                try connection.quarantine.decide([id], "rejected", by: ingest)
            }
            return ids.count
        }
    }
}
