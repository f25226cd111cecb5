import Formats
import HealthModel
import Pipeline

/// Encodes samples as rows of PostgreSQL's COPY in text form. The parts that depend only on the series are encoded once.
final class CopyText {
    /// The columns, in the order of the rows.
    static let columns = head + ["value", "unit", "numeral", "numeral_unit"] + tail
    /// The first columns of rows of every kind.
    static let head = ["start_time", "uuid", "end_time", "type"]
    /// The last columns of rows of every kind, as defined by ``ObjectRows/tail`` and ``ObjectRows/record``.
    static let tail = [
        "zone_offset", "subject", "source_id", "source_name", "source_version", "device_key", "device_name",
        "device_manufacturer", "device_model", "time_origin", "received", "group_id", "metadata", "record_id", "record_version",
        "identity",
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
        /// The cells from the subject to the device's model, each after a tab.
        let cells: [UInt8]
    }

    private let context: ExportContext
    private var times = ZonedTimeText()
    private var known: [ObjectIdentifier: Series] = [:]
    private var latest: Series?
    /// The maximum number of series in memory.
    private static let most = 4096

    init(_ context: ExportContext) { self.context = context }

    /// Appends the row of a quantity.
    ///
    /// - Parameter last: another cell after the columns, or `nil` for none.
    func append(_ sample: Sample, last: String? = nil, to octets: inout [UInt8]) {
        let (value, unit) = context.quantity(of: sample)
        appendHead(of: sample, to: &octets)
        Self.add(value.description, to: &octets)
        Self.add(unit.code, to: &octets)
        Self.add(sample.numeral.text, to: &octets)
        Self.add(sample.unit.code, to: &octets)
        appendTail(of: sample, to: &octets)
        if let last { Self.add(last, to: &octets) }
        octets.append(UInt8(ascii: "\n"))
    }

    /// Appends the cells from the start to the type, which begin rows of every kind.
    func appendHead(of sample: Sample, to octets: inout [UInt8]) {
        times.append(sample.start, nil, to: &octets)
        octets.append(Self.tab)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleIdentity.textLength) { buffer in
            octets.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<sample.identity.write(into: buffer)]))
        }
        octets.append(Self.tab)
        times.append(sample.end, nil, to: &octets)
        Self.add(sample.origin.type.id, to: &octets)
    }

    /// Appends the cells from the zone to the metadata, which rows of every kind have.
    func appendTail(of sample: Sample, to octets: inout [UInt8]) {
        Self.add(sample.zone.map { "\($0.seconds)" }, to: &octets)
        octets += series(of: sample.origin).cells
        Self.add(sample.timeOrigin.name, to: &octets)
        octets.append(Self.tab)
        times.append(sample.received, nil, to: &octets)
        Self.add(sample.group.map(Sample.groupText), to: &octets)
        Self.add(sample.metadata?.json ?? "{}", to: &octets)
        Self.add(sample.record?.id, to: &octets)
        Self.add(sample.record.map { "\($0.version)" }, to: &octets)
        Self.add(identity(of: sample), to: &octets)
    }

    /// Returns the inputs of the UUID that are not in the row, as in NDJSON lines. `nil` if the row can be read back without
    /// them.
    private func identity(of sample: Sample) -> String? {
        var object = JSONObject()
        var isNeeded = false
        if sample.record == nil {
            if let ordinal = sample.ordinal {
                object.set("ordinal", Int(ordinal))
                isNeeded = ordinal > 0
            } else {
                // A repair made it, so its UUID depends on a sample that no longer exists.
                object.set("repaired", true)
                isNeeded = true
            }
        }
        if sample.nominalStart != sample.start.microseconds {
            object.set("nominalStart", Int(sample.nominalStart))
            object.set("nominalEnd", Int(sample.nominalStart &+ (sample.end.microseconds &- sample.start.microseconds)))
            isNeeded = true
        }
        if sample.timeResolution != 1 {
            object.set("resolution", Int(sample.timeResolution))
            isNeeded = true
        }
        if let molarMass = sample.unit.molarMass {
            object.set("molarMass", molarMass)
            isNeeded = true
        }
        return isNeeded ? String(decoding: object.closed, as: UTF8.self) : nil
    }

    private func series(of origin: Origin) -> Series {
        if let latest, latest.origin === origin { return latest }
        let key = ObjectIdentifier(origin)
        if known.count >= Self.most { known.removeAll() }
        let series = known[key] ?? Series(origin: origin, cells: Self.cells(of: origin))
        known[key] = series
        latest = series
        return series
    }

    private static func cells(of origin: Origin) -> [UInt8] {
        var cells: [UInt8] = []
        let device = origin.device
        for text in [
            origin.subject, origin.source.id, origin.source.name, origin.source.version, device?.key, device?.name,
            device?.manufacturer, device?.model,
        ] { add(text, to: &cells) }
        return cells
    }

    /// Appends the row of a deleted sample: its UUID, its type, its replacement, and its person.
    static func append(_ deletion: StoredDeletion, to octets: inout [UInt8]) {
        octets += deletion.uuid.description.utf8
        octets += "\t\(deletion.type.id)\t\(deletion.replacedBy ?? "\\N")".utf8
        add(deletion.sample.origin.subject, to: &octets)
        octets.append(UInt8(ascii: "\n"))
    }

    private static let tab = UInt8(ascii: "\t")

    /// Appends a tab and a cell.
    static func add(_ text: String?, to octets: inout [UInt8]) {
        octets.append(tab)
        guard var text else {
            octets += "\\N".utf8
            return
        }
        text.withUTF8 { add(escaped: $0, to: &octets) }
    }

    /// Appends a tab and a cell of UTF-8 bytes.
    static func add(octets cell: [UInt8], to octets: inout [UInt8]) {
        octets.append(tab)
        cell.withUnsafeBufferPointer { add(escaped: $0, to: &octets) }
    }

    private static func add(escaped bytes: UnsafeBufferPointer<UInt8>, to octets: inout [UInt8]) {
        guard bytes.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\\") }) else {
            return octets.append(contentsOf: bytes)
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\\"): octets += "\\\\".utf8
            case tab: octets += "\\t".utf8
            case UInt8(ascii: "\n"): octets += "\\n".utf8
            case UInt8(ascii: "\r"): octets += "\\r".utf8
            default: octets.append(byte)
            }
        }
    }
}
