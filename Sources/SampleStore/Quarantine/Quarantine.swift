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
    /// The state: `held`, `accepted`, `rejected`, or `released` if it passed the gate when it arrived again.
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
    public func all(of subject: String, limit: Int) throws(StoreError) -> [QuarantinedSample] {
        try quarantined(QuarantineTable.held(of: "?1", limit: "?2"), [.text(subject), .integer(Int64(limit))])
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
                QuarantineTable.held(after: "?1", through: "?2", ofSeries: series, limit: Self.some),
                [.integer(next), .integer(last)])
            for held in some where GateRule(held.rule).isDoubt { try body(held) }
            guard some.count == Self.some, let end = some.last else { return }
            next = end.id
        }
    }

    /// The number of readings that are in memory at the same time.
    private static let some = 500

    /// Returns a quarantined reading of a person that may be right, by its start.
    public func doubtful(at start: Instant, type: SampleType, of subject: String) throws(StoreError) -> QuarantinedSample? {
        try quarantined(
            "state = 'held' AND start = ?1 AND series IN \(SeriesTable.ids(ofSubject: "?2"))",
            [.integer(start.microseconds), .text(subject)]
        ).first { $0.stored.sample.origin.type == type && GateRule($0.rule).isDoubt }
    }

    /// Returns a quarantined or judged reading by its number, or nil if there is none.
    public func sample(number: Int64) throws(StoreError) -> QuarantinedSample? {
        try quarantined("id = ?", [.integer(number)]).first
    }

    /// Returns the number of quarantined readings.
    public func count() throws(StoreError) -> Int { try connection.quarantine.heldCount() }

    /// Returns the number of an import's quarantined readings whose type or case this version does not know.
    public func unknownCount(of ingest: Int64) throws(StoreError) -> Int {
        let rules = [GateRule.unknownValue, .unknownType].map { Value.text($0.name) }
        return try connection.quarantine.heldCount(of: ingest, by: rules)
    }

    /// Returns the number of a person's quarantined readings by type. Types without any are omitted.
    public func counts(of subject: String) throws(StoreError) -> [SampleType: Int] {
        let held = try connection.quarantine.heldCounts(of: subject)
        guard !held.isEmpty else { return [:] }
        var counts: [SampleType: Int] = [:]
        for series in try store.allSeries() where series.subject == subject {
            if let count = held[series.id] { counts[series.type, default: 0] += count }
        }
        return counts
    }

    func quarantined(_ condition: String, _ bindings: [Value], limit: Int? = nil) throws(StoreError) -> [QuarantinedSample] {
        let decoder = SampleDecoder(connection: connection)
        return try connection.quarantine.readings(where: condition, bindings, limit: limit) { row throws(StoreError) in
            QuarantinedSample(
                id: row.integer(11), stored: try decoder.decodeHeld(row, series: row.integer(10)), rule: row.text(12),
                place: row.text(13), state: row.text(14), frame: row.optionalText(15))
        }
    }

    /// Stores quarantined readings unchanged as samples, because a person decided that they are right.
    @discardableResult
    public func accept(_ ids: [Int64], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try store.samples.change(description) { ingest, deletion in
            let quarantine = connection.quarantine
            for id in ids.sorted() {
                try requireHeld(id)
                try quarantine.judge([id], "accepted", by: ingest)
                guard let held = try quarantine.row(id) else { throw Self.missing(id) }
                guard held.rule != GateRule.unknownType.name else {
                    throw StoreError(
                        .invalid,
                        "the unit of number \(id) cannot be checked, because this version does not know its type: a version that does stores it"
                    )
                }
                // A repaired sample may be what this reading would have been if it had been read correctly. An import would treat the
                // reading as a duplicate.
                guard try held.skew != 0 || !connection.repairs.hasAlias(held.place) else {
                    throw StoreError(
                        .invalid, "number \(id) is already stored as the result of a repair: reject it")
                }
                let place = held.place
                if try restoreJudged(place, deletion) || restoreWithdrawn(held, deletion) { continue }
                if let told = try told(held: id) {
                    throw StoreError(.invalid, "number \(id) is a duplicate of sample \(told) in another unit: reject it")
                }
                try claimRecord(of: held, id, deletion)
                let table = connection.samples
                guard try !table.contains(place), try !table.contains(place, among: .tombstones),
                    try quarantine.addSample(
                        id, start: place.start, context: held.context, received: held.received,
                        metadata: store.interner.id(of: decided(on: held, id)), by: ingest)
                else { throw StoreError(.invalid, "number \(id) arrived again later and is already stored: reject it") }
            }
            return ids.count
        }
    }

    private func requireHeld(_ id: Int64) throws(StoreError) {
        guard try connection.quarantine.isHeld(id) else { throw Self.missing(id) }
    }

    private static func missing(_ id: Int64) -> StoreError { StoreError(.invalid, "there is no quarantined reading \(id)") }

    /// Restores a sample that returned to quarantine because its acceptance was undone. Returns false if it never was a sample or is
    /// deleted.
    func restoreJudged(_ place: SampleKey, _ deletion: Deletion) throws(StoreError) -> Bool {
        let settlement = Settlement(deletion)
        guard let row = try settlement.reader.row(at: place), !row.isLive,
            try !settlement.reader.states.isActive(settlement.reader.bringer(of: row.number, in: place.series))
        else { return false }
        try deletion.decide(.restored, [place])
        try settlement.settle([place])
        return try connection.samples.contains(place)
    }

    /// Restores a sample that was withdrawn because the hub's clock was not confirmed. Returns false if it was not.
    private func restoreWithdrawn(_ held: QuarantineTable.Row, _ deletion: Deletion) throws(StoreError) -> Bool {
        guard try SampleStore.Devices.doubt(held.metadata?.json) == .hubClock,
            try connection.samples.contains(held.place, among: .tombstones)
        else { return false }
        try deletion.decide(.restored, [held.place])
        try Settlement(deletion).settle([held.place])
        return try connection.samples.contains(held.place)
    }

    /// Returns the sample that a quarantined reading repeats in another unit, as `import --exact` quarantines both. The sample is live or
    /// deleted by a person.
    private func told(held id: Int64) throws(StoreError) -> SampleIdentity? {
        let search = RetellingSearch(connection: connection)
        guard let first = try search.told(held: id) else { return nil }
        let history = try MeasurementReader(connection: connection).measurement(of: first).history
        let isDeleted = history.decisions.contains { $0.isActive && $0.kind == .deleted }
        return history.live.isEmpty && !isDeleted ? nil : try connection.samples.identity(at: first)
    }

    /// Returns the metadata of a quarantined reading with the decision to accept it.
    private func decided(on held: QuarantineTable.Row, _ id: Int64) throws(StoreError) -> Metadata {
        var entries: [(String, MetadataValue)] = []
        if let json = held.metadata?.json {
            do throws(MetadataError) {
                entries = try Metadata(json: json).entries.map { ($0.key, $0.value) }
            } catch {
                throw StoreError(.corrupt, "the metadata of number \(id) cannot be read: \(error)")
            }
        }
        return Metadata(entries + [("acceptedAgainst", .string(held.rule))])
    }

    /// Returns the number of readings that an undo put back into quarantine and that are still there.
    public func heldAgain(by undoing: Int64) throws(StoreError) -> Int {
        try connection.quarantine.heldCount(againBy: undoing)
    }

    /// Replaces the lower version of a record by the accepted one. If the same version is stored with another value, deletes that one.
    private func claimRecord(of held: QuarantineTable.Row, _ id: Int64, _ deletion: Deletion) throws(StoreError) {
        guard let record = held.record, let identity = SampleIdentity(held.uuid) else { return }
        let claim = try Records(connection: connection, ingest: deletion.ingest).claim(record, at: held.place, identity: identity)
        switch claim {
        case .stored: return
        case .known(let place) where held.rule == GateRule.versionConflict.name:
            try deletion.delete([try connection.samples.contains(place) ? place : Settlement(deletion).form(of: place)])
        case .known, .superseded:
            throw StoreError(.invalid, "the same or a newer version of number \(id) is already stored")
        }
    }

    /// Rejects quarantined readings. If they arrive again, they are duplicates.
    @discardableResult
    public func reject(_ ids: [Int64], description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try store.samples.change(description) { ingest, _ in
            for id in ids {
                try requireHeld(id)
                try connection.quarantine.judge([id], "rejected", by: ingest)
            }
            return ids.count
        }
    }
}
