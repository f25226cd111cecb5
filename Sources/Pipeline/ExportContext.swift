import HealthModel

/// What every exporter is told by whoever makes it.
public struct ExportContext {
    /// The target's name in the configuration.
    public let name: String
    /// The store's name among many, of those that feed one target.
    public let store: String
    /// The subject that is written as `me`.
    public let me: String
    /// Of days that a target tells apart.
    public let zone: TimeZoneRules
    /// The time, for what has to be dated and for how long something takes.
    public let now: () -> Instant
    /// The last samples of the series that go there, as they are when it is called.
    public let present: () throws -> [PresentSample]
    /// The samples of given types that came in one packet with a sample, itself among them, as they are when it is called: a cuff's two pressures.
    public let packet: (Sample, Set<SampleType>) throws -> [Sample]
    /// What a sample's device, or source where there is none, has of its type and person since the last midnight; `nil` for types that do not add up.
    public let today: (Sample) throws -> DayTotal?
    private let units: [SampleType: (unit: Unit, conversion: UnitConversion)]

    /// - Parameters:
    ///   - units: those that a person wants for types' values.
    ///   - present: how things are now, for targets that show nothing else.
    ///   - packet: what came together, for targets that keep it together.
    ///   - today: sums of the day, for targets that show nothing else.
    ///   - now: the clock of whoever assembles.
    /// - Throws: ``UnitError`` where a type has no conversion to its unit.
    public init(
        name: String, store: String = "", me: String, units: [SampleType: Unit] = [:],
        zone: TimeZoneRules = TimeZoneRules(fixed: .utc), present: @escaping () throws -> [PresentSample] = { [] },
        packet: @escaping (Sample, Set<SampleType>) throws -> [Sample] = { sample, _ in [sample] },
        today: @escaping (Sample) throws -> DayTotal? = { _ in nil }, now: @escaping () -> Instant
    ) throws(UnitError) {
        (self.name, self.store, self.me, self.zone, self.now) = (name, store, me, zone, now)
        (self.present, self.packet, self.today) = (present, packet, today)
        var known: [SampleType: (unit: Unit, conversion: UnitConversion)] = [:]
        for (type, unit) in units {
            known[type] = (unit, try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass))
        }
        self.units = known
    }

    /// The unit of a type's values: the one that was asked for, else its canonical one.
    public func unit(of type: SampleType) -> Unit { units[type]?.unit ?? type.canonicalUnit }

    /// A sample's value in the unit that was asked for; in its type's canonical one where none was.
    public func quantity(of sample: Sample) -> (value: Double, unit: Unit) {
        wantedQuantity(of: sample) ?? (sample.value, sample.origin.type.canonicalUnit)
    }

    /// A sample's value in the unit that was asked for; `nil` where none was.
    public func wantedQuantity(of sample: Sample) -> (value: Double, unit: Unit)? {
        guard let known = units[sample.origin.type] else { return nil }
        // In the unit that was measured in, the digits that were measured: there and back again may differ in the last one.
        let isAsMeasured = sample.unit.code == known.unit.code
        return (isAsMeasured ? sample.numeral.doubleValue : known.conversion(sample.value), known.unit)
    }
}

/// What has added up on a day.
public struct DayTotal: Hashable, Sendable {
    /// In the type's canonical unit.
    public var sum: Double
    /// The midnight that it began with, and the next one.
    public var start: Instant, end: Instant

    /// A sum between two midnights.
    public init(sum: Double, start: Instant, end: Instant) { (self.sum, self.start, self.end) = (sum, start, end) }
}

/// A kind's own part of a target's entry in the configuration. Whoever reads the file looks for keys that nobody knows.
public protocol ExporterSettings: Decodable, Sendable {
    /// The keys that it has, of which the decoder may ask.
    static var keys: [String] { get }
}

/// A value in the configuration that does not fit.
public struct SettingsFault: Error, Hashable, Sendable {
    /// The key, within the target's entry.
    public var key: String
    /// What was expected, for a person.
    public var words: String

    /// A key with what was expected.
    public init(_ key: String, _ words: String) { (self.key, self.words) = (key, words) }
}
