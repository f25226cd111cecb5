import HealthModel

/// A rule of the gate that quarantines a sample.
public struct GateRule: Hashable, Sendable, CustomStringConvertible {
    /// The name in the ledger.
    public let name: String
    /// A rule by its name.
    public init(_ name: String) { self.name = name }
    public var description: String { name }

    /// Outside the range that physics or the type's definition allows for anyone.
    public static let impossible = GateRule("impossible-value")
    /// Outside the range of living people in every common unit of the type, so that no repair of the unit could fix it.
    public static let implausible = GateRule("implausible-value")
    /// A category case that this version does not know. The value is quarantined and never guessed.
    public static let unknownValue = GateRule("unknown-value")
    /// A quantity of a type that this version does not know. Its unit and limits are unknown, too.
    public static let unknownType = GateRule("unknown-type")
    /// A number that devices use for a missing value.
    public static let sentinel = GateRule("sentinel-value")
    /// The device reports that the sensor had no contact.
    public static let noContact = GateRule("no-contact")
    /// The device reports a failed measurement, such as a moved cuff or a displaced sensor.
    public static let badMeasurement = GateRule("bad-measurement")
    /// Another value of the same measurement is impossible or missing, or the values contradict one another.
    public static let failedMeasurement = GateRule("failed-measurement")
    /// The time is from a device clock that could not be compared with ours.
    public static let clockUnknown = GateRule("clock-unknown")

    /// The reading arrived before the services of its device were known, and its sender is unclear.
    public static let unattributed = GateRule("unattributed")

    /// The row may be truncated because it is the last of a table that ends without a line break.
    public static let provisional = GateRule("provisional-row")
    /// A version of a record that is stored with another value, time, or unit. Vitalgate cannot decide which one is right.
    public static let versionConflict = GateRule("version-conflict")
    /// A reading that would replace one that was assigned to another person, from a member of the household or a client.
    public static let assignedReading = GateRule("assigned-reading")

    /// The value may be a single sample or of a period, or the end of its period is unknown.
    public static let unknownPeriod = GateRule("unknown-period")

    /// All rules.
    public static let all: [GateRule] = [
        .impossible, .implausible, .unknownValue, .unknownType, .sentinel, .noContact, .badMeasurement, .failedMeasurement,
        .clockUnknown,
        .unattributed, .provisional, .versionConflict, .assignedReading,
        .unknownPeriod,
    ]

    /// Whether the value may be right, so that it raises alerts while a person has not judged it yet.
    public var isDoubt: Bool { self == .implausible }

    /// The meaning of the rule, as text for the user who reviews the sample.
    public var explanation: String {
        switch self {
        case .impossible: "outside the range that physics or the type's definition allows"
        case .implausible: "outside the range of living people in every common unit"
        case .unknownValue: "a category case that this version does not know"
        case .unknownType: "a type of quantity that this version does not know"
        case .sentinel: "a number that devices send for a missing value"
        case .noContact: "the device reports that the sensor had no contact"
        case .badMeasurement: "the device reports that the measurement failed"
        case .failedMeasurement: "another value of the same measurement is impossible or missing, or they contradict one another"
        case .clockUnknown: "its time is from a device clock that could not be checked"
        case .unattributed: "it arrived before the device's services were known, so its sensor is unclear"
        case .versionConflict: "the same version of this record is already stored with another value, time, or unit"
        case .assignedReading:
            "it would replace a reading that was assigned to another person, so only the hub's owner can accept it"
        case .unknownPeriod: "it may be a single sample or of a period, or the end of its period is unknown"
        case .provisional: "the row is the last of a file without a final line break and may be truncated"
        default: name
        }
    }
}

/// Decides whether a sample can be a measurement at all.
///
/// A value that would be plausible in another common unit of its type passes. For example, 98.2 °C is not a body temperature, but 98.2 °F
/// is a good one under the wrong unit, and repairs work on samples (Decisions/0006).
public struct Gate: Sendable {
    /// The gate with its rules.
    public init() {}

    /// The rule that quarantines the sample, or `nil` if it passes.
    @inlinable public func rule(against sample: borrowing Sample) -> GateRule? {
        // Fast path for nearly every sample.
        if sample.origin.inconspicuous.contains(sample.value), sample.metadata == nil, sample.value != sample.origin.sentinel {
            return nil
        }
        return examine(sample)
    }

    /// Judges the samples of a batch from `first` on.
    public func evaluate(_ batch: inout [GatedSample], from first: Int = 0) {
        for index in first..<batch.count {
            if let rule = rule(against: batch[index].sample) { batch[index].rule = rule }
        }
    }

    @usableFromInline func examine(_ sample: borrowing Sample) -> GateRule? {
        if sample.origin.kind != .quantity {
            return Self.isPossible(sample.value, of: sample.origin.type) ? nil : .unknownValue
        }
        guard sample.origin.type.isKnown else { return .unknownType }
        let limits = sample.origin.hardLimits ?? Origin.measurable
        guard limits.contains(sample.value), Origin.measurable.contains(sample.value) else { return .impossible }
        if let metadata = sample.metadata, let rule = Self.status(metadata) { return rule }
        if sample.value == sample.origin.sentinel { return .sentinel }
        if sample.origin.inconspicuous.contains(sample.value) { return nil }
        return sample.origin.type.isPlausible(sample.numeral, besides: sample.unit) ? nil : .implausible
    }

    /// Whether the value is a number in the type's list, or within its bounds if it has no list. Any number is possible for an unknown
    /// type.
    private static func isPossible(_ value: Double, of type: SampleType) -> Bool {
        if type.kind == .stateOfMind { return type.hardLimits?.contains(value) ?? true }
        guard let number = Int(exactly: value), number >= 0 else { return false }
        return type.categoryValues.map { $0.name(of: number) != nil } ?? (type.hardLimits?.contains(value) ?? true)
    }

    /// The rule for the device's own status.
    private static func status(_ metadata: Metadata) -> GateRule? {
        for (key, value) in metadata.entries {
            switch (key, value) {
            case ("sensorContact", .string("notDetected")): return .noContact
            case (UncertainValue.periodKey, .string(UncertainValue.unknown)): return .unknownPeriod
            case (UncertainValue.unitKey, .string(UncertainValue.unknown)): return .implausible
            case ("bodyMovement", .boolean(true)), ("cuffTooLoose", .boolean(true)), ("improperPosition", .boolean(true)):
                return .badMeasurement
            case ("sensorStatus", .string(let names)), ("measurementStatus", .string(let names)):
                for name in names.split(separator: ",") {
                    if noContact.contains(String(name)) { return .noContact }
                    if bad.contains(String(name)) { return .badMeasurement }
                }
            default: break
            }
        }
        return nil
    }

    /// The names of status bits (GATT Specification Supplement: PLX and glucose measurement status).
    private static let noContact: Set<String> = ["sensor_unconnected_to_user", "sensor_disconnected"]
    private static let bad: Set<String> = [
        "sensor_displaced", "sensor_malfunctioning", "equipment_malfunction_detected", "questionable_measurement_detected",
        "invalid_measurement_detected", "sensor_malfunction", "strip_insertion_error", "strip_type_incorrect",
        "sensor_temperature_too_high", "sensor_temperature_too_low", "sensor_read_interrupted",
    ]
}
