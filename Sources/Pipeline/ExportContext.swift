import HealthModel

/// The names, settings and callbacks that an exporter is created with.
public struct ExportContext {
    /// The target's name in the configuration.
    public let name: String
    /// The store's name, which distinguishes it from other stores that feed the same target.
    public let store: String
    /// The person that is exported as `me`.
    public let me: String
    /// The time zone of days, for targets that group by day.
    public let zone: TimeZoneRules
    /// The current time, for dating entries and measuring durations.
    public let now: () -> Instant
    /// Returns the latest sample of each exported series at the time of the call.
    public let present: () throws -> [PresentSample]
    /// Returns the samples of the given types that arrived in one packet with a sample, including itself, at the time of the call. An
    /// example is a cuff's two pressures.
    public let packet: (Sample, Set<SampleType>) throws -> [Sample]
    /// Returns the total since the last midnight for a sample's type and person, from its device, or from its source if it has no device.
    /// The result is `nil` for types that are not cumulative.
    public let today: (Sample) throws -> DayTotal?
    /// Statistics of hours, for targets that show them. `nil` if the caller has none.
    public let hours: (any HourComputing)?
    private let units: [SampleType: (unit: Unit, conversion: UnitConversion)]

    /// - Parameters:
    ///   - units: The units that the user wants for values of some types.
    ///   - present: Latest samples, for targets that show only the current state.
    ///   - packet: Samples of one packet, for targets that keep them together.
    ///   - today: Daily totals, for targets that show only the current state.
    ///   - hours: Statistics of hours, for targets that show them.
    ///   - now: The caller's clock.
    /// - Throws: ``UnitError`` if a type cannot be converted to its requested unit.
    public init(
        name: String, store: String = "", me: String, units: [SampleType: Unit] = [:],
        zone: TimeZoneRules = TimeZoneRules(fixed: .utc), present: @escaping () throws -> [PresentSample] = { [] },
        packet: @escaping (Sample, Set<SampleType>) throws -> [Sample] = { sample, _ in [sample] },
        today: @escaping (Sample) throws -> DayTotal? = { _ in nil }, hours: (any HourComputing)? = nil,
        now: @escaping () -> Instant
    ) throws(UnitError) {
        (self.name, self.store, self.me, self.zone, self.now) = (name, store, me, zone, now)
        (self.present, self.packet, self.today, self.hours) = (present, packet, today, hours)
        var known: [SampleType: (unit: Unit, conversion: UnitConversion)] = [:]
        for (type, unit) in units {
            known[type] = (unit, try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass))
        }
        self.units = known
    }

    /// The unit of a type's values: the requested one, or else its canonical one.
    public func unit(of type: SampleType) -> Unit { units[type]?.unit ?? type.canonicalUnit }

    /// A sample's value in the requested unit, or in its type's canonical unit if none was requested.
    public func quantity(of sample: Sample) -> (value: Double, unit: Unit) {
        wantedQuantity(of: sample) ?? (sample.value, sample.origin.type.canonicalUnit)
    }

    /// A sample's value in the requested unit, or `nil` if none was requested.
    public func wantedQuantity(of sample: Sample) -> (value: Double, unit: Unit)? {
        guard let known = units[sample.origin.type] else { return nil }
        // If the unit is the measured one, keep the measured digits. A round trip may change the last one.
        let isAsMeasured = sample.unit.code == known.unit.code
        return (isAsMeasured ? sample.numeral.doubleValue : known.conversion(sample.value), known.unit)
    }
}

/// The total of a cumulative type on one day.
public struct DayTotal: Hashable, Sendable {
    /// The total in the type's canonical unit.
    public var sum: Double
    /// The midnights at which the day starts and ends.
    public var start: Instant, end: Instant

    /// A sum between two midnights.
    public init(sum: Double, start: Instant, end: Instant) { (self.sum, self.start, self.end) = (sum, start, end) }
}

/// The keys of a target's configuration entry that belong to one kind of target. The configuration reader reports unknown keys.
public protocol ExporterSettings: Decodable, Sendable {
    /// The keys that the decoder may read.
    static var settings: [ExporterSetting] { get }
}

extension ExporterSettings {
    /// The names of the keys.
    public static var keys: [String] { settings.map(\.key) }
}

/// A key of a target, and the form of its value.
public struct ExporterSetting: Hashable, Sendable {
    /// The form of a value in the configuration.
    public enum Form: Sendable {
        case text, number, boolean
        /// A list of texts without commas, such as types.
        case list
        /// A list of any texts, such as a program and its arguments.
        case arguments
        /// An object of texts or of numbers.
        case texts, numbers
        /// A ``Secret``.
        case secret
    }

    /// The key.
    public let key: String
    /// The form of its value.
    public let form: Form

    /// A key and the form of its value.
    public init(_ key: String, _ form: Form = .text) { (self.key, self.form) = (key, form) }
}

/// The keys of one kind of target, for its decoder.
public protocol ExporterSettingKey: CodingKey, CaseIterable, RawRepresentable<String> {
    /// The form of the value. It is a text by default.
    var form: ExporterSetting.Form { get }
}

extension ExporterSettingKey {
    public var form: ExporterSetting.Form { .text }

    /// All keys with their forms.
    public static var settings: [ExporterSetting] { allCases.map { ExporterSetting($0.rawValue, $0.form) } }
}

/// An invalid value in the configuration.
public struct SettingsFault: Error, Hashable, Sendable {
    /// The key, within the target's entry.
    public var key: String
    /// The expected value, as text for the user.
    public var words: String

    /// A fault with its key and the expected value.
    public init(_ key: String, _ words: String) { (self.key, self.words) = (key, words) }
}
