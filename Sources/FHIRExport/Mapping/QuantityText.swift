import Formats
import HealthModel
import Pipeline

/// Encodes a sample's value as a FHIR Quantity, in a unit that its profile accepts, with the measured digits.
///
/// The unit is the requested one, or else the measured one, or else the type's own. It is never one that the type's profile does
/// not accept, nor one of another dimension (a LOINC code for mass per volume does not apply to moles).
final class QuantityText {
    private let context: ExportContext
    private var choices: [Measured: Choice] = [:]
    private var latest: (measured: Measured, choice: Choice)?

    private struct Measured: Hashable {
        var type: SampleType
        var code: String
    }

    private struct Choice {
        /// The conversion from the type's canonical unit, or `nil` if the numeral is the value.
        var conversion: UnitConversion?
        var unit: String
    }

    init(_ context: ExportContext) { self.context = context }

    /// An amount in its original unit.
    static func quantity(_ amount: Amount) -> JSONObject { quantity(number(amount.numeral), amount.unit?.code ?? "1") }

    /// The value of a sample.
    func quantity(_ sample: Sample) -> JSONObject {
        let choice = choice(for: sample)
        let value = choice.conversion.map { $0(sample.value) }
        // If the number is unchanged, the measured digits are used.
        guard let value, value != sample.numeral.doubleValue else {
            return Self.quantity(Self.number(sample.numeral), choice.unit)
        }
        return Self.quantity(Self.number(value), choice.unit)
    }

    private static func quantity(_ number: RawJSON, _ unit: String) -> JSONObject {
        ["value": number, "unit": unit, "system": ObservationCodes.ucum, "code": unit]
    }

    private func choice(for sample: Sample) -> Choice {
        let measured = Measured(type: sample.origin.type, code: sample.unit.code)
        if let latest, latest.measured == measured { return latest.choice }
        let choice = choices[measured] ?? choose(measured.type, sample.unit)
        choices[measured] = choice
        latest = (measured, choice)
        return choice
    }

    private func choose(_ type: SampleType, _ measured: Unit) -> Choice {
        let canonical = type.canonicalUnit
        let admitted = type.fhirUnits
        func isAdmitted(_ unit: Unit) -> Bool {
            guard admitted.isEmpty else { return admitted.contains(unit.code) }
            return unit.code == canonical.code || (unit.dimension == canonical.dimension && unit.dimension != .dimensionless)
        }
        let wanted = context.unit(of: type)
        let isAsked = wanted.code != canonical.code
        let candidates = (isAsked ? [wanted] : []) + [measured, canonical] + admitted.compactMap { try? Unit(ucum: $0) }
        var unit = candidates.first(where: isAdmitted) ?? canonical
        // In the measured unit the numeral is the value, without rounding from a conversion.
        var conversion: UnitConversion?
        if unit.code != measured.code {
            conversion = try? canonical.conversion(to: unit, molarMass: type.molarMass)
            if conversion == nil { (unit, conversion) = (canonical, .identity) }
        }
        return Choice(conversion: conversion, unit: unit.code)
    }

    /// The original digits if they are valid JSON.
    private static func number(_ numeral: Numeral) -> RawJSON { RawJSON(numeral.isPlain ? numeral.text : numeral.canonicalText) }

    /// The shortest text that reads back as the same number, without a fraction for integers.
    private static func number(_ number: Double) -> RawJSON {
        let isWhole = number.rounded(.towardZero) == number && number.magnitude < 1e15
        return RawJSON(isWhole ? "\(Int64(number))" : number.description)
    }
}
