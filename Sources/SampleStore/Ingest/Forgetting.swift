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
            try table.tombstones(broughtBy: ingest, after: last, limit: limit)
        }
        if try !duplicates.isEmpty {
            try forEachPart(of: tombstones) { places in
                try step { try handOver(places, $0) }
            }
            try forEachPart(of: witnesses) { places in try step { try handOver(places, $0) } }
        }
        var count = 0
        try forEachPart(of: witnesses) { places in
            try step { _ in
                try table.forgetPlaces(ofWitnesses: places)
                for place in places { try duplicates.remove(place) }
            }
            count += places.count
        }
        try step { deletion in
            let accepted = try connection.quarantine.acceptedSamples(broughtBy: ingest).filter { try !table.contains($0) }
            try forget(accepted, deletion)
            count += try accepted.count + forgetDecisions()
        }
        try forEachPart(of: tombstones) { places in
            try step { _ in
                let forgotten = try table.forget(places)
                // Keep the ledger's sums correct. A forgotten row is replaced if the same sample is stored and deleted again.
                try connection.settings.add(Int64(forgotten), to: "forgotten")
                count += forgotten
            }
        }
        return count
    }

    /// Removes single tombstones of the import.
    func forget(_ places: [SampleKey], _ deletion: Deletion) throws {
        if try !duplicates.isEmpty { try handOver(places, deletion) }
        try connection.settings.add(Int64(try connection.samples.forget(places)), to: "forgotten")
    }

    private func forEachPart(
        of next: (SampleKey?, Int) throws -> [SampleKey], _ body: ([SampleKey]) throws -> Void
    ) throws {
        var last: SampleKey?
        while true {
            let places = try next(last, limit)
            guard let end = places.last else { return }
            try body(places)
            last = end
        }
    }

    private func witnesses(after last: SampleKey?, limit: Int) throws(StoreError) -> [SampleKey] {
        try duplicates.places(broughtBy: ingest, after: last, limit: limit)
    }

    private var duplicates: DuplicateTable { connection.duplicates }

    /// Removes what the import decided and quarantined.
    private func forgetDecisions() throws(StoreError) -> Int {
        try duplicates.removeDecisions(of: ingest)
        try forgetDecisionsOnForms()
        try connection.quarantine.remove(broughtBy: ingest)
        return try connection.removeCharacteristics(broughtBy: ingest)
    }

    /// Replaces each forgotten report with another report of the same reading. Duplicates were compared with the
    /// forgotten report, and a person's decisions apply to all reports.
    private func handOver(_ places: [SampleKey], _ deletion: Deletion) throws(StoreError) {
        let reader = MeasurementReader(connection: connection)
        var shared: [Int64: Bool] = [:]
        for place in places {
            if shared[place.series] == nil { shared[place.series] = try isShared(place.series) }
            guard shared[place.series] == true else { continue }
            let history = try reader.measurement(of: place).history
            guard let own = history.reports.first(where: { $0.place == place }) else { continue }
            let others = history.reports.filter { $0.group == own.group && $0.place != place && $0.entry != ingest }
            guard
                let heir = others.first(where: { history.live.contains(history.form(of: $0.place)) })
                    ?? others.first(where: { $0.agreement == nil }) ?? others.first
            else { continue }
            try connection.decisions.move(from: place, to: heir.place)
            if own.agreement == nil { try makeFirst(heir.place, insteadOf: place, reader, deletion) }
        }
    }

    /// Whether other reports may belong to the series' readings.
    private func isShared(_ series: Int64) throws(StoreError) -> Bool {
        if try duplicates.contains(series: series) { return true }
        return try duplicates.contains(duplicatesOfSeries: series)
    }

    /// Makes another report the original of a reading. It becomes a sample, or a tombstone if it is not live.
    private func makeFirst(
        _ heir: SampleKey, insteadOf first: SampleKey, _ reader: MeasurementReader, _ deletion: Deletion
    ) throws(StoreError) {
        if try reader.row(at: heir) == nil {
            // A row must become a sample before it can become a tombstone.
            try deletion.addWitness(heir)
            try deletion.bury([SampleTable.Burial(place: heir)])
        }
        for other in try reader.witnesses(of: first) where other != heir {
            try duplicates.set(first: heir, of: other)
        }
        try duplicates.remove(heir)
    }

    /// Removes the decisions about repaired forms of the readings. They do not apply when the readings are imported
    /// again.
    private func forgetDecisionsOnForms() throws(StoreError) {
        guard try !connection.repairs.isEmpty(), try !connection.decisions.isEmpty else { return }
        try connection.decisions.removeForms(ofTombstonesBroughtBy: ingest)
    }
}
