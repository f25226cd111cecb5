/// The app, device service or file that a sample comes from, with its version (HealthKit's `HKSourceRevision`).
public struct SourceRevision: Hashable, Sendable {
    /// The id, which is stable across versions, such as `file.withings-weight`. It is part of a sample's identity.
    public var id: String
    /// For people.
    public var name: String
    /// The app's version, if known.
    public var version: String?

    /// The beginning of the ids of sources in an Apple Health export. Their names follow.
    public static let appleHealthPrefix = "apple-health/"

    /// Describes a source.
    public init(id: String, name: String, version: String? = nil) {
        self.id = id
        self.name = name
        self.version = version
    }
}

/// The hardware that measured (HealthKit's `HKDevice`).
public struct Device: Hashable, Sendable {
    /// The device's most permanent name: maker, model and serial number if known. Part of a sample's identity.
    public var key: String
    /// The display name.
    public var name: String?
    /// The manufacturer.
    public var manufacturer: String?
    /// The maker's name for the kind of device.
    public var model: String?
    /// The number of this one device.
    public var serial: String?
    /// The hardware's revision.
    public var hardware: String?
    /// The version of the software in it.
    public var firmware: String?
    /// The version of the app that speaks with it.
    public var software: String?
    /// The unique device identifier that regulators ask for, its device part.
    public var udi: String?

    public init(
        key: String, name: String? = nil, manufacturer: String? = nil, model: String? = nil, serial: String? = nil,
        hardware: String? = nil, firmware: String? = nil, software: String? = nil, udi: String? = nil
    ) {
        self.key = key
        self.name = name
        self.manufacturer = manufacturer
        self.model = model
        self.serial = serial
        self.hardware = hardware
        self.firmware = firmware
        self.software = software
        self.udi = udi
    }
}

/// The origin of a series of samples: person, type, source and device.
///
/// Interned by ``OriginRegistry``. Samples of one series share one object, so that values that depend only on the series are computed once.
public final class Origin: Hashable, Sendable {
    /// The person's UUID, or ``Origin/unassigned``.
    public let person: String
    /// The type of the samples.
    public let type: SampleType
    /// The app or file that it came from.
    public let source: SourceRevision
    /// The measuring device, if known.
    public let device: Device?
    /// The hash key of the identities of all samples in the series.
    public let seriesKey: SeriesKey
    /// The type's, at hand for every sample.
    public let kind: SampleKind
    /// The type's.
    public let hardLimits: ClosedRange<Double>?
    /// Values that need no second look.
    public let inconspicuous: ClosedRange<Double>
    /// A value that means a missing value, or NaN if there is none.
    public let sentinel: Double
    /// Whether the source names the person of each reading. Such a reading is this person's, whatever its value.
    public let namesPerson: Bool

    /// The subject of a reading of a shared device that could be anybody's.
    public static let unassigned = "unassigned"

    /// Describes a series.
    public init(person: String, type: SampleType, source: SourceRevision, device: Device? = nil, namesPerson: Bool = false) {
        self.person = person
        self.namesPerson = namesPerson
        self.type = type
        self.source = source
        self.device = device
        kind = type.kind
        hardLimits = type.hardLimits
        inconspicuous = Self.inconspicuous(type)
        sentinel = type.sentinel
        seriesKey = SeriesKey(person: person, type: type, source: source.id, device: device?.key ?? "")
    }

    private static func inconspicuous(_ type: SampleType) -> ClosedRange<Double> {
        // Each number of a category is looked at, because not every one is a case, and so is each value of an unknown type.
        guard type.kind == .quantity, type.isKnown else { return Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude }
        let all = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        return (type.hardLimits ?? all).clamped(to: measurable).clamped(to: type.plausible ?? all)
    }

    /// Amounts that an instrument can deliver, in whatever unit of the catalogue. Any sum of them stays far below the largest `Double`.
    public static let measurable = -1e15...1e15

    public static func == (one: Origin, other: Origin) -> Bool {
        one === other
            || (one.type == other.type && one.person == other.person && one.source == other.source
                && one.device == other.device)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(person)
        hasher.combine(source)
        hasher.combine(device)
    }
}

/// Hands out one ``Origin`` for equal descriptions, and resolves merged devices to the key they go by.
public final class OriginRegistry {
    /// The default person of readings, unless a source names another.
    public let person: String
    /// Maps the key that a device reports to its effective key (`devices merge`, `devices part`), before any identity is computed.
    private let resolve: (String) -> String
    private var origins: Set<Origin> = []
    /// The origins whose person the source names. They are equal to those of readings without a named person.
    private var named: Set<Origin> = []

    /// Makes an empty registry for one subject's readings.
    public convenience init(person: String, aliases: [String: String] = [:]) {
        self.init(person: person) { aliases[$0] ?? $0 }
    }

    /// - Parameter resolve: Maps the key that a device reports to the key of its readings.
    public init(person: String, resolve: @escaping (String) -> String) {
        self.person = person
        self.resolve = resolve
    }

    /// The origin of a series, the same object each time.
    ///
    /// - Parameter person: The person that the source names for the reading, or `nil` if it names none.
    public func origin(
        type: SampleType, source: SourceRevision, device: Device? = nil, person: String? = nil
    ) -> Origin {
        var device = device
        if let key = device?.key { device?.key = resolve(key) }
        guard let person else {
            return origins.insert(Origin(person: self.person, type: type, source: source, device: device)).memberAfterInsert
        }
        return named.insert(
            Origin(person: person, type: type, source: source, device: device, namesPerson: true)
        ).memberAfterInsert
    }
}
