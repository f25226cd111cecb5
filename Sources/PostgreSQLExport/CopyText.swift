import Formats
import HealthModel
import Pipeline

/// Samples as rows of PostgreSQL's COPY, in its text form.
struct CopyText {
    /// In this order in each row.
    static let columns = [
        "start_time", "uuid", "end_time", "type", "value", "unit", "numeral", "numeral_unit", "zone_offset", "subject",
        "source_id",
        "source_name", "source_version", "device_key", "device_name", "device_manufacturer", "device_model", "time_origin",
        "received",
        "group_id", "metadata",
    ]

    let context: ExportContext

    func append(_ sample: QuantitySample, to octets: inout [UInt8]) {
        let (value, unit) = context.quantity(of: sample)
        let (origin, device) = (sample.origin, sample.origin.device)
        add(sample.start.description, first: true, to: &octets)
        add(sample.identity.description, to: &octets)
        add(sample.end.description, to: &octets)
        add(origin.type.id, to: &octets)
        add(value.description, to: &octets)
        add(unit.code, to: &octets)
        add(sample.numeral.text, to: &octets)
        add(sample.unit.code, to: &octets)
        add(sample.zone.map { "\($0.seconds)" }, to: &octets)
        add(origin.subject, to: &octets)
        add(origin.source.id, to: &octets)
        add(origin.source.name, to: &octets)
        add(origin.source.version, to: &octets)
        add(device?.key, to: &octets)
        add(device?.name, to: &octets)
        add(device?.manufacturer, to: &octets)
        add(device?.model, to: &octets)
        add(sample.timeOrigin.name, to: &octets)
        add(sample.received.description, to: &octets)
        add(sample.group.map(QuantitySample.groupText), to: &octets)
        add(sample.metadata?.json ?? "{}", to: &octets)
        octets.append(UInt8(ascii: "\n"))
    }

    /// A row of what is gone: its UUID, its type, what took its place.
    static func append(_ deletion: StoredDeletion, to octets: inout [UInt8]) {
        octets += deletion.uuid.description.utf8
        octets += "\t\(deletion.type.id)\t\(deletion.replacedBy ?? "\\N")\n".utf8
    }

    private func add(_ text: String?, first: Bool = false, to octets: inout [UInt8]) {
        if !first { octets.append(UInt8(ascii: "\t")) }
        guard var text else {
            octets += "\\N".utf8
            return
        }
        text.withUTF8 { bytes in
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "\\"): octets += "\\\\".utf8
                case UInt8(ascii: "\t"): octets += "\\t".utf8
                case UInt8(ascii: "\n"): octets += "\\n".utf8
                case UInt8(ascii: "\r"): octets += "\\r".utf8
                default: octets.append(byte)
                }
            }
        }
    }
}
