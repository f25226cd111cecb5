import HealthModel

/// Permanently removes the tombstones of an undone import, so that the same file can be imported again.
///
/// It runs in parts, each of which leaves a correct store: nothing that is removed is live.
struct Forgetting {
    /// Runs a part in a transaction.
    typealias Step = ((Deletion) throws -> Void) throws -> Void

    private let connection: Connection
    private let ingest: Int64
    /// The number of rows of a part.
    private let limit: Int

    init(_ connection: Connection, of ingest: Int64, limit: Int) {
        (self.connection, self.ingest, self.limit) = (connection, ingest, limit)
    }

    /// Removes the rows of the import and returns their number.
    func run(_ step: Step) throws -> Int {
        let table = connection.samples
        func tombstones(after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
            try table.tombstones(ingestedBy: ingest, after: last, limit: limit)
        }
        if try !duplicates.isEmpty {
            try forEachPart(of: tombstones) { keys in
                try step { try handOver(keys, $0) }
            }
            try forEachPart(of: nextDuplicates) { keys in try step { try handOver(keys, $0) } }
        }
        var count = 0
        try forEachPart(of: nextDuplicates) { keys in
            try step { _ in
                try table.forgetPlaces(ofDuplicates: keys)
                for key in keys {
                    try duplicates.remove(key)
                    // It may be a lower version that was never a sample.
                    if try table.number(at: key) == nil { try connection.records.remove(key) }
                }
            }
            count += keys.count
        }
        try step { deletion in
            let accepted = try connection.quarantine.acceptedSamples(ingestedBy: ingest).filter { try !table.contains($0) }
            try forget(accepted, deletion)
            count += try accepted.count + forgetDecisions()
        }
        try forEachPart(of: tombstones) { keys in
            try step { _ in
                let forgotten = try table.forget(keys)
                // Keep the ledger's sums correct. A forgotten row is replaced if the same sample is stored and deleted again.
                try connection.settings.add(Int64(forgotten), to: "forgotten")
                count += forgotten
            }
        }
        return count
    }

    /// Removes single tombstones of the import.
    func forget(_ keys: [SampleKey], _ deletion: Deletion) throws {
        if try !duplicates.isEmpty { try handOver(keys, deletion) }
        try connection.settings.add(Int64(try connection.samples.forget(keys)), to: "forgotten")
    }

    private func forEachPart(
        of next: (SampleKey?, Int) throws -> [SampleKey], _ body: ([SampleKey]) throws -> Void
    ) throws {
        var last: SampleKey?
        while true {
            let keys = try next(last, limit)
            guard let end = keys.last else { return }
            try body(keys)
            last = end
        }
    }

    private func nextDuplicates(after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        try duplicates.keys(ingestedBy: ingest, after: last, limit: limit)
    }

    private var duplicates: DuplicateTable { connection.duplicates }

    /// Removes what the import decided and quarantined.
    private func forgetDecisions() throws(StoreError) -> Int {
        try duplicates.removeDecisions(of: ingest)
        try connection.records.remove(madeBy: ingest)
        try forgetDecisionsOnForms()
        try connection.quarantine.remove(ingestedBy: ingest)
        return try connection.removeCharacteristics(ingestedBy: ingest)
    }

    /// Replaces each forgotten report with another report of the same reading. Duplicates were compared with the
    /// forgotten report, and a person's decisions apply to all reports.
    private func handOver(_ keys: [SampleKey], _ deletion: Deletion) throws(StoreError) {
        let reader = MeasurementReader(connection: connection)
        var shared: [Int64: Bool] = [:]
        for key in keys {
            if shared[key.series] == nil { shared[key.series] = try isShared(key.series) }
            guard shared[key.series] == true else { continue }
            let history = try reader.measurement(of: key).history
            guard let own = history.reports.first(where: { $0.key == key }) else { continue }
            let others = history.reports.filter { $0.group == own.group && $0.key != key && $0.entry != ingest }
            guard
                let newOriginal = others.first(where: { history.live.contains(history.form(of: $0.key)) })
                    ?? others.first(where: { $0.agreement == nil }) ?? others.first
            else {
                // A deletion of a version is one of the lower versions, too.
                if let lower = lowerVersion(than: key, history) { try connection.decisions.move(from: key, to: lower) }
                continue
            }
            try connection.decisions.move(from: key, to: newOriginal.key)
            if own.agreement == nil { try makeFirst(newOriginal.key, insteadOf: key, reader, deletion) }
        }
    }

    /// Returns the highest lower version of the record that another entry brought.
    private func lowerVersion(than key: SampleKey, _ history: MeasurementHistory<SampleKey>) -> SampleKey? {
        guard let own = history.versions.first(where: { $0.key == key }) else { return nil }
        let others = Set(history.reports.lazy.filter { $0.entry != ingest }.map(\.key))
        return history.versions.filter { own.replaces($0) && others.contains($0.key) }.max { $0.precedes($1) }?.key
    }

    /// Whether other reports may belong to the series' readings.
    private func isShared(_ series: Int64) throws(StoreError) -> Bool {
        if try duplicates.contains(series: series) { return true }
        return try duplicates.contains(duplicatesOfSeries: series)
    }

    /// Makes another report the original of a reading. It becomes a sample, or a tombstone if it is not live.
    private func makeFirst(
        _ newOriginal: SampleKey, insteadOf first: SampleKey, _ reader: MeasurementReader, _ deletion: Deletion
    ) throws(StoreError) {
        if try reader.row(at: newOriginal) == nil {
            // A row must become a sample before it can become a tombstone.
            try deletion.promoteDuplicate(newOriginal)
            try deletion.moveToTombstones([SampleTable.TombstoneMove(key: newOriginal)])
        }
        for other in try reader.duplicates(of: first) where other != newOriginal {
            try duplicates.set(first: newOriginal, of: other)
        }
        try duplicates.remove(newOriginal)
    }

    /// Removes the decisions about repaired forms of the readings. They do not apply when the readings are imported
    /// again.
    private func forgetDecisionsOnForms() throws(StoreError) {
        guard try !connection.repairs.isEmpty(), try !connection.decisions.isEmpty else { return }
        try connection.decisions.removeForms(ofTombstonesIngestedBy: ingest)
    }
}
