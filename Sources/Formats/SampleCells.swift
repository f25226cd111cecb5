import HealthModel

/// One sample as a row of CSV: the fields of its line (``SampleLine``), flat.
public enum SampleCells {
    /// The cells' names, in order.
    public static let columns = [
        "uuid", "kind", "type", "value", "unit", "case", "start", "end", "zone", "subject", "source.id", "source.name",
        "source.version",
        "device.key", "device.name", "device.manufacturer", "device.model", "device.serial", "device.hardware", "device.firmware",
        "device.software", "device.udi", "original.value", "original.unit", "time.origin", "time.received", "group", "metadata",
        "ingest", "seq",
    ]

    /// The cells, with missing values empty.
    ///
    /// - Parameters:
    ///   - value: The value in `unit`.
    ///   - text: The value of an object without a number of its own, such as `124/79`, in `unit`.
    ///   - me: The person that is written as `me`.
    public static func cells(_ stored: StoredSample, value: Double, text: String? = nil, unit: Unit, me: String) -> [String] {
        let sample = stored.sample
        let (source, device) = (sample.origin.source, sample.origin.device)
        let isAmount = sample.origin.kind == .quantity
        return [
            stored.uuid.description, sample.origin.kind.name, sample.origin.type.id,
            isAmount ? value.description : text ?? number(of: sample), isAmount || text != nil ? unit.code : "",
            sample.origin.type.caseName(of: sample.value) ?? "",
            sample.start.description,
            sample.end.description, sample.zone?.description ?? "", sample.origin.subject == me ? "me" : sample.origin.subject,
            source.id, source.name, source.version ?? "", device?.key ?? "", device?.name ?? "", device?.manufacturer ?? "",
            device?.model ?? "", device?.serial ?? "", device?.hardware ?? "", device?.firmware ?? "", device?.software ?? "",
            device?.udi ?? "", isAmount ? sample.numeral.text : "", isAmount ? sample.unit.code : "", sample.timeOrigin.name,
            sample.received.description,
            sample.group.map(Sample.groupText) ?? "", metadata(sample.metadata), "\(stored.ingest)", "\(stored.seq)",
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
