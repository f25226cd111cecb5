/// A type of sample: HealthKit's quantity and category types, and ours where HealthKit has none.
///
///     let type = SampleType("bodyTemperature")
///     type?.canonicalUnit.code  // "Cel"
///     type?.loinc               // "8310-5"
///     SampleType("sleepAnalysis")?.kind  // .category
///
/// Two bytes, an index into the catalogue; the index may change from version to version, the ``id`` never does. No two types have one id,
/// whatever their kinds.
public struct SampleType: Hashable, Sendable {
    /// Into the catalogue of this version; behind it, of this process.
    public let index: UInt16

    private var entry: Catalogue.Entry {
        if Int(index) < Catalogue.entries.count { return Catalogue.entries[Int(index)] }
        guard let entry = UnknownTypes.entry(at: Int(index) - Catalogue.entries.count) else {
            preconditionFailure("a type's index is made here alone")
        }
        return entry
    }

    private init(index: UInt16) { self.index = index }

    /// A type by its id (`heartRate`) or HealthKit's identifier (`HKQuantityTypeIdentifierHeartRate`), in exact case; nil for
    /// any other text.
    public init?(_ identifier: some StringProtocol) {
        let identifier = String(identifier)
        if let index = Catalogue.indices[identifier] {
            self.index = index
        } else if let index = UnknownTypes.index(of: identifier, adding: false) {
            self.index = UInt16(Catalogue.entries.count + index)
        } else {
            return nil
        }
    }

    /// A type of this version's catalogue; `nil` for any other, whether or not this process has heard of it from somebody's data.
    public init?(known identifier: some StringProtocol) {
        guard let index = Catalogue.indices[String(identifier)] else { return nil }
        self.index = index
    }

    /// A category type, also one that this version does not know: it has the id or identifier that came, and no list of values.
    ///
    /// - Returns: `nil` for a text that cannot be a type's name, another kind's type, and where too many unknown ones came.
    public init?(category identifier: some StringProtocol) {
        if let known = Self(identifier) {
            guard known.kind == .category else { return nil }
            self = known
        } else if let index = UnknownTypes.index(of: String(identifier), adding: true) {
            self.index = UInt16(Catalogue.entries.count + index)
        } else {
            return nil
        }
    }

    /// Every type of the catalogue, HealthKit's quantity types first.
    public static let all: [SampleType] = Catalogue.entries.indices.map { SampleType(index: UInt16($0)) }
    /// Those of quantities.
    public static let quantities = all.filter { $0.kind == .quantity }

    /// A type as a store has it, by its kind there; `nil` for one that only a newer version has.
    public init?(_ id: some StringProtocol, kind: SampleKind) {
        guard let type = kind == .category ? Self(category: id) : Self(id), type.kind == kind else { return nil }
        self = type
    }

    /// The case's name of a category's number (`asleepCore`), or of a workout's (`running`); `nil` for other kinds, and for a number that has no name.
    public func caseName(of value: Double) -> String? {
        guard let values = categoryValues, let number = Int(exactly: value) else { return nil }
        return values.name(of: number)
    }

