import HealthModel
import Pipeline

extension SampleStore.Quarantine {
    /// Stores the quarantined readings whose case an earlier version did not know and this one does, such as a case of a newer phone. The
    /// same file needs no second import: its readings are then duplicates of these samples.
    ///
    /// The word of the case is in the metadata `receivedCase`, or else in the received row. It does nothing if the types have the same cases as at the last call.
    ///
    /// - Parameter received: the time now, in microseconds since 1970.
    /// - Returns: the number of samples.
    @discardableResult
    public func releaseKnownCases(received: Int64) throws -> Int {
        let cases = Int64(bitPattern: SampleType.caseHash)
        guard try connection.settings.integer(Self.setting) != cases else { return 0 }
        var known: [(id: Int64, sample: Sample)] = []
        for reading in try all() where reading.rule == GateRule.unknownValue.name {
            if let sample = Self.sample(of: reading) { known.append((reading.id, sample)) }
        }
        if !known.isEmpty {
            let ingest = try store.beginIngest(
                IngestDescription(
                    kind: .release, received: received,
                    notes: ["this version knows the cases of \(known.count) quarantined readings"]))
            let batch = known.map { GatedSample(sample: $0.sample, rule: nil, repeats: nil, place: Place(.record, Int($0.id))) }
            _ = try ingest.store(batch) { _ in
                try connection.quarantine.judge(known.map { $0.id }, "released", by: ingest.id)
                return []
            }
            _ = try ingest.finish(at: received, state: "done")
        }
        try connection.transaction { try connection.settings.set(Self.setting, to: .integer(cases)) }
        return known.count
    }

    private static let setting = "cases"
    /// The metadata of a reading with an unknown case: the case as received.
    private static let receivedCase = "receivedCase"

    /// Returns the sample of a reading with an unknown case, or `nil` if the case is still unknown.
    private static func sample(of reading: QuarantinedSample) -> Sample? {
        var sample = reading.stored.sample
        // An invalid number was received as such.
        guard sample.numeral == Numeral(coefficient: -1), let values = sample.origin.type.categoryValues else { return nil }
        let entries = sample.metadata?.entries ?? []
        var words = (reading.frame ?? "").split(separator: ",").filter { $0.hasPrefix("HK") }.map(String.init)
        if case .string(let word)? = sample.metadata?[receivedCase] { words.insert(word, at: 0) }
        guard let number = words.lazy.compactMap({ values.value(of: $0) }).first else { return nil }
        let others = entries.filter { $0.key != receivedCase }
        sample.metadata = others.isEmpty ? nil : Metadata(others.map { ($0.key, $0.value) })
        sample.numeral = Numeral(coefficient: Int64(number))
        sample.value = Double(number)
        guard sample.record == nil else { return sample }
        sample.ordinal = 0
        // As an import computes it.
        let start = sample.nominalStart
        sample.identity = SampleIdentity(
            series: sample.origin.seriesKey, start: start, end: start + (sample.end.microseconds - sample.start.microseconds),
            numeral: sample.numeral, unit: sample.unit, ordinal: 0, method: sample.metadata?.method ?? [])
        return sample
    }
}
