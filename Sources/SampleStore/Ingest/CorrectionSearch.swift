import HealthModel

/// Finds the corrections of readings. Used inside a transaction.
struct CorrectionSearch {
    let connection: Connection

    /// The time around a reading in which its corrections are searched, in microseconds. A correction can move the start.
    private static let range: Int64 = 86_400_000_000

    /// Returns the live samples that correct versions of a record, also over other corrections.
    func corrections(of versions: [SampleKey]) throws(StoreError) -> [SampleKey] {
        var found: [SampleKey] = []
        for key in versions {
            // A corrected reading was deleted.
            guard try connection.decisions.contains(series: key.series),
                try !connection.decisions.decisions(on: key).isEmpty, try !connection.samples.contains(key),
                let identity = try connection.samples.identity(at: key)
            else { continue }
            found += try corrections(of: identity, near: key).filter { !found.contains($0) }
        }
        return found
    }

    /// Returns the live samples that these readings correct, also over other corrections, and live versions of the corrected records.
    func corrected(by corrections: [SampleKey]) throws(StoreError) -> [SampleKey] {
        let samples = connection.samples
        var (found, queue): ([SampleKey], [SampleKey]) = ([], corrections)
        var seen: Set<SampleKey> = []
        while let key = queue.popLast() {
            guard seen.insert(key).inserted, let uuid = try connection.anySample(at: key)?.corrected else { continue }
            for series in try connection.series.ids(ofPersonAndTypeOf: key.series) {
                for earlier in try samples.keys(of: uuid, among: .tombstones, ofSeries: series) {
                    queue.append(earlier)
                    found += try versions(ofRecordsOf: earlier)
                }
                for earlier in try samples.keys(of: uuid, among: .live, ofSeries: series) where try samples.contains(earlier) {
                    found.append(earlier)
                }
            }
        }
        return found
    }

    private func versions(ofRecordsOf key: SampleKey) throws(StoreError) -> [SampleKey] {
        let reader = MeasurementReader(connection: connection)
        var live: [SampleKey] = []
        for id in try reader.recordIDs(of: key) {
            for version in try reader.versions(of: id, in: key.series, acrossDevices: true) {
                let form = try reader.form(of: version.key)
                if form.series == version.key.series, try connection.samples.contains(form) { live.append(form) }
            }
        }
        return live
    }

    /// Returns the live samples that must not count beside these readings: their corrections, and what they correct.
    func conflicts(with keys: [SampleKey]) throws(StoreError) -> [SampleKey] {
        let known = Set(keys)
        return try (corrections(of: keys) + corrected(by: keys)).filter { !known.contains($0) }
    }

    private func corrections(of identity: SampleIdentity, near key: SampleKey) throws(StoreError) -> [SampleKey] {
        let candidates = try candidates(near: key)
        var (found, queue): ([SampleKey], [SampleIdentity]) = ([], [identity])
        var seen: Set<SampleIdentity> = []
        while let corrected = queue.popLast() {
            guard seen.insert(corrected).inserted else { continue }
            for candidate in candidates where candidate.corrected == corrected {
                queue.append(candidate.identity)
                if candidate.isLive { found.append(candidate.key) }
            }
        }
        return found
    }

    private typealias Candidate = (key: SampleKey, identity: SampleIdentity, corrected: SampleIdentity, isLive: Bool)

    /// The corrections of the same person and type near a reading, live and deleted.
    private func candidates(near key: SampleKey) throws(StoreError) -> [Candidate] {
        let decoder = SampleDecoder(connection: connection)
        var found: [Candidate] = []
        for series in try connection.series.ids(ofPersonAndTypeOf: key.series) {
            for rows in [SampleTable.Rows.live, .tombstones] {
                let scan = try connection.samples.scan(
                    .whole, of: series, from: key.start - Self.range, through: key.start + Self.range, among: rows,
                    rows == .tombstones ? .remembered : .all, isRetained: false)
                while try scan.next() {
                    guard scan.metadata != nil else { continue }
                    let sample = try scan.stored(decoder).sample
                    guard let corrected = sample.corrected else { continue }
                    found.append((try scan.key, sample.identity, corrected, rows == .live))
                }
            }
        }
        return found
    }
}
