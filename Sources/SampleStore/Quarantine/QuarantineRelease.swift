import HealthModel
import Pipeline

extension SampleStore.Quarantine {
    /// Stores the quarantined readings whose type or case an earlier version did not know and this one does, such as those of a newer phone.
    /// The same file needs no second import: its readings are then duplicates of these samples.
    ///
    /// The word of a case is in the metadata `receivedCase`, or else in the received row. It does nothing if the same types and cases are
    /// known as at the last call.
    ///
    /// - Parameter received: the time now, in microseconds since 1970.
    /// - Returns: the number of samples.
    @discardableResult
    public func releaseKnown(received: Int64) throws -> Int {
        let known = Int64(bitPattern: SampleType.knownHash)
        guard try connection.settings.integer(Self.setting) != known else { return 0 }
        var (count, last, ingest): (Int, Int64, Ingest?) = (0, 0, nil)
        while true {
            let page = try quarantined(
                "state = 'held' AND rule IN (?, ?) AND id > ?",
                [.text(GateRule.unknownValue.name), .text(GateRule.unknownType.name), .integer(last)], limit: Self.page)
            guard let end = page.last else { break }
            last = end.id
            let readings = try page.compactMap { reading in
                try sample(of: reading).map {
                    GatedSample(sample: $0, rule: nil, repeats: nil, place: Place(.record, Int(reading.id)))
                }
            }
            guard !readings.isEmpty else { continue }
            let release =
                try ingest ?? store.beginIngest(IngestDescription(kind: .release, received: received, notes: [Self.note]))
            ingest = release
            _ = try release.store(readings) { _ in
                try connection.quarantine.decide(readings.map { Int64($0.place.number) }, "released", by: release.id)
                return []
            }
            count += readings.count
        }
        _ = try ingest?.finish(at: received, state: "done")
        try connection.transaction { try connection.settings.set(Self.setting, to: .integer(known)) }
        return count
    }

    /// The number of readings that are stored at a time, which bounds memory use.
    private static let page = 1000
    private static let setting = "known"
    private static let note = "this version knows the types or cases of these readings"
    /// The metadata of a reading with an unknown case: the case as received.
    private static let receivedCase = "receivedCase"

    /// Returns the sample of a reading, or `nil` if it is still unknown or its value is not possible.
    private func sample(of reading: QuarantinedSample) throws(StoreError) -> Sample? {
        var sample = reading.stored.sample
        let type = sample.origin.type
        if reading.rule == GateRule.unknownValue.name {
            guard let number = Self.number(of: reading) else { return nil }
            (sample.numeral, sample.value) = (Numeral(coefficient: Int64(number)), Double(number))
            let others = (sample.metadata?.entries ?? []).filter { $0.key != Self.receivedCase }
            sample.metadata = others.isEmpty ? nil : Metadata(others.map { ($0.key, $0.value) })
            sample.ordinal = 0
        } else {
            guard type.isKnown, let conversion = try? type.conversion(from: sample.unit) else { return nil }
            sample.value = conversion.convert(sample.numeral)
            guard sample.value.isFinite, Gate().rule(against: sample) == nil else { return nil }
        }
        // As an import computes it.
        let start = sample.nominalStart
        if let record = try connection.quarantine.row(reading.id)?.record {
            (sample.record, sample.ordinal) = (record, nil)
            sample.identity = SampleIdentity(
                series: sample.origin.seriesKey, start: start, record: record, numeral: sample.numeral, unit: sample.unit)
        } else {
            sample.identity = SampleIdentity(
                series: sample.origin.seriesKey, start: start, end: start + (sample.end.microseconds - sample.start.microseconds),
                numeral: sample.numeral, unit: sample.unit, ordinal: sample.ordinal ?? 0, method: sample.metadata?.method ?? [])
        }
        return sample
    }

    /// Returns the number of a reading's case, or `nil` if the case is still unknown.
    private static func number(of reading: QuarantinedSample) -> Int? {
        let sample = reading.stored.sample
        // An invalid number was received as such.
        guard sample.numeral == Numeral(coefficient: -1), let values = sample.origin.type.categoryValues else { return nil }
        var words = (reading.frame ?? "").split(separator: ",").filter { $0.hasPrefix("HK") }.map(String.init)
        if case .string(let word)? = sample.metadata?[receivedCase] { words.insert(word, at: 0) }
        return words.lazy.compactMap { values.value(of: $0) }.first
    }
}
