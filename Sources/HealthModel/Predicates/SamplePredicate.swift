/// A condition on samples. Queries, `--where`, profiles' corrections and repairs all use this tree.
///
///     let fevers = SamplePredicate.and([.types([.bodyTemperature]), .comparison(.value, .above, .number(Numeral("38"), Unit(ucum: "Cel")))])
///     try SamplePredicate("value > 38 Cel and source.name = 'Ear thermometer'")
///
/// A missing field is equal to nothing and different from everything. Values that cannot be compared, such as a heart rate and 38 Cel, meet
/// neither the comparison nor its negation. `not` must not make a condition true that was never meant for the sample.
public indirect enum SamplePredicate: Sendable {
    /// Samples of these types.
    case types(Set<SampleType>)
    /// Samples with these UUIDs.
    case uuids(Set<SampleIdentity>)
    /// A comparison of a field with a value of its kind. Other values cannot be compared.
    case comparison(Field, Comparison, Literal)
    /// What does not meet the condition, though it can be compared.
    case not(SamplePredicate)
    /// Samples that meet all parts. Without parts, every sample.
    case and([SamplePredicate])
    /// Samples that meet at least one part. Without parts, no sample.
    case or([SamplePredicate])

    /// The comparison of a field with a value.
    public enum Comparison: String, Sendable, CaseIterable {
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case below = "<"
        case above = ">"
        /// The text contains the other one.
        case contains = "~"
        /// The text begins with the other one.
        case beginsWith = "^="

        var isOrder: Bool { [.below, .atMost, .above, .atLeast].contains(self) }
    }

    /// A value to compare with a field, of the field's own kind.
    public enum Literal: Sendable {
        /// A number, compared after conversion if it has a unit, or else in the type's canonical unit.
        case number(Numeral, Unit?)
        case instant(Instant)
        case unit(Unit)
        case text(String)
        /// A metadata value of any kind: the text, and its number and unit.
        case any(String, Numeral?, Unit?)
        /// A date of a health record.
        case date(PartialDate)
        /// Any value: `metadata.bloodGlucoseMealTime = *`.
        case present
    }

    /// A field of a sample, named as in a sample's line.
    public enum Field: Hashable, Sendable {
        /// In the type's canonical unit.
        case value
        case start, end
        /// A category's case, by its name or HealthKit's constant.
        case category
        /// The duration in seconds, for a workout without its pauses.
        case duration
        case zone, person, group
        /// The type's id.
        case type
        /// The name of the type's kind.
        case kind
        case uuid
        /// The UUID of a workout during which the sample was recorded, or to which it belongs as a route. Only a store can evaluate it.
        case fromWorkout
        /// The UUID of a correlation that the sample belongs to. Only a store can evaluate it.
        case inCorrelation
        case source(SourceProperty)
        case device(DeviceProperty)
        /// As received.
        case originalValue, originalUnit
        case timeOrigin
        /// When it reached this machine.
        case received
        /// By the key's name here.
        case metadata(String)
        /// A field of objects that are more than a number.
        case object(ObjectField)

        /// Whether values are ordered as versions: 1.10 comes after 1.9.
        var isVersion: Bool {
            switch self {
            case .source(.version), .device(.hardware), .device(.firmware), .device(.software): true
            default: false
            }
        }
    }

    /// A property of a source.
    public enum SourceProperty: String, Sendable, CaseIterable { case id, name, version }

    /// A property of a device.
    public enum DeviceProperty: String, Sendable, CaseIterable {
        case key, name, manufacturer, model, serial, hardware, firmware, software, udi
    }
}

extension SamplePredicate {
    /// Every sample.
    public static let everything = SamplePredicate.and([])

    /// Samples that start in an interval, which is unbounded on a missing side.
    public static func starts(from: Instant?, before to: Instant?) -> SamplePredicate { interval(.start, from, to) }

    /// Samples received by this machine in an interval, which is unbounded on a missing side.
    public static func received(from: Instant?, before to: Instant?) -> SamplePredicate { interval(.received, from, to) }

    static func interval(_ field: Field, _ from: Instant?, _ to: Instant?) -> SamplePredicate {
        .and(
            [from.map { .comparison(field, .atLeast, .instant($0)) }, to.map { .comparison(field, .below, .instant($0)) }]
                .compactMap { $0 })
    }

    /// The samples of a person, by UUID.
    public static func person(_ uuid: String) -> SamplePredicate { .comparison(.person, .equal, .text(uuid)) }

    /// Samples of a source with this id or name.
    public static func source(_ name: String) -> SamplePredicate {
        .or([SourceProperty.id, .name].map { .comparison(.source($0), .equal, .text(name)) })
    }

    /// Samples of a source with this id, or with one that begins with it and a point: a profile's files.
    public static func sourceFamily(_ id: String) -> SamplePredicate {
        .or([.comparison(.source(.id), .equal, .text(id)), .comparison(.source(.id), .beginsWith, .text(id + "."))])
    }

    /// Samples of a device with this key, name, model or serial number.
    public static func device(_ name: String) -> SamplePredicate {
        .or([DeviceProperty.key, .name, .model, .serial].map { .comparison(.device($0), .equal, .text(name)) })
    }

    /// Samples of the device with this key.
    public static func deviceKey(_ key: String) -> SamplePredicate { .comparison(.device(.key), .equal, .text(key)) }

    /// Samples whose field is a version in a range. Unknown versions never match.
    public static func version(_ field: Field, in range: VersionRange) -> SamplePredicate {
        .and([.comparison(field, .notEqual, .text(""))] + range.comparisons.map { .comparison(field, $0.0, .text($0.1)) })
    }

    /// Whether it refers to a workout or a correlation, so that only a store can evaluate it and not a sample alone.
    public var asksForOthers: Bool {
        switch self {
        case .not(let inner): inner.asksForOthers
        case .and(let parts), .or(let parts): parts.contains(where: \.asksForOthers)
        case .comparison(let field, _, _): field == .fromWorkout || field == .inCorrelation
        case .types, .uuids: false
        }
    }

    /// Checks that every unit of the condition suits at least one of the types.
    ///
    /// - Throws: ``UnitError`` for the first unit that cannot be converted to any of them.
    public func check(for types: Set<SampleType>) throws(UnitError) {
        switch self {
        case .not(let inner): try inner.check(for: types)
        case .and(let parts), .or(let parts): for part in parts { try part.check(for: types) }
        // A health record has its own unit.
        case .comparison(.value, _, .number(_, let unit?)) where !types.contains { $0.kind == .clinicalRecord }:
            try unit.checkConversion(toOneOf: types)
        case .comparison, .types, .uuids: return
        }
    }
}
