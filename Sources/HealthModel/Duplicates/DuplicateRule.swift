/// The comparison of readings of a type, if the same measurement may arrive over two paths: first from a sensor, and later from its maker's
/// file with times cut to the minute and values rounded or converted.
///
/// Times and values are compared at the coarser resolution of the two (``Agreement``). If they agree, the devices of the two paths
/// (``DeviceRelation``) decide whether they are the same measurement:
///
///     rule      | same family | family unknown | other device | types
///     spot      | duplicate   | duplicate      | linked       | measured occasionally: weight, pressure, temperature, glucose
///     stream    | duplicate   | two            | two          | measured continuously, so that equal values mean little: heart rate
///     event     | duplicate   | linked         | linked       | done or taken at a moment, counted: insulin, puffs
///     interval  | duplicate   | linked         | linked       | counted from start to end: steps, energy
///     none      | two         | two            | two          | each one counts: the intervals between heartbeats
///
/// A sample saved by a program never makes a reading from a device or a file its duplicate. The two are linked.
///
/// Linked readings are both kept. Statistics count one of them.
public enum DuplicateRule: String, Hashable, Sendable, CaseIterable {
    case spot, stream, event, interval, none
    /// For one path that reports a reading again in another unit, at the same times, for any type.
    case unit
    /// For a version of a record that arrived after a higher one. It is not a report of the same measurement: it replaces nothing, and
    /// comes forward if the higher one no longer counts.
    case version

    /// The relation of two readings that agree.
    public enum Verdict: String, Hashable, Sendable {
        /// One measurement. The most precise report becomes the sample (``ReportPrecision``), and the other its duplicate.
        case duplicate
        /// Two devices measured the same. Both stay.
        case linked
        /// Two measurements.
        case two
    }

    /// The rule of a type, for interval samples or for instantaneous ones.
    public static func of(_ type: SampleType, lasting: Bool) -> DuplicateRule {
        if let exception = exceptions[type.id] { return exception }
        // Other objects are more than their number, so equal numbers may be different things.
        guard [.quantity, .category, .workout].contains(type.kind) else { return .none }
        switch type.aggregation {
        // A category records an interval or a moment: sleep, a symptom.
        case .cumulative, .none: return lasting ? .interval : .event
        case .discreteArithmetic: return .spot
        case .discreteTemporallyWeighted, .discreteEquivalentContinuousLevel: return .stream
        }
    }

    /// The verdict from the table above.
    public func verdict(_ relation: DeviceRelation) -> Verdict {
        switch (self, relation) {
        case (.unit, _), (.version, _): .duplicate
        case (.none, _), (.stream, .unknown), (.stream, .other): .two
        case (_, .copy): .linked
        case (_, .same), (.spot, .unknown): .duplicate
        case (.spot, .other), (.event, _), (.interval, _): .linked
        }
    }

    /// Whether a sensor on the body may measure a type continuously, although most readings of the type are occasional.
    public static func mayBeStreamed(_ type: SampleType) -> Bool { streamed.contains(type.id) }

    private static let streamed: Set<String> = ["bloodGlucose", "bodyTemperature"]

    /// The maximum difference between two clocks of the same accuracy, in microseconds.
    ///
    /// - Parameter onArrival: Whether one of the times is a time of arrival, which may be some seconds after the measurement.
    public func slack(onArrival: Bool) -> Int64 {
        switch self {
        case .spot: onArrival ? 5_000_000 : 2_000_000
        case .stream, .event, .interval, .none: 1_000_000
        case .unit, .version: 0
        }
    }

    /// The types whose rule does not follow from their aggregation.
    private static let exceptions: [String: DuplicateRule] = {
        var table: [String: DuplicateRule] = [:]
        for id in [
            "oxygenSaturation", "respiratoryRate", "peripheralPerfusionIndex", "pulseAmplitudeIndex", "electrodermalActivity",
            "physicalEffort", "cyclingCadence", "cyclingPower", "cyclingSpeed", "runningGroundContactTime", "runningPower",
            "runningSpeed", "runningStrideLength", "runningVerticalOscillation", "rowingSpeed", "paddleSportsSpeed",
            "crossCountrySkiingSpeed", "walkingSpeed", "walkingStepLength", "walkingDoubleSupportPercentage",
            "walkingAsymmetryPercentage", "stairAscentSpeed", "stairDescentSpeed", "uvExposure", "underwaterDepth",
            "waterTemperature", "roomTemperature", "relativeHumidity", "barometricPressure", "particulateMatter2_5",
            "carbonDioxideConcentration",
        ] { table[id] = .stream }
        for id in ["heartbeatInterval", "intermediateCuffPressure", "batteryLevel"] { table[id] = DuplicateRule.none }
        return table
    }()
}
