import HealthModel

/// Blood pressure correlations derived from frames. If a cuff's frame brought a systolic and a diastolic pressure in one group, and no
/// stored correlation contains either, queries return the two as a correlation, as HealthKit does. Nothing of it is stored
/// (Decisions/0029).
final class DerivedCorrelations {
    private let connection: Connection
    private let decoder: SampleDecoder
    private let stored: CorrelatedSamples
    /// The series of diastolic pressures of the same frames, by the id of a series of systolic ones, and the reverse.
    private let partners: [Int64: SeriesDescription]

    /// The type of the derived correlations.
    static let type: SampleType = {
        guard let type = SampleType("bloodPressure") else { preconditionFailure("the catalogue has bloodPressure") }
        return type
    }()

    init(connection: Connection, all: [SeriesDescription]) {
        self.connection = connection
        decoder = SampleDecoder(connection: connection)
        stored = CorrelatedSamples(
            connection: connection, series: all.filter { $0.type == Self.type },
            rememberingDeletedOf: Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.source) }))
        var partners: [Int64: SeriesDescription] = [:]
        for (own, other) in [
            (SampleType.bloodPressureSystolic, SampleType.bloodPressureDiastolic),
            (.bloodPressureDiastolic, .bloodPressureSystolic),
        ] {
            var byOrigin: [[String]: SeriesDescription] = [:]
            for series in all where series.type == other { byOrigin[Self.key(series)] = series }
            for series in all where series.type == own { partners[series.id] = byOrigin[Self.key(series)] }
        }
        self.partners = partners
    }

    private static func key(_ series: SeriesDescription) -> [String] { [series.person, series.source, series.device] }

    /// Returns the correlation of a systolic pressure and the diastolic one of its frame, or `nil` if there is none or it is stored.
    func correlation(of systolic: StoredSample, series: Int64) throws(StoreError) -> StoredSample? {
        guard let (key, diastolic) = try partner(of: systolic.sample, series: series) else { return nil }
        let own = SampleKey(series: series, start: systolic.sample.start.microseconds, of: systolic.uuid)
        guard try !stored.contain(own), try !stored.contain(key) else { return nil }
        return join(systolic, diastolic, series)
    }

    /// Whether a pressure belongs to a derived correlation. False if a stored one contains it.
    func contain(_ sample: Sample, series: Int64) throws(StoreError) -> Bool {
        guard let (key, _) = try partner(of: sample, series: series) else { return false }
        let own = SampleKey(series: series, start: sample.start.microseconds, of: sample.identity)
        guard try !stored.contain(own) else { return false }
        return try !stored.contain(key)
    }

    /// Returns the other pressure of the frame. If several measurements have the same start and group, they are paired in the order of
    /// arrival.
    private func partner(of sample: Sample, series: Int64) throws(StoreError) -> (key: SampleKey, stored: StoredSample)? {
        guard let group = sample.group, let other = partners[series] else { return nil }
        let own = try rows(of: group, at: sample.start, in: series)
        guard let turn = own.firstIndex(where: { $0.uuid == sample.identity }) else { return nil }
        let others = try rows(of: group, at: sample.start, in: other.id)
        guard turn < others.count else { return nil }
        let found = others[turn]
        return (SampleKey(series: other.id, start: found.sample.start.microseconds, of: found.uuid), found)
    }

    /// Returns the samples of a group with this start, in the order of arrival.
    private func rows(of group: UInt64, at start: Instant, in series: Int64) throws(StoreError) -> [StoredSample] {
        let start = start.microseconds
        let rows = try connection.samples.scan(
            .whole, of: series, from: start, through: start, .group(group), order: .arrival, limit: 64)
        var found: [StoredSample] = []
        while try rows.next() { found.append(try rows.stored(decoder)) }
        return found
    }

    /// Combines the two pressures. The UUID depends only on their UUIDs, so it is the same on every hub and in every query.
    private func join(_ systolic: StoredSample, _ diastolic: StoredSample, _ series: Int64) -> StoredSample? {
        let first = systolic.sample
        let correlation = Correlation(objects: [systolic.uuid, diastolic.uuid])
        guard let body = try? SampleBody(encoding: correlation) else { return nil }
        let origin = Origin(
            person: first.origin.person, type: Self.type, source: first.origin.source, device: first.origin.device)
        let record = RecordIdentifier(id: "vitalgate-correlation-1 \(systolic.uuid) \(diastolic.uuid)", version: 1)
        var header = first.header
        header.origin = origin
        header.identity = SampleIdentity(series: origin.seriesKey, start: first.nominalStart, record: record)
        header.ordinal = nil
        header.end = max(first.end, diastolic.sample.end)
        header.received = max(first.received, diastolic.sample.received)
        header.metadata = nil
        header.body = body
        let later = systolic.seq > diastolic.seq ? systolic : diastolic
        return StoredSample(
            sample: Sample(header: header, value: 0, numeral: Numeral(coefficient: 0), unit: Self.type.canonicalUnit),
            ingest: later.ingest, seq: later.seq)
    }
}

extension SampleStore.Samples {
    /// Returns the derived blood pressure with this UUID, or `nil` if there is none. The UUID contains the start of its systolic pressure.
    public func derivedCorrelation(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        let all = try store.allSeries()
        let derived = DerivedCorrelations(connection: connection, all: all)
        let decoder = SampleDecoder(connection: connection)
        let low = Int64(uuid.milliseconds) * 1000
        for series in all where series.type == .bloodPressureSystolic {
            let rows = try table.scanGrouped(of: series.id, nominal: low, through: low + 999)
            while try rows.next() {
                let systolic = try rows.stored(decoder)
                if let found = try derived.correlation(of: systolic, series: series.id), found.uuid == uuid { return found }
            }
        }
        return nil
    }
}
