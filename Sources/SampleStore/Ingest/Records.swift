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
    func claim(_ received: RecordIdentifier, at key: SampleKey, identity: SampleIdentity) throws(StoreError) -> Claim {
        var record = received
        let table = connection.records
        let known =
            try acrossDevices
            ? table.versions(of: record.id, relatedToSeries: key.series) : table.versions(of: record.id, in: key.series)
        // An equal reading would have been found before. So an open record has another value, and the later import wins.
        if let highest = known.last, let next = record.following(highest.number) { record = next }
        if let same = known.first(where: { $0.number == record.version }) { return .known(same.key) }
        try table.add(record, at: key, isAcross: acrossDevices)
        arriving[key] = identity
        if let whole = try newerEdition(of: record, in: key.series) {
            // The edition that this is a part of was replaced by one that does not have this part.
            let edition = try MeasurementReader(connection: connection).measurement(of: whole).history
            let entry = edition.reports.first { $0.key == whole }?.entry ?? ingest
            try connection.decisions.add(.deleted, on: key, by: entry)
            return .superseded(by: whole)
        }
        if let newest = known.last?.key {
            // The new version must be taken into account although its row does not exist yet.
            let deletion = Deletion(connection: connection, ingest: ingest)
            let liveUpdate = LiveSampleUpdate(deletion)
            for (key, identity) in arriving { liveUpdate.reader.arriving[key] = (ingest, identity, nil) }
            try liveUpdate.update([newest])
            try deletion.updateDerived()
            guard case .live? = try liveUpdate.reader.measurement(of: key).history.state(of: key) else {
                return .superseded(by: newest)
            }
        }
        // While the ingest is active, parts that the new version does not have are deleted.
        let deletion = Deletion(connection: connection, ingest: ingest)
        try deletion.delete(
            try table.keys(ofIDs: RecordIdentifier.parts(of: record.id), in: key.series, below: record.version))
        try deletion.updateDerived()
        return .stored
    }

    /// Returns the place of a newer edition of the record that this is a part of.
    private func newerEdition(of record: RecordIdentifier, in series: Int64) throws(StoreError) -> SampleKey? {
        guard let whole = record.whole, let newest = try connection.records.versions(of: whole, in: series).last,
            newest.number > record.version
        else { return nil }
        return newest.key
    }
}
