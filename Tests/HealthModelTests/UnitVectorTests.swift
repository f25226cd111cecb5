import FoundationEssentials
import Testing

@testable import HealthModel

/// Conversions and refusals that independent programs agree on. Each case names them.
@Suite struct UnitVectorTests {
    struct Conversion: Decodable {
        let value: Double
        let from: String
        let to: String
        let expected: Double
        let relativeTolerance: Double
        let note: String

        enum CodingKeys: String, CodingKey {
            case value, from, to, expected, note
            case relativeTolerance = "rel_tol"
        }
    }

    struct Refusal: Decodable {
        let value: Double
        let from: String
        let to: String
    }

    @Test func conversions() throws {
        let cases = try TestFile.json([Conversion].self, "Vectors/ucum_convert.json")
        #expect(cases.count >= 180)
        for one in cases {
            let molarMass = one.note.hasPrefix("glucose") ? 180.156 : nil
            let conversion = try Unit(ucum: one.from).conversion(to: Unit(ucum: one.to), molarMass: molarMass)
            let tolerance = abs(one.expected) * one.relativeTolerance
            let comment: Comment = "\(one.value) \(one.from) in \(one.to)"
            #expect(abs(conversion(one.value) - one.expected) <= tolerance, comment)
            #expect(abs(conversion.convert(try Numeral(one.value.description)) - one.expected) <= tolerance, comment)
        }
    }

    @Test func refusals() throws {
        let cases = try TestFile.json([Refusal].self, "Vectors/ucum_refuse.json")
        #expect(cases.count >= 24)
        for one in cases {
            #expect(throws: UnitError.self, "\(one.from) in \(one.to)") {
                try Unit(ucum: one.from).conversion(to: Unit(ucum: one.to))
            }
        }
    }
}
