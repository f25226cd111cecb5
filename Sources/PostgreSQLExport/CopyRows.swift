import Formats
import HealthModel
import Pipeline

/// Encodes samples as rows of PostgreSQL's COPY. The parts that depend only on the series are encoded once.
final class CopyRows {
    /// The columns, in the order of the rows.
    static let columns = head + ["value", "unit", "numeral", "numeral_unit"] + tail
    /// The first columns of rows of every kind.
    static let head = ["start_time", "uuid", "end_time", "type"]
    /// The last columns of rows of every kind, as defined by ``ObjectRows/tail`` and ``ObjectRows/record``.
    static let tail = [
        "zone_offset", "subject", "source_id", "source_name", "source_version", "device_key", "device_name",
        "device_manufacturer", "device_model", "device_serial", "time_origin", "received", "group_id", "metadata", "record_id",
        "record_version", "identity", "variant", "print",
    ]

    /// The temporary table of quantities. It has only our columns, even if others were added to the table of samples.
    static let temporary = """
        CREATE TEMP TABLE incoming(
            start_time timestamptz NOT NULL, uuid uuid NOT NULL, end_time timestamptz NOT NULL, type text NOT NULL,
            value double precision NOT NULL, unit text NOT NULL, numeral text NOT NULL, numeral_unit text NOT NULL,
            \(ObjectRows.tail), \(ObjectRows.record)) ON COMMIT DELETE ROWS
        """

    /// The parts that all samples of a series share.
    private struct Series {
        /// Retained so that no other object can get the same identifier.
        let origin: Origin
        /// The fields from the subject to the device's serial number.
        let fields: [UInt8]
    }

    private static let empty = Array(OptionalColumns.noMetadata.utf8)

    private let context: ExportContext
    private let printer = SamplePrinter()
    private var known: [ObjectIdentifier: Series] = [:]
    private var latest: Series?
    /// The maximum number of series in memory.
    private static let maximum = 4096

    /// The columns that the rows have beside the others.
    var optional = OptionalColumns.all {
        didSet {
            guard optional != oldValue else { return }
            (known, latest, fieldCount) = ([:], nil, optional.columns.count)
        }
    }
    private var fieldCount = CopyRows.columns.count

    init(_ context: ExportContext) { self.context = context }

    /// The hash of the content of a sample's row (`print`).
    func print(of sample: Sample) -> UInt64 {
        let (value, unit) = sample.origin.kind == .quantity ? context.quantity(of: sample) : (sample.value, sample.unit)
        return printer.print(of: sample, value: value, unit: unit)
    }

    /// Appends the row of a quantity.
    ///
    /// - Parameter hub: the hub that has it, for a row of the table of samples, or `nil` for one of the temporary table.
    func append(_ sample: Sample, hub: Int32? = nil, to row: inout CopyRow) {
        row.begin(fields: fieldCount + (hub == nil ? 0 : 1))
        let (value, unit) = context.quantity(of: sample)
        appendHead(of: sample, to: &row)
        row.add(value)
        row.add(unit.code)
        row.add(sample.numeral.text)
        row.add(sample.unit.code)
        appendTail(of: sample, to: &row)
        if let hub { row.add([hub]) }
    }

    /// Appends the fields from the start to the type, which begin rows of every kind.
    func appendHead(of sample: Sample, to row: inout CopyRow) {
        row.add(sample.start)
        row.add(sample.identity)
        row.add(sample.end)
        row.add(sample.origin.type.id)
    }

    /// Appends the fields from the zone to the inputs of the UUID, which rows of every kind have.
    func appendTail(of sample: Sample, to row: inout CopyRow) {
        if optional.contains(.zone) { row.add(sample.zone.map { Int32($0.seconds) }) }
        row.add(encoded: series(of: sample.origin).fields)
        row.add(sample.timeOrigin.name)
        row.add(sample.received)
        if optional.contains(.group) { row.add(sample.group.map(Sample.groupText)) }
        if optional.contains(.metadata) { row.add(json: sample.metadata.map { Array($0.json.utf8) } ?? Self.empty) }
        if optional.contains(.record) {
            row.add(sample.record?.id)
            row.add(sample.record?.version)
        }
        if optional.contains(.identity) { row.add(json: identity(of: sample)) }
        row.add(ConflictRows.variant(of: sample))
        row.add(Int64(bitPattern: print(of: sample)))
    }

    /// Whether the row cannot be read back without other inputs of the UUID.
    static func hasIdentity(_ sample: Sample) -> Bool {
        sample.nominalStart != sample.start.microseconds || sample.timeResolution != 1
            || (sample.record == nil && sample.ordinal != 0) || sample.unit.molarMass != nil
    }

    /// Returns the inputs of the UUID that are not in the row, as in NDJSON lines. `nil` if the row can be read back without
    /// them.
    private func identity(of sample: Sample) -> [UInt8]? {
        guard Self.hasIdentity(sample) else { return nil }
        var object = JSONObject()
        if sample.record == nil {
            // A repair made a sample without an ordinal, so its UUID depends on a sample that no longer exists.
            if let ordinal = sample.ordinal { object.set("ordinal", Int(ordinal)) } else { object.set("repaired", true) }
        }
        if sample.nominalStart != sample.start.microseconds {
            object.set("nominalStart", Int(sample.nominalStart))
            object.set("nominalEnd", Int(sample.nominalStart &+ (sample.end.microseconds &- sample.start.microseconds)))
        }
        if sample.timeResolution != 1 { object.set("resolution", Int(sample.timeResolution)) }
        if let molarMass = sample.unit.molarMass { object.set("molarMass", molarMass) }
        return Array(object.closed)
    }

    private func series(of origin: Origin) -> Series {
        if let latest, latest.origin === origin { return latest }
        let key = ObjectIdentifier(origin)
        if known.count >= Self.maximum { known.removeAll() }
        let series = known[key] ?? Series(origin: origin, fields: fields(of: origin))
        known[key] = series
        latest = series
        return series
    }

    private func fields(of origin: Origin) -> [UInt8] {
        var row = CopyRow()
        let device = origin.device
        for text in [origin.person, origin.source.id, origin.source.name] { row.add(text) }
        if optional.contains(.version) { row.add(origin.source.version) }
        if optional.contains(.device) {
            for text in [device?.key, device?.name, device?.manufacturer, device?.model, device?.serial] { row.add(text) }
        }
        return row.bytes
    }
}
