/// How readings of a type are compared where the same measurement may come over two paths: from a sensor now, from its maker's file
/// later, where times are cut to the minute and values rounded or converted.
///
/// Times and values are compared at the coarser resolution of the two (``Likeness``). What agrees is the same measurement, or not, by the
/// devices of the two paths (``DeviceKinship``):
///
///     rule      | same family | family unknown | other device | types
///     spot      | duplicate   | duplicate      | linked       | measured now and then: weight, pressure, temperature, glucose
///     stream    | duplicate   | two            | two          | measured all the time, so that equal values mean little: heart rate
///     event     | duplicate   | linked         | linked       | done or taken at a moment, counted up: insulin, puffs
///     interval  | duplicate   | linked         | linked       | counted up from start to end: steps, energy
///     none      | two         | two            | two          | each one counts: the intervals between heartbeats
///
/// What a program saved is never the reason why a device's or a file's reading is a duplicate: the two are linked.
///
/// Linked readings are both kept; statistics count one of them.
public enum DuplicateRule: String, Hashable, Sendable, CaseIterable {
    case spot, stream, event, interval, none
    /// Of one path that tells a reading again in another unit, at the same times, whatever its type.
    case unit

    /// What becomes of two readings that agree.
    public enum Verdict: String, Hashable, Sendable {
        /// One measurement: the first stays, the other is its witness.
        case duplicate
        /// Two devices that measured the same: both stay.
        case linked
        /// Two measurements.
        case two
    }

    /// The rule of a type, for samples that last or for those of a moment.
    public static func of(_ type: SampleType, lasting: Bool) -> DuplicateRule {
        if let exception = exceptions[type.id] { return exception }
        // What the other objects tell is no number: equal ones may tell of two things.
        guard [.quantity, .category, .workout].contains(type.kind) else { return .none }
        switch type.aggregation {
        // A category tells that something was so, from then to then or at a moment: sleep, a symptom.
        case .cumulative, .none: return lasting ? .interval : .event
        case .discreteArithmetic: return .spot
        case .discreteTemporallyWeighted, .discreteEquivalentContinuousLevel: return .stream
        }
    }

    /// What the table above says.
    public func verdict(_ kinship: DeviceKinship) -> Verdict {
        switch (self, kinship) {
        case (.unit, _): .duplicate
        case (.none, _), (.stream, .unknown), (.stream, .other): .two
        case (_, .copy): .linked
        case (_, .same), (.spot, .unknown): .duplicate
        case (.spot, .other), (.event, _), (.interval, _): .linked
        }
    }

    /// How far two clocks of the same accuracy may be apart, in microseconds.
    ///
    /// - Parameter onArrival: one of the times is that of an arrival, which may be some seconds behind the measurement.
    public func slack(onArrival: Bool) -> Int64 {
        switch self {
        case .spot: onArrival ? 5_000_000 : 2_000_000
        case .stream, .event, .interval, .none: 1_000_000
        case .unit: 0
        }
    }

    /// Types whose rule does not follow from how their values become one.
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
