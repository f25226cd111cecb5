/// How precisely a report describes its measurement. The most precise report becomes the sample, whichever arrived first.
///
/// If two reports are equally precise, one that names its device comes first. Then the names of source and device decide, and then the
/// identity. These are the same on every hub.
public struct ReportPrecision: Hashable, Comparable, Sendable {
    /// The precision of the time and the value.
    public var measure: Measure
    /// The identifier of the source.
    public var source: String
    /// The key of the device, empty if it is unknown.
    public var device: String
    public var identity: SampleIdentity

    /// The precision of the time and the value of a report.
    public struct Measure: Hashable, Comparable, Sendable {
        /// The resolution of the time in seconds.
        public var timeResolution: Int32
        /// Whether the time is a time of arrival.
        public var isArrival: Bool
        /// Whether the value has so many digits that it is the result of a conversion.
        public var isConverted: Bool
        /// One step of the numeral's last digit, in the canonical unit.
        public var valueResolution: Double

        /// A value with more digits than a 32-bit number holds was not measured so precisely.
        private static let digits = 1e7

        /// The precision of a report.
        ///
        /// - Parameters:
        ///   - value: The value in the canonical unit.
        ///   - valueResolution: One step of the numeral's last digit, in the canonical unit.
        public init(timeResolution: Int32, isArrival: Bool, value: Double, valueResolution: Double) {
            (self.timeResolution, self.isArrival, self.valueResolution) = (timeResolution, isArrival, valueResolution)
            isConverted = abs(value) > valueResolution * Self.digits
        }

        /// Smaller means more precise.
        public static func < (one: Measure, other: Measure) -> Bool {
            if one.timeResolution != other.timeResolution { return one.timeResolution < other.timeResolution }
            if one.isArrival != other.isArrival { return other.isArrival }
            if one.isConverted != other.isConverted { return other.isConverted }
            return one.valueResolution < other.valueResolution
        }
    }

    /// A precision with its parts.
    public init(_ measure: Measure, source: String, device: String, identity: SampleIdentity) {
        (self.measure, self.source, self.device, self.identity) = (measure, source, device, identity)
    }

    /// Smaller means more precise.
    public static func < (one: ReportPrecision, other: ReportPrecision) -> Bool {
        if one.measure != other.measure { return one.measure < other.measure }
        if isBefore(one.source, one.device, other.source, other.device) { return true }
        if isBefore(other.source, other.device, one.source, one.device) { return false }
        return (one.identity.high, one.identity.low) < (other.identity.high, other.identity.low)
    }

    /// Whether reports of a source and device come before equally precise ones of another.
    public static func isBefore(_ source: String, _ device: String, _ otherSource: String, _ otherDevice: String) -> Bool {
        if device.isEmpty != otherDevice.isEmpty { return otherDevice.isEmpty }
        if source != otherSource { return source < otherSource }
        return device < otherDevice
    }
}
