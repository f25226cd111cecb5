import HealthModel

/// The number of a line, with its original digits and unit.
struct LineNumber {
    var numeral: Numeral
    var unit: Unit
    /// Whether the case is unknown in this version. It is quarantined, not guessed.
    var isUnknown = false
    /// Distinguishes unknown cases.
    var mark: UInt32 = 0

    init(_ line: LineObject, _ identity: LineObject?, _ type: SampleType) throws(LineFault) {
        if type.kind == .quantity {
            (numeral, unit) = try Self.quantity(line, identity, type)
            return
        }
        unit = .one
        let reported = try Self.number(line, type)
        if let exact = try identity?.text("number") {
            guard let number = try? Numeral(exact) else { throw LineFault("identity: number: it is not a number") }
            if let numeral = reported.numeral, numeral.doubleValue != number.doubleValue {
                throw LineFault("identity: number: it differs from the line's number")
            }
            numeral = number
            return
        }
        numeral = reported.numeral ?? Numeral(coefficient: -1)
        isUnknown = reported.numeral == nil
        mark = reported.mark
    }

    private static func quantity(
        _ line: LineObject, _ identity: LineObject?, _ type: SampleType
    ) throws(LineFault) -> (Numeral, Unit) {
        let value = try line.number("value")
        let unit = try line.text("unit").map { code throws(LineFault) in try self.unit(code, "unit") }
        guard let original = try line.object("original") else {
            guard let value else { throw LineFault("value: it is missing") }
            guard let unit else { throw LineFault("unit: it is missing") }
            return (value, unit)
        }
        guard let text = try original.text("value"), let numeral = try? Numeral(text), let code = try original.text("unit") else {
            throw LineFault("original: its value or unit is missing or invalid")
        }
        var own = try self.unit(code, "original: unit")
        if let molarMass = try identity?.number("molarMass")?.doubleValue, molarMass > 0 { own = own.with(molarMass: molarMass) }
        if let value, let unit {
            // The measured value counts. A different converted value is an error in the line.
            let (one, other) = (
                converted(numeral, own, type), converted(value, own.molarMass.map { unit.with(molarMass: $0) } ?? unit, type)
            )
            if let one, let other, abs(one - other) > 1e-6 * max(abs(one), abs(other), 1e-9) {
                throw LineFault("value: it differs from the converted original")
            }
        }
        return (numeral, own)
    }

    private static func converted(_ numeral: Numeral, _ unit: Unit, _ type: SampleType) -> Double? {
        (try? type.conversion(from: unit))?.convert(numeral)
    }

    private static func unit(_ code: String, _ field: String) throws(LineFault) -> Unit {
        guard code.utf8.count <= 256, let unit = try? Unit(ucum: code) else { throw LineFault(field, "it is not a UCUM code") }
        return unit
    }

    /// Returns the number of a field of this kind. If its name is unknown, the number is `nil` and the mark is a hash of the name.
    private static func number(_ line: LineObject, _ type: SampleType) throws(LineFault) -> (numeral: Numeral?, mark: UInt32) {
        switch type.kind {
        case .category:
            let name = try line.text("case")
            guard let number = try line.integer("value") else { return try named(name, "case", type) }
            if let name, let known = type.categoryValues?.value(of: name), Int64(known) != number {
                throw LineFault("case: it is not that of the value")
            }
            return (Numeral(coefficient: number), 0)
        case .workout: return try named(line.text("activity"), "activity", type)
        case .electrocardiogram: return try named(line.text("classification"), "classification", type)
        case .visionPrescription: return try named(line.text("prescription"), "prescription", type)
        case .medicationDoseEvent: return try named(line.text("status"), "status", type)
        case .stateOfMind:
            guard let valence = try line.number("valence") else { throw LineFault("valence: it is missing") }
            return (valence, 0)
        case .scoredAssessment:
            if let score = try line.integer("score") { return (Numeral(coefficient: score), 0) }
            let answers = try LineBody.answers(line, type)
            guard answers.allSatisfy({ $0 <= 3 }) else { throw LineFault("score: it is missing, and an answer has no points") }
            return (Numeral(coefficient: Int64(answers.reduce(0, +))), 0)
        default: return (Numeral(coefficient: 0), 0)
        }
    }

    private static func named(
        _ name: String?, _ field: String, _ type: SampleType
    ) throws(LineFault) -> (numeral: Numeral?, mark: UInt32) {
        guard let name else {
            if type.kind == .category, type.categoryValues?.isOfNone ?? false { return (Numeral(coefficient: 0), 0) }
            throw LineFault(field, "it is missing")
        }
        if let number = type.categoryValues?.value(of: name) { return (Numeral(coefficient: Int64(number)), 0) }
        return (nil, UInt32(truncatingIfNeeded: StableHash.hash(name)) & 0x7FFF_FFFF)
    }
}
