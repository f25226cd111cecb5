import Testing

@testable import HealthModel

@Suite struct UnitErrorTests {
    @Test(arguments: [
        ("mmHg", "mm[Hg]"), ("degF", "[degF]"), ("lb", "[lb_av]"), ("lbs", "[lb_av]"), ("bpm", "/min"), ("KG", "kg"),
        ("°C", "Cel"), ("°F", "[degF]"), ("hr", "h"), ("count/min", "/min"), ("km/hr", "km/h"), ("mcg", "ug"),
        ("mcg/dL", "ug/dL"), ("mmHg/min", "mm[Hg]/min"), ("beats/min", "/min"), ("oz", "[oz_av]"), ("in", "[in_i]"),
        ("IU", "[iU]"), ("kcal/hr·kg", "kcal/h/kg"), ("steps", "1{steps}"), ("deg F", "[degF]"), ("appleEffortScore", "1{score}"),
        ("sec", "s"), ("MMHG", "mm[Hg]"), ("mg/DL", "mg/dL"), ("xyz", nil), ("xyz/min", nil),
    ])
    func suggestions(text: String, meant: String?) {
        #expect(throws: UnitError.unknown(code: text, dialect: .ucum, suggestion: meant)) { try Unit(ucum: text) }
    }

    @Test(arguments: [
        ("mm[Hg]", "mmHg"), ("bpm", "count/min"), ("ug", "mcg"), ("lbs", "lb"), ("[degF]", "degF"), ("h", "hr"),
        ("°F", "degF"), ("F", "degF"), ("Cel", "degC"), ("xyz", nil),
    ])
    func healthKitSuggestions(text: String, meant: String?) {
        #expect(throws: UnitError.unknown(code: text, dialect: .healthKit, suggestion: meant)) { try Unit(healthKit: text) }
    }

    private func text(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func texts() throws {
        #expect(text { try Unit(ucum: "mmHg") } == "mmHg is not a UCUM unit; did you mean mm[Hg]?")
        #expect(text { try Unit(healthKit: "xyz") } == "xyz is not a HealthKit unit")
        #expect(text { try Unit(ucum: "") } == "an empty text is not a UCUM unit")
        #expect(text { try Unit(ucum: "mg/") } == "mg/ is not a unit: unexpected character at position 4")
        #expect(text { try Unit(ucum: "Cel/min") } == "Cel/min is not a unit: Cel cannot be multiplied, divided or raised")
        let celsius = try Unit(ucum: "Cel")
        #expect(
            text { try Unit(ucum: "mg/dL").conversion(to: celsius) }
                == "mg/dL (mass concentration) cannot be converted to Cel (temperature)")
        #expect(
            text { try Unit(ucum: "F").conversion(to: celsius) }
                == "F (electric capacitance) cannot be converted to Cel (temperature); did you mean [degF]?")
        #expect(
            text { try Unit(ucum: "mg/dL").conversion(to: Unit(ucum: "mmol/L")) }
                == "mg/dL cannot be converted to mmol/L without the substance's molar mass in g/mol")
    }
}
