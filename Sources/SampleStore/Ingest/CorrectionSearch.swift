import HealthModel

/// Finds the corrections of readings. Used inside a transaction.
struct CorrectionSearch {
    let connection: Connection

    /// The time around a reading in which its corrections are searched, in microseconds. A correction can move the start.
    private static let range: Int64 = 86_400_000_000

    /// Returns the live samples that correct versions of a record, also over other corrections. Those that moved the start by more than a day
    /// are not found, because a phone can send a version each minute.
    func corrections(of versions: [SampleKey]) throws(StoreError) -> [SampleKey] {
        var found: [SampleKey] = []
        for key in versions {
            // A corrected reading was deleted.
            guard try connection.decisions.contains(series: key.series),
                try !connection.decisions.decisions(on: key).isEmpty, try !connection.samples.contains(key),
                let identity = try connection.samples.identity(at: key)
            else { continue }
            let candidates = try candidates(key.start - Self.range...key.start + Self.range, of: key.series)
            found += Self.corrections(of: identity, among: candidates).filter { !found.contains($0) }
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
        let metadata = try connection.series.corrections()
        // Nothing was corrected in most stores.
        guard !metadata.isEmpty else { return [] }
        let (known, named) = (Set(keys), Set(metadata.values))
        var found = try corrected(by: keys)
        for key in keys {
            guard let identity = try connection.samples.identity(at: key), named.contains(identity) else { continue }
            let candidates = try candidates(.min ... .max, of: key.series) { metadata[$0] != nil }
            found += Self.corrections(of: identity, among: candidates)
        }
        return found.filter { !known.contains($0) }
    }

    private static func corrections(of identity: SampleIdentity, among candidates: [Candidate]) -> [SampleKey] {
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

    /// The corrections of the person and type of a series that start in a range, live and deleted.
    ///
    /// - Parameter mayCorrect: Whether samples with this metadata may be corrections.
    private func candidates(
        _ starts: ClosedRange<Int64>, of series: Int64, where mayCorrect: (_ metadata: Int64) -> Bool = { _ in true }
    ) throws(StoreError) -> [Candidate] {
        let decoder = SampleDecoder(connection: connection)
        var found: [Candidate] = []
        for series in try connection.series.ids(ofPersonAndTypeOf: series) {
            for rows in [SampleTable.Rows.live, .tombstones] {
                let scan = try connection.samples.scan(
                    .whole, of: series, from: starts.lowerBound, through: starts.upperBound, among: rows,
                    rows == .tombstones ? .remembered : .all, isRetained: false)
                while try scan.next() {
                    guard let metadata = scan.metadata, mayCorrect(metadata) else { continue }
                    let sample = try scan.stored(decoder).sample
                    guard let corrected = sample.corrected else { continue }
                    found.append((try scan.key, sample.identity, corrected, rows == .live))
                }
            }
        }
        return found
    }
}
