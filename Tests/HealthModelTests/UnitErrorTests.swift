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
    func suggestions(text: String, intended: String?) {
        #expect(throws: UnitError.unknown(code: text, dialect: .ucum, suggestion: intended)) { try Unit(ucum: text) }
    }

    /// Capitals, blanks, powers above the line, many and one: how people write what UCUM writes in one way only.
    @Test(arguments: [
        ("kcals", "kcal"), ("KCAL", "kcal"), ("kj", "kJ"), ("KJ", "kJ"), ("KM", "km"), ("KMS", "km"), ("cms", "cm"),
        ("mgs", "mg"),
        ("kilos", "kg"), ("mg / dl", "mg/dL"), ("mg per dl", "mg/dL"), ("MMOL/L", "mmol/L"), ("mmol per litre", "mmol/L"),
        ("beats / minute", "/min"), ("beats per min", "/min"), ("breaths per minute", "/min"), ("breaths/minute", "/min"),
        ("kg/m²", "kg/m2"), ("kg/m^2", "kg/m2"), ("ml/kg/minute", "ml/kg/min"), ("lbs/in2", "[lb_av]/[in_i]2"),
        ("miles per hour", "[mi_i]/h"), ("knots", "[kn_i]"), ("steps per minute", "1{steps}/min"), ("mgdl", "mg/dL"),
        ("degrees celsius", "Cel"), ("degree fahrenheit", "[degF]"), ("kelvin", "K"), ("percentage", "%"), ("percents", "%"),
        ("KHZ", "kHz"), ("msecs", "ms"), ("meters", "m"), ("metres", "m"), ("kilometers", "km"), ("centimetres", "cm"),
        ("milligrams", "mg"), ("millilitres", "mL"), ("x", nil), ("xs", nil), ("/", nil), ("per", nil), ("²", nil),
        ("s s s s", nil),
    ])
    func spellings(text: String, intended: String?) throws {
        do {
            _ = try Unit(ucum: text)
            Issue.record("\(text) is a unit")
        } catch {
            switch error {
            case .unknown(_, _, let suggestion): #expect(suggestion == intended)
            default: #expect(intended == nil, "\(error)")
            }
        }
        if let intended { _ = try Unit(ucum: intended) }
    }

    /// UCUM codes with another meaning than people expect. The user is asked, and nothing is substituted.
    @Test(arguments: [
        ("F", "Cel", "did you mean [degF]?"), ("Cel", "F", "did you mean [degF]?"), ("C", "[degF]", "did you mean Cel?"),
        ("[degF]", "C", "did you mean Cel?"), ("F", "C", "did you mean [degF] and Cel?"), ("m", "ft", "did you mean [ft_i]?"),
        ("ft", "m", "did you mean [ft_i]?"), ("kt", "m/s", "did you mean [kn_i]?"), ("ft", "kt", nil), ("kg", "m", nil),
    ])
    func codesOfAnother(from: String, to: String, hint: String?) throws {
        let message = text { try Unit(ucum: from).conversion(to: try Unit(ucum: to)) }
        if let hint {
            #expect(message.hasSuffix("; " + hint), "\(message)")
        } else {
            #expect(!message.contains("did you mean"), "\(message)")
        }
    }

    @Test(arguments: [
        ("mm[Hg]", "mmHg"), ("bpm", "count/min"), ("ug", "mcg"), ("lbs", "lb"), ("[degF]", "degF"), ("h", "hr"),
        ("°F", "degF"), ("F", "degF"), ("Cel", "degC"), ("xyz", nil),
    ])
    func healthKitSuggestions(text: String, intended: String?) {
        #expect(throws: UnitError.unknown(code: text, dialect: .healthKit, suggestion: intended)) { try Unit(healthKit: text) }
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
