/// The path of a report: its source and its device. Two readings of one path in one unit are two readings.
public struct ReportPath: Hashable, Comparable, Sendable {
    /// The id of the source.
    public var source: String
    /// The device's key, empty if the report does not name its device.
    public var device: String
    /// Whether it is a row of the general table, which `export --format report` writes as well. Such a row may be a copy of any report.
    public var isTable: Bool

    /// The source of the general table. Names of other sources follow it.
    private static let table = "file.generic-csv"

    /// A path with its parts.
    public init(source: String, device: String) {
        (self.source, self.device) = (source, device)
        isTable = source == Self.table || source.hasPrefix(Self.table + ".")
    }

    /// The path of the readings of an origin.
    public init(_ origin: Origin) { self.init(source: origin.source.id, device: origin.device?.key ?? "") }

    /// Whether it names its device.
    public var namesDevice: Bool { !device.isEmpty }

    /// The order of equally precise reports. The sample is of the smallest path: one that names its device, one of another source than the
    /// general table, and then the first of the names.
    public static func < (one: ReportPath, other: ReportPath) -> Bool {
        if one.namesDevice != other.namesDevice { return one.namesDevice }
        if one.isTable != other.isTable { return other.isTable }
        return (one.source, one.device) < (other.source, other.device)
    }
}

extension DeviceRelation {
    /// The relation of two paths of one person and type. Returns `nil` if their readings are never one measurement.
    ///
    /// If one source distinguishes two devices, they are two devices.
    public init?(paths one: Origin, _ other: Origin) {
        self.init(paths: one, other, makers: (DeviceMaker(one), DeviceMaker(other)))
    }

    /// Compares two paths whose makers are known, or are found if they are needed.
    package init?(paths one: Origin, _ other: Origin, makers: @autoclosure () -> (DeviceMaker?, DeviceMaker?)) {
        let isSameSource = one.source.id == other.source.id
        if ReferenceRule.isClient(one.source.id) || ReferenceRule.isClient(other.source.id) {
            // A client distinguishes its devices itself.
            guard !isSameSource else { return nil }
            self = .copy
        } else if isSameSource, ReportPath(one).namesDevice, ReportPath(other).namesDevice {
            self = .other
        } else {
            self.init(one, other, makers: makers())
        }
    }
}
