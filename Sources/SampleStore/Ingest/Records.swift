import HealthModel

/// Maintains the versions of records that have an id from their producer. Used inside a transaction.
final class Records {
    private let connection: Connection
    private let ingest: Int64
    /// Whether versions of other devices with the same person, type, and source count as well.
    private let acrossDevices: Bool
    /// The only people whose samples may end, or `nil` if those of all may.
    private let people: Set<String>?
    private let reader: MeasurementReader
    /// The versions that were registered and whose rows are not written yet.
    private var arriving: [SampleKey: MeasurementReader.Arrival] = [:]

    init(connection: Connection, ingest: Int64, acrossDevices: Bool = false, of people: Set<String>? = nil) {
        self.connection = connection
        self.ingest = ingest
        self.acrossDevices = acrossDevices
        self.people = people
        reader = MeasurementReader(connection: connection)
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

    private func versions(of record: RecordIdentifier, in series: Int64) throws(StoreError) -> [RecordTable.Version] {
        try reader.versions(of: record.id, in: series, acrossDevices: acrossDevices)
    }

    /// Registers a version that is about to be stored, and retires the lower one if it counts.
    ///
    /// - Parameter sample: The version, or `nil` if a person accepted it, so that it replaces the same version with another value.
    func claim(
        _ received: RecordIdentifier, at key: SampleKey, identity: SampleIdentity, _ sample: Sample?
    ) throws(StoreError) -> Claim {
        var record = received
        let table = connection.records
        let known = try versions(of: record, in: key.series)
        // An equal reading would have been found before. So an open record has another value, and the later import wins.
        if let next = record.following(known.last { $0.hasNumber(of: received) }?.number) { record = next }
        let same = known.filter { $0.number == record.version }
        if let first = same.first, sample != nil || same.contains(where: { $0.key == key || $0.entry == ingest }) {
            return .known(first.key)
        }
        let search = CorrectionSearch(connection: connection)
        let own = try known.last.map { newest throws(StoreError) in try search.corrections(of: [newest.key]) } ?? []
        if let sample, let newest = known.last, !own.isEmpty,
            try connection.samples.sample(at: newest.key, among: .tombstones).map(sample.hasSameReading) ?? false
        {
            // The source knows no more than when the reading was corrected.
            return .known(newest.key)
        }
        try table.add(record, at: key, isAcross: acrossDevices, by: same.isEmpty ? 0 : ingest)
        arriving[key] = (ingest, identity, nil)
        if let whole = try newerEdition(of: record, in: key.series) {
            // The edition that this is a part of was replaced by one that does not have this part.
            let edition = try MeasurementReader(connection: connection).measurement(of: whole).history
            let entry = edition.reports.first { $0.key == whole }?.entry ?? ingest
            try connection.decisions.add(.deleted, on: key, by: entry)
            return .superseded(by: whole)
        }
        if let newest = known.last {
            // The new version must be taken into account although its row does not exist yet.
            let deletion = Deletion(connection: connection, ingest: ingest, of: people)
            let liveUpdate = LiveSampleUpdate(deletion)
            liveUpdate.reader.arriving = arriving
            try liveUpdate.update([newest.key])
            try deletion.updateDerived()
            guard case .live? = try liveUpdate.reader.measurement(of: key).history.state(of: key) else {
                return .superseded(by: try newest.isMoved ? liveUpdate.reader.form(of: newest.key) : newest.key)
            }
        }
        // While the ingest is active, parts that the new version does not have are deleted.
        let deletion = Deletion(connection: connection, ingest: ingest, of: people)
        try deletion.delete(reader.parts(of: record, in: key.series))
        // So are corrections of earlier versions. The source knows more now, and both would count.
        try deletion.delete(try own + search.corrections(of: known.dropLast().map(\.key)))
        try deletion.updateDerived()
        return .stored
    }

    /// Registers an earlier version of an open record as the latest one, because its source reported the same value again.
    ///
    /// - Parameter form: The repaired sample, if the reading arrived as a repair made it.
    func claimAgain(_ received: RecordIdentifier, at arrived: SampleKey, form: SampleKey?) throws(StoreError) {
        let table = connection.records
        reader.forgetTraces()
        let key = try form.map { form throws(StoreError) in try reader.root(of: form) } ?? arrived
        guard let highest = try versions(of: received, in: arrived.series).last(where: { $0.hasNumber(of: received) }) else {
            return
        }
        // Usually nothing has changed.
        if highest.key == key, highest.entry == 0 { return }
        guard let next = received.following(highest.number),
            try reader.measurement(of: key).history.state(of: key) == .superseded
        else { return }
        // A value that changes back and forth has one version for each entry.
        try table.remove(madeBy: ingest, received.id, at: key)
        try table.add(next, at: key, isAcross: acrossDevices, by: ingest)
        let deletion = Deletion(connection: connection, ingest: ingest, of: people)
        try LiveSampleUpdate(deletion).update([key])
        try deletion.updateDerived()
    }

    /// Returns the place of a newer edition of the record that this is a part of.
    private func newerEdition(of record: RecordIdentifier, in series: Int64) throws(StoreError) -> SampleKey? {
        guard let whole = record.whole,
            let newest = try reader.versions(of: whole, in: series, acrossDevices: false).last, newest.number > record.version
        else { return nil }
        return newest.key
    }
}

extension Sample {
    /// Whether another version of the record has the same number, unit, and time.
    func hasSameReading(as other: Sample) -> Bool {
        numeral.canonicalText == other.numeral.canonicalText && unit.code == other.unit.code && nominalStart == other.nominalStart
            && end.microseconds - start.microseconds == other.end.microseconds - other.start.microseconds
    }
}
