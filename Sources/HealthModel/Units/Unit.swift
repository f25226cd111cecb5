/// A unit of measure: read from UCUM or from HealthKit's strings, written as UCUM.
///
///     let fahrenheit = try Unit(ucum: "[degF]")
///     let rate = try Unit(healthKit: "count/min")
///     rate.code             // "/min"
///     rate.healthKitString  // "count/min"
///
/// Copying copies one reference. Two units are equal if code and molar mass are equal. `mL/min/kg` and `mL/kg/min` are different codes,
/// while HealthKit's `%` and `count` are both `1`.
public struct Unit: Sendable {
    @usableFromInline let storage: Storage

    @usableFromInline final class Storage: Sendable {
        let code: String
        let healthKitString: String?
        let factor: ScaleFactor
        let dimension: Dimension
        let offset: UnitOffset?
        let molarMass: Double?

        init(expression: UnitExpression, measure: (ScaleFactor, Dimension), healthKitString: String?) {
            code = expression.code
            (factor, dimension) = measure
            offset = expression.terms.first?.atom.offset
            molarMass = expression.molarMass
            self.healthKitString = healthKitString
        }

        init(_ other: Storage, molarMass: Double) {
            code = other.code
            healthKitString = other.healthKitString
            factor = other.factor
            dimension = other.dimension
            offset = other.offset
            self.molarMass = molarMass
        }
    }

    /// The same unit for a substance with this molar mass in grams per mole.
    public func with(molarMass: Double) -> Unit { Unit(storage: Storage(storage, molarMass: molarMass)) }

    private init(storage: Storage) { self.storage = storage }

    /// The canonical UCUM code: no annotations but a lone one (`1{steps}`), no parentheses, `L` for `l`, `u` for micro.
    public var code: String { storage.code }

    /// HealthKit's string for the unit, or `nil` if HealthKit does not have it.
    ///
    /// It is `nil` for UCUM's `%`. HealthKit's `%` is the ratio, a hundred times as large, and has the code `1` here.
    public var healthKitString: String? { storage.healthKitString }

    /// The dimension of the unit.
    public var dimension: Dimension { storage.dimension }

    /// The molar mass in grams per mole, if HealthKit's `mol<…>` contains it.
    public var molarMass: Double? { storage.molarMass }

    var factor: ScaleFactor { storage.factor }
    var offset: UnitOffset? { storage.offset }

    /// The pure number, UCUM's `1`.
    public static let one = Unit(expression: UnitExpression(), measure: (.one, .dimensionless))

    private init(expression: UnitExpression, measure: (ScaleFactor, Dimension), healthKitString: String? = nil) {
        storage = Storage(
            expression: expression, measure: measure, healthKitString: healthKitString ?? expression.healthKitString)
    }

    /// Reads a UCUM code, case-sensitive: `mm[Hg]`, `[degF]`, `mL/(kg.min)`, `{beats}/min`.
    ///
    /// - Throws: ``UnitError/unknown(code:dialect:suggestion:)`` with the code that was probably meant,
    ///   ``UnitError/malformed(code:offset:)`` also beyond 128 bytes or 16 levels of parentheses,
    ///   ``UnitError/notCombinable(code:symbol:)`` for `Cel/min`.
    public init(ucum code: some StringProtocol) throws(UnitError) {
        let text = String(code)
        do throws(UnitError) {
            try self.init(checking: try UCUMParser.parse(text), of: text)
        } catch {
            throw UnitSuggestion.completed(error, text: text, dialect: .ucum)
        }
    }

    /// Reads a HealthKit unit string: `count/min`, `mmol<180.15588000005408>/L`, `mL/min·kg`. Surrounding blanks, also
    /// non-breaking ones, are ignored.
    ///
    /// - Throws: as ``init(ucum:)``.
    public init(healthKit string: some StringProtocol) throws(UnitError) {
        let text = String(String.UnicodeScalarView(Self.trimmed(String(string).unicodeScalars[...])))
        do throws(UnitError) {
            let remembered = HealthKitSymbols.unspeakable.contains(text) ? text : nil
            try self.init(checking: try HealthKitUnitParser.parse(text), of: text, healthKitString: remembered)
        } catch {
            throw UnitSuggestion.completed(error, text: text, dialect: .healthKit)
        }
    }

    /// Checks rules beyond the grammar. Throws for a temperature in a product, and for factors that overflow.
    private init(
        checking expression: UnitExpression, of text: String, healthKitString: String? = nil
    ) throws(UnitError) {
        if let special = expression.terms.first(where: \.atom.isSpecial),
            expression.terms.count > 1 || special.exponent != 1
        {
            throw .notCombinable(code: text, symbol: special.symbol)
        }
        guard let measure = expression.measure else { throw .malformed(code: text, offset: 0) }
        self.init(expression: expression, measure: measure, healthKitString: healthKitString)
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        let blanks: Set<Unicode.Scalar> = [" ", "\t", "\r", "\n", "\u{A0}", "\u{202F}"]
        guard let first = text.firstIndex(where: { !blanks.contains($0) }),
            let last = text.lastIndex(where: { !blanks.contains($0) })
        else { return text[text.endIndex...] }
        return text[first...last]
    }
}

extension Unit: Hashable {
    @inlinable public static func == (one: Unit, other: Unit) -> Bool {
        one.storage === other.storage || one.isEqual(to: other)
    }

    @usableFromInline func isEqual(to other: Unit) -> Bool { code == other.code && molarMass == other.molarMass }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(molarMass)
    }
}

extension Unit: CustomStringConvertible {
    public var description: String { code }
}