    /// What its samples are.
    public var kind: SampleKind { entry.kind }
    /// What a category's values are, or a workout's activities; `nil` for other kinds, and for a type that this version does not know.
    public var categoryValues: CategoryValues? { entry.values }
    /// Whether this version's catalogue has it.
    public var isKnown: Bool { Int(index) < Catalogue.entries.count }
    /// HealthKit's identifier without its prefix, or our own name.
    public var id: String { entry.id }
    /// HealthKit's identifier; nil for our own types, and for a day's rings.
    public var healthKitIdentifier: String? { entry.healthKitIdentifier }
    /// The name in English, as in Apple's Health; a category type's id in words.
    public var displayName: String { entry.displayName }
    /// What is measured, in words: `mass`, `frequency`, `count`.
    public var dimensionName: String { entry.dimensionName }
    /// The unit named in HealthKit's headers, in HealthKit's dialect; nil for our own types.
    public var healthKitUnit: String? { entry.healthKitUnit }
    /// The unit that values are stored in; 1 for a category's.
    public var canonicalUnit: Unit { entry.unit }
    /// How values over time become one.
    public var aggregation: AggregationStyle { entry.aggregation }
    /// The LOINC code; nil where none fits every reading of the type.
    public var loinc: String? { entry.codes.loinc }
    /// The IEEE 11073-10101 code with its partition, and its reference name.
    public var mdc: (code: Int, name: String)? { entry.codes.mdc }
    /// The only UCUM codes that FHIR R4's profile of the type admits; empty where there is no profile.
    public var fhirUnits: [String] { entry.codes.fhirUnits }
    /// The iOS version that brought the type; nil for our own.
    public var since: String? { entry.since }
    /// Whether the type is our own, not HealthKit's.
    public var isVitalgates: Bool { entry.healthKitIdentifier == nil && kind == .quantity }
    /// What is possible whatever the person, in the canonical unit.
    public var hardLimits: ClosedRange<Double>? { entry.possible }
    /// What living people show, in the canonical unit; a value beyond deserves a warning.
    public var plausible: ClosedRange<Double>? { entry.plausible }
    /// Grams per mole of the substance, where amounts of it are also given in moles.
    ///
    /// Glucose has HealthKit's `HKUnitMolarMassBloodGlucose`.
    public var molarMass: Double? { self == .bloodGlucose ? 180.15588000005408 : nil }

    /// The conversion of values in a unit to the type's canonical unit.
    ///
    /// The unit's own molar mass goes before the type's. Where HealthKit counts what has a dimension (body mass index, sleeping
    /// breathing disturbances), its `count` is taken as the canonical unit. What is no quantity has a number that
    /// is no amount: it has the unit 1 and no other.
    ///
    /// - Throws: ``UnitError/unlike(from:fromDimension:to:toDimension:)`` for a unit that doesn't measure this.
    public func conversion(from unit: Unit) throws(UnitError) -> UnitConversion {
        let target = canonicalUnit
        if kind != .quantity {
            guard unit.code == "1" else { throw .noAmount(from: unit.code, category: id) }
            return .identity
        }
        if unit.code == "1", healthKitUnit == "count", target.dimension != .dimensionless { return .identity }
        return try unit.conversion(to: target, molarMass: unit.molarMass ?? molarMass)
    }
}

extension Unit {
    /// Refuses a unit that suits none of the types.
    ///
    /// - Throws: ``UnitError`` of one of them.
    public func checkConversion(toOneOf types: Set<SampleType>) throws(UnitError) {
        var failure: UnitError?
        // In an order of their own: the same question has the same answer.
        for type in types.sorted(by: { $0.id < $1.id }) {
            do throws(UnitError) {
                _ = try type.conversion(from: self)
                return
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

extension SampleType: CustomStringConvertible {
    public var description: String { id }
}

extension SampleType {
    /// Heart rate, in /min.
    public static let heartRate = known("heartRate")
    /// Body temperature, in Cel.
    public static let bodyTemperature = known("bodyTemperature")
    /// Blood glucose, in mg/dL.
    public static let bloodGlucose = known("bloodGlucose")
    /// How full the battery of the device itself is, in %: nothing about a person.
    public static let batteryLevel = known("batteryLevel")
    /// Body mass, in kg.
    public static let bodyMass = known("bodyMass")
    /// Oxygen saturation of the blood, in %.
    public static let oxygenSaturation = known("oxygenSaturation")
    /// Steps, counted up over an interval.
    public static let stepCount = known("stepCount")
    /// Systolic blood pressure, in mm[Hg].
    public static let bloodPressureSystolic = known("bloodPressureSystolic")
    /// Diastolic blood pressure, in mm[Hg].
    public static let bloodPressureDiastolic = known("bloodPressureDiastolic")

    /// A type that the catalogue's test has found in the table.
    private static func known(_ id: String) -> SampleType {
        guard let type = SampleType(id) else { preconditionFailure("the catalogue has no \(id)") }
        return type
    }
}
