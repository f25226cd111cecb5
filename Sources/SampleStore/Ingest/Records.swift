import HealthModel

/// Maintains the versions of records that have an id from their producer. Used inside a transaction.
final class Records {
    private let connection: Connection
    private let ingest: Int64
    /// Whether versions of other devices with the same person, type, and source count as well.
    private let acrossDevices: Bool
    /// The versions that were registered and whose rows are not written yet.
    private var arriving: [SampleKey: SampleIdentity] = [:]

    init(connection: Connection, ingest: Int64, acrossDevices: Bool = false) {
        self.connection = connection
        self.ingest = ingest
        self.acrossDevices = acrossDevices
    }

    /// The relation of a version to the known versions.
    enum Claim {
        /// It is the highest version that counts, and is about to become the sample.
        case stored
        /// Another version counts instead. This one is kept and comes forward if the other no longer counts.
        case superseded(by: SampleKey)
        /// The same version is known, at this place.
        case known(SampleKey)
    }

    /// Registers a version that is about to be stored, and retires the lower one if it counts.
    func claim(_ received: RecordIdentifier, at place: SampleKey, identity: SampleIdentity) throws(StoreError) -> Claim {
        var record = received
        let table = connection.records
        let known =
            try acrossDevices
            ? table.versions(of: record.id, besideSeries: place.series) : table.versions(of: record.id, in: place.series)
        // An equal reading would have been found before. So an open record has another value, and the later import wins.
        if let highest = known.last, let next = record.following(highest.number) { record = next }
        if let same = known.first(where: { $0.number == record.version }) { return .known(same.place) }
        try table.add(record, at: place, isAcross: acrossDevices)
        arriving[place] = identity
        if let whole = try newerEdition(of: record, in: place.series) {
            // The edition that this is a part of was replaced by one that does not have this part.
            let edition = try MeasurementReader(connection: connection).measurement(of: whole).history
            let entry = edition.reports.first { $0.place == whole }?.entry ?? ingest
            try connection.decisions.add(.deleted, on: place, by: entry)
            return .superseded(by: whole)
        }
        if let newest = known.last?.place {
            // The new version must be taken into account although its row does not exist yet.
            let deletion = Deletion(connection: connection, ingest: ingest)
            let settlement = Settlement(deletion)
            for (place, identity) in arriving { settlement.reader.arriving[place] = (ingest, identity, nil) }
            try settlement.settle([newest])
            try deletion.settleDerived()
            guard case .live? = try settlement.reader.measurement(of: place).history.state(of: place) else {
                return .superseded(by: newest)
            }
        }
        // While the ingest is active, parts that the new version does not have are deleted.
        let deletion = Deletion(connection: connection, ingest: ingest)
        try deletion.delete(
            try table.places(ofIDs: RecordIdentifier.parts(of: record.id), in: place.series, below: record.version))
        try deletion.settleDerived()
        return .stored
    }

    /// Returns the place of a newer edition of the record that this is a part of.
    private func newerEdition(of record: RecordIdentifier, in series: Int64) throws(StoreError) -> SampleKey? {
        guard let whole = record.whole, let newest = try connection.records.versions(of: whole, in: series).last,
            newest.number > record.version
        else { return nil }
        return newest.place
    }
}
