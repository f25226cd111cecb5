/// How precisely a report describes its measurement. The most precise report becomes the sample, whichever arrived first. No two reports of a
/// measurement are equal, so the order of arrival does not matter.
public struct ReportPrecision: Hashable, Comparable, Sendable {
    /// Whether it was reported together with other values, such as the two of a blood pressure. A report without them would part the pair.
    public var isGrouped: Bool
    /// The precision of the time and the value.
    public var measure: Measure
    /// The source and the device, which order equally precise reports.
    public var path: ReportPath
    /// The UUID, which orders equally precise reports of one path.
    public var identity: SampleIdentity

    /// The precision of the time and the value of a report.
    public struct Measure: Hashable, Comparable, Sendable {
        /// The resolution of the time in seconds, at least a minute if the time is a whole minute: many programs write `06:31:00` for 06:31.
        public var timeResolution: Int32
        /// Whether the time is a time of arrival.
        public var isArrival: Bool
        /// Whether the number of digits shows that the value is the result of a conversion.
        public var isConverted: Bool
        /// One step of the numeral's last digit, in the canonical unit.
        public var valueResolution: Double

        /// A value with more digits than a 32-bit number holds was not measured so precisely.
        private static let digits = 1e7

        /// The precision of a report.
        ///
        /// - Parameters:
        ///   - start: The time in microseconds since 1970.
        ///   - value: The value in the canonical unit.
        ///   - valueResolution: One step of the numeral's last digit, in the canonical unit.
        public init(start: Int64, timeResolution: Int32, isArrival: Bool, value: Double, valueResolution: Double) {
            self.timeResolution = start % 60_000_000 == 0 ? max(timeResolution, 60) : timeResolution
            (self.isArrival, self.valueResolution) = (isArrival, valueResolution)
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
    public init(isGrouped: Bool = false, _ measure: Measure, path: ReportPath, identity: SampleIdentity) {
        (self.isGrouped, self.measure, self.path, self.identity) = (isGrouped, measure, path, identity)
    }

    /// Smaller means more precise.
    public static func < (one: ReportPrecision, other: ReportPrecision) -> Bool {
        if one.isGrouped != other.isGrouped { return one.isGrouped }
        if one.measure != other.measure { return one.measure < other.measure }
        if one.path != other.path { return one.path < other.path }
        return one.identity < other.identity
    }
}
