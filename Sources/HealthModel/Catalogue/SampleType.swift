/// A type of sample: HealthKit's quantity and category types, and our own types if HealthKit has none.
///
///     let type = SampleType("bodyTemperature")
///     type?.canonicalUnit.code  // "Cel"
///     type?.loinc               // "8310-5"
///     SampleType("sleepAnalysis")?.kind  // .category
///
/// Two bytes, an index into the catalogue. The index may differ between versions, while the ``id`` never changes. Ids are unique across all
/// kinds.
public struct SampleType: Hashable, Sendable {
    /// The index into the catalogue of this version, or beyond it for types that only this process has met.
    public let index: UInt16

    private var row: Catalogue.Row {
        if Int(index) < Catalogue.rows.count { return Catalogue.rows[Int(index)] }
        guard let row = UnknownTypes.row(at: Int(index) - Catalogue.rows.count) else {
            preconditionFailure("a type's index is made here alone")
        }
        return row
    }

    private init(index: UInt16) { self.index = index }

    /// A type by its id (`heartRate`) or HealthKit's identifier (`HKQuantityTypeIdentifierHeartRate`), case-sensitive, or `nil` for any
    /// other text.
    public init?(_ identifier: some StringProtocol) {
        let identifier = String(identifier)
        if let index = Catalogue.indices[identifier] {
            self.index = index
        } else if let index = UnknownTypes.index(of: identifier, .category, adding: false) {
            self.index = UInt16(Catalogue.entries.count + index)
        } else {
            return nil
        }
    }

    /// A type of this version's catalogue, or `nil` for any other, even if this process has met it in imported data.
    public init?(known identifier: some StringProtocol) {
        guard let index = Catalogue.indices[String(identifier)] else { return nil }
        self.index = index
    }

    /// A category type, including one that this version does not know. Such a type has the given id or identifier, and no list of values.
    ///
    /// - Returns: `nil` for a text that cannot be a type's name, for another kind's type, and after too many unknown types.
    public init?(category identifier: some StringProtocol) {
        if let known = Self(identifier) {
            guard known.kind == .category else { return nil }
            self = known
        } else if let index = UnknownTypes.index(of: String(identifier), .category, adding: true) {
            self.index = UInt16(Catalogue.entries.count + index)
        } else {
            return nil
        }
    }

    /// A quantity type, including one that this version does not know. The values of such a type stay in the unit in which they were
    /// received, and the gate quarantines them.
    ///
    /// - Returns: `nil` for a text that cannot be a type's name, for another kind's type, and after too many unknown types.
    public init?(quantity identifier: some StringProtocol) {
        if let known = Self(known: identifier) {
            guard known.kind == .quantity else { return nil }
            self = known
        } else if let index = UnknownTypes.index(of: String(identifier), .quantity, adding: true) {
            self.index = UInt16(Catalogue.entries.count + index)
        } else {
            return nil
        }
    }

    /// A hash of all types and their cases, which differs between versions that know different ones.
    public static let knownHash: UInt64 = {
        var hash = StableHash()
        for type in all {
            hash.combine("\(type.id)\n")
            for each in type.categoryValues?.cases ?? [] { hash.combine("\(type.id) \(each.value) \(each.name)\n") }
        }
        return hash.value
    }()

    /// All types of the catalogue, HealthKit's quantity types first.
    public static let all: [SampleType] = Catalogue.entries.indices.map { SampleType(index: UInt16($0)) }
    /// The quantity types.
    public static let quantities = all.filter { $0.kind == .quantity }

    /// A stored type of this kind, or `nil` for one that only a newer version has.
    public init?(_ id: some StringProtocol, kind: SampleKind) {
        guard let type = kind == .category ? Self(category: id) : Self(id), type.kind == kind else { return nil }
        self = type
    }

    /// The case name of a category's number (`asleepCore`) or of a workout's (`running`), or `nil` for other kinds and for a number without
    /// a name.
    public func caseName(of value: Double) -> String? {
        guard let values = categoryValues, let number = Int(exactly: value) else { return nil }
        return values.name(of: number)
    }

