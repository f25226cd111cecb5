import HealthModel

/// One sample as a row of CSV: the fields of its line (``SampleLine``), flat.
package enum SampleCells {
    /// The cells' names, in order.
    package static let columns = [
        "uuid", "kind", "type", "value", "unit", "case", "start", "end", "zone", "subject", "source.id", "source.name",
        "source.version",
        "device.key", "device.name", "device.manufacturer", "device.model", "device.serial", "device.hardware", "device.firmware",
        "device.software", "device.udi", "original.value", "original.unit", "time.origin", "time.received", "group", "metadata",
        "name", "date", "result", "range", "interpretation", "ingest", "seq",
    ]

    /// The cells, with missing values empty.
    ///
    /// - Parameters:
    ///   - value: The value in `unit`.
    ///   - text: The value of an object without a number of its own, such as `124/79`, in `unit`.
    ///   - me: The person that is written as `me`.
    package static func cells(_ stored: StoredSample, value: Double, text: String? = nil, unit: Unit, me: String) -> [String] {
        let sample = stored.sample
        let (source, device) = (sample.origin.source, sample.origin.device)
        let isAmount = sample.origin.kind == .quantity
        let record = sample.origin.kind == .clinicalRecord ? try? sample.body?.decoded(as: ClinicalRecord.self) : nil
        let result = record?.result
        // A limit such as <5 is not the value.
        let own = result?.amount == nil ? nil : result?.quantity
        let number = isAmount ? value.description : own?.value ?? text ?? number(of: sample)
        let shown = isAmount || text != nil ? unit.code : own.flatMap { $0.code ?? $0.unit } ?? ""
        return [
            stored.uuid.description, sample.origin.kind.name, sample.origin.type.id,
            number, shown,
            sample.origin.type.caseName(of: sample.value) ?? "",
            sample.start.description,
            sample.end.description, sample.zone?.description ?? "", sample.origin.person == me ? "me" : sample.origin.person,
            source.id, source.name, source.version ?? "", device?.key ?? "", device?.name ?? "", device?.manufacturer ?? "",
            device?.model ?? "", device?.serial ?? "", device?.hardware ?? "", device?.firmware ?? "", device?.software ?? "",
            device?.udi ?? "", isAmount ? sample.numeral.text : own?.value ?? "",
            isAmount ? sample.unit.code : own?.unit ?? "", sample.timeOrigin.name,
            sample.received.description,
            sample.group.map(Sample.groupText) ?? "", metadata(sample.metadata),
            record?.displayName ?? "", record?.date ?? "", result?.text ?? "",
            (result?.ranges ?? []).map(\.text).joined(separator: "; "),
            (result?.interpretation ?? []).joined(separator: "; "), "\(stored.ingest)", "\(stored.seq)",
        ]
    }

    /// The number of a sample that is not an amount: a category's case, a valence, a score. Empty for kinds without one.
    private static func number(of sample: Sample) -> String {
        switch sample.origin.kind {
        case .correlation, .activitySummary, .workoutRoute, .heartbeatSeries, .audiogram, .clinicalRecord, .document: ""
        default: Int(exactly: sample.value).map { "\($0)" } ?? sample.value.description
        }
    }

    /// The metadata as in a line of NDJSON.
    private static func metadata(_ metadata: Metadata?) -> String {
        guard let metadata else { return "{}" }
        var bytes: [UInt8] = []
        JSONText.append(json: metadata.json.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
