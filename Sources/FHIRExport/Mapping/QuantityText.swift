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
        /// `,"unit":…,"system":…,"code":…}`.
        var tail: [UInt8]
    }

    init(_ context: ExportContext) { self.context = context }

    /// Appends an amount in its original unit.
    static func append(_ amount: Amount, to bytes: inout [UInt8]) {
        bytes += "{\"value\":".utf8
        append(amount.numeral, to: &bytes)
        bytes += ",\"unit\":".utf8
        JSONText.append(string: amount.unit?.code ?? "1", to: &bytes)
        bytes += ",\"system\":\"\(ObservationCodes.ucum)\",\"code\":".utf8
        JSONText.append(string: amount.unit?.code ?? "1", to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends `{"value":…,"unit":…,"system":…,"code":…}`.
    func append(_ sample: Sample, to bytes: inout [UInt8]) {
        let choice = choice(for: sample)
        bytes += "{\"value\":".utf8
        let value = choice.conversion.map { $0(sample.value) }
        if let value, value != sample.numeral.doubleValue {
            Self.append(value, to: &bytes)
        } else {
            // The number is unchanged, so the measured digits are used.
            Self.append(sample.numeral, to: &bytes)
        }
        bytes += choice.tail
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
        var tail = Array(",\"unit\":".utf8)
        JSONText.append(string: unit.code, to: &tail)
        tail += ",\"system\":\"\(ObservationCodes.ucum)\",\"code\":".utf8
        JSONText.append(string: unit.code, to: &tail)
        tail.append(UInt8(ascii: "}"))
        return Choice(conversion: conversion, tail: tail)
    }

    /// Appends the original digits if they are valid JSON.
    private static func append(_ numeral: Numeral, to bytes: inout [UInt8]) {
        guard numeral.isPlain else {
            bytes += numeral.canonicalText.utf8
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32 + Int(-numeral.exponent)) { buffer in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<numeral.write(plainInto: buffer)]))
        }
    }

    /// Appends the shortest text that reads back as the same number, without a fraction for integers.
    private static func append(_ number: Double, to bytes: inout [UInt8]) {
        guard number.rounded(.towardZero) == number, number.magnitude < 1e15 else {
            bytes += number.description.utf8
            return
        }
        JSONText.append(integer: Int64(number), to: &bytes)
    }
}