    /// The kind of its samples.
    public var kind: SampleKind { row.entry.kind }
    /// The values of a category or the activities of a workout, or `nil` for other kinds and for a type that this version does not know.
    public var categoryValues: CategoryValues? { row.entry.values }
    /// Whether this version's catalogue contains it.
    public var isKnown: Bool { Int(index) < Catalogue.entries.count }
    /// HealthKit's identifier without its prefix, or our own name.
    public var id: String { row.entry.id }
    /// HealthKit's identifier, or `nil` for our own types and for a day's rings.
    public var healthKitIdentifier: String? { row.entry.healthKitIdentifier }
    /// The English name as in Apple's Health app, or the id in words for a category type.
    public var displayName: String { row.entry.displayName }
    /// The measured dimension in words: `mass`, `frequency`, `count`.
    public var dimensionName: String { row.entry.dimensionName }
    /// The unit in HealthKit's headers, in HealthKit's notation, or `nil` for our own types.
    public var healthKitUnit: String? { row.entry.healthKitUnit }
    /// The unit of stored values, or 1 for categories.
    public var canonicalUnit: Unit { row.entry.unit }
    /// The way that values over time are aggregated.
    public var aggregation: AggregationStyle { row.entry.aggregation }
    /// The LOINC code, or `nil` if no code fits every reading of the type.
    public var loinc: String? { row.entry.codes.loinc }
    /// The IEEE 11073-10101 code with its partition, and its reference name.
    public var mdc: (code: Int, name: String)? { row.entry.codes.mdc }
    /// The only UCUM codes that FHIR R4's profile of the type allows, or empty if it has no profile.
    public var fhirUnits: [String] { row.entry.codes.fhirUnits }
    /// The iOS version that introduced the type, or `nil` for our own types.
    public var since: String? { row.entry.since }
    /// Whether the type is our own and not HealthKit's.
    public var isVitalgates: Bool { row.entry.healthKitIdentifier == nil && kind == .quantity }
    /// The possible range for anyone, in the canonical unit.
    public var hardLimits: ClosedRange<Double>? { row.entry.possible }
    /// The range of living people, in the canonical unit. A value outside it causes a warning.
    public var plausible: ClosedRange<Double>? { row.entry.plausible }
    /// The molar mass in grams per mole, for substances that are also measured in moles.
    ///
    /// Glucose has HealthKit's `HKUnitMolarMassBloodGlucose`.
    public var molarMass: Double? { self == .bloodGlucose ? 180.15588000005408 : nil }

    /// The conversion of values in a unit to the type's canonical unit.
    ///
    /// The unit's own molar mass takes precedence over the type's. HealthKit uses `count` for some types with a dimension (body mass index,
    /// sleeping breathing disturbances). There `count` means the canonical unit. Other kinds than quantities have only the unit 1.
    ///
    /// - Throws: ``UnitError/unlike(from:fromDimension:to:toDimension:)`` if the unit does not measure this type.
    public func conversion(from unit: Unit) throws(UnitError) -> UnitConversion {
        let target = canonicalUnit
        // Nothing is known about the unit of an unknown type.
        if kind == .quantity, !isKnown { return .identity }
        if kind != .quantity {
            guard unit.code == "1" else { throw .noAmount(from: unit.code, category: id) }
            return .identity
        }
        if unit.code == "1", healthKitUnit == "count", target.dimension != .dimensionless { return .identity }
        return try unit.conversion(to: target, molarMass: unit.molarMass ?? molarMass)
    }
}

extension Unit {
    /// Checks that a unit suits at least one of the types.
    ///
    /// - Throws: The ``UnitError`` of one of the types if none fits.
    public func checkConversion(toOneOf types: Set<SampleType>) throws(UnitError) {
        var failure: UnitError?
        // Sorted, so that the same call always throws the same error.
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
    /// The charge of the device's own battery, in %. It is not about a person.
    public static let batteryLevel = known("batteryLevel")
    /// Body mass, in kg.
    public static let bodyMass = known("bodyMass")
    /// Oxygen saturation of the blood, in %.
    public static let oxygenSaturation = known("oxygenSaturation")
    /// Steps, accumulated over an interval.
    public static let stepCount = known("stepCount")
    /// Systolic blood pressure, in mm[Hg].
    public static let bloodPressureSystolic = known("bloodPressureSystolic")
    /// Diastolic blood pressure, in mm[Hg].
    public static let bloodPressureDiastolic = known("bloodPressureDiastolic")

    /// A type that is known to be in the catalogue, as its test checks.
    private static func known(_ id: String) -> SampleType {
        guard let type = SampleType(id) else { preconditionFailure("the catalogue has no \(id)") }
        return type
    }
}
