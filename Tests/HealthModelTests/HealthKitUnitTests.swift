import Testing

@testable import HealthModel

@Suite struct HealthKitUnitTests {
    /// HealthKit's string, our code, and the string that is written if it differs.
    @Test(arguments: [
        ("g", "g", nil), ("kg", "kg", nil), ("mg", "mg", nil), ("mcg", "ug", nil), ("oz", "[oz_av]", nil),
        ("lb", "[lb_av]", nil), ("st", "[stone_av]", nil), ("mol", "mol", nil), ("mmol", "mmol", nil), ("m", "m", nil),
        ("cm", "cm", nil), ("in", "[in_i]", nil), ("ft", "[ft_i]", nil), ("yd", "[yd_i]", nil), ("mi", "[mi_i]", nil),
        ("L", "L", nil), ("l", "L", "L"), ("mL", "mL", nil), ("fl_oz_us", "[foz_us]", nil), ("fl_oz_imp", "[foz_br]", nil),
        ("cup_us", "[cup_us]", nil), ("cup_imp", "10.[foz_br]", nil), ("pt_us", "[pt_us]", nil), ("pt_imp", "[pt_br]", nil),
        ("Pa", "Pa", nil), ("hPa", "hPa", nil), ("mmHg", "mm[Hg]", nil), ("inHg", "[in_i'Hg]", nil),
        ("cmAq", "cm[H2O]", nil), ("atm", "atm", nil), ("dBASPL", "dB[SPL]", nil), ("dBHL", "dB", nil), ("s", "s", nil),
        ("ms", "ms", nil), ("min", "min", nil), ("hr", "h", nil), ("d", "d", nil), ("Hz", "Hz", nil), ("J", "J", nil),
        ("kJ", "kJ", nil), ("cal", "cal", nil), ("kcal", "kcal", nil), ("Cal", "kcal", "kcal"), ("K", "K", nil),
        ("degC", "Cel", nil), ("degF", "[degF]", nil), ("S", "S", nil), ("mcS", "uS", nil), ("IU", "[iU]", nil),
        ("count", "1", nil), ("%", "1", nil), ("V", "V", nil), ("mcV", "uV", nil), ("W", "W", nil), ("rad", "rad", nil),
        ("deg", "deg", nil), ("D", "[diop]", nil), ("pD", "[p'diop]", nil), ("lx", "lx", nil),
        ("appleEffortScore", "1{score}", nil), ("count/min", "/min", nil), ("count/s", "/s", nil), ("mg/dL", "mg/dL", nil),
        ("mg/dl", "mg/dL", "mg/dL"), ("mmol<180.15588000005408>/L", "mmol/L", nil), ("L/min", "L/min", nil),
        ("m/s", "m/s", nil), ("km/hr", "km/h", nil), ("ml/(kg*min)", "mL/kg/min", "mL/kg·min"),
        ("mL/min·kg", "mL/min/kg", nil), ("mL/min*kg", "mL/min/kg", "mL/min·kg"), ("mL/min.kg", "mL/min/kg", "mL/min·kg"),
        ("kcal/(kg*hr)", "kcal/kg/h", "kcal/kg·hr"), ("kcal/hr·kg", "kcal/h/kg", nil), ("kg/m^2", "kg/m2", nil),
        ("m/s^2", "m/s2", nil), ("(m·s)^2", "m2.s2", "m^2·s^2"), ("s^-1", "/s", "count/s"), ("\u{A0}kg ", "kg", "kg"),
        ("fg", "fg", nil), ("dag", "dag", nil), ("Tm", "Tm", nil), ("mcm", "um", nil), ("mcmol/L", "umol/L", nil),
    ])
    func strings(text: String, code: String, written: String?) throws {
        let unit = try Unit(healthKit: text)
        #expect(unit.code == code)
        #expect(unit.healthKitString == written ?? text)
    }

    @Test(arguments: [
        "", " ", "mg/dL/min", "mL/(min/kg)", "1/min", "/min", "mmHg2", "mlb", "kmin", "kcount", "Yg", "yg", "mol<>", "mol<180",
        "mol<-1>", "mol<0>", "g<180>", "m^", "m^0", "m^x", "(m", "m)", "m·", "·m", "KG", "ug", "bpm", "beats/min", "m s", "mg dL",
        "Cel", "mm[Hg]", "{steps}", "degF/min", "mdegC", "unknown", "mmol<180>·mol<180>",
    ])
    func refused(text: String) {
        #expect(throws: UnitError.self) { try Unit(healthKit: text) }
    }

    @Test func multiplicationBindsTighterThanDivision() throws {
        #expect(try Unit(healthKit: "mL/min·kg").dimension == Unit(ucum: "mL/(min.kg)").dimension)
        #expect(try Unit(healthKit: "mL/min·kg").conversion(to: Unit(ucum: "mL/kg/min")).isIdentity)
        // UCUM works from left to right.
        #expect(try Unit(ucum: "mL/min.kg").dimension == Unit(ucum: "mL.kg/min").dimension)
    }

    @Test func aPercentIsTheRatioThere() throws {
        let percent = try Unit(healthKit: "%")
        #expect(percent.code == "1")
        #expect(percent.healthKitString == "%")
        #expect(try percent.conversion(to: Unit(ucum: "%")).convert(Numeral("0.98")) == 98)
        #expect(try Unit(ucum: "%").healthKitString == nil, "HealthKit has no hundredth")
    }

    @Test func largeCaloriesAndMoles() throws {
        #expect(try Unit(healthKit: "Cal").conversion(to: Unit(healthKit: "J"))(1) == 4184)
        #expect(try Unit(healthKit: "cup_imp").conversion(to: Unit(healthKit: "mL"))(1) == 284.130625)
        #expect(try Unit(healthKit: "mmol<180.1558800000541>/L").molarMass == 180.1558800000541)
        #expect(try Unit(ucum: "mmol/L").healthKitString == "mmol/L")
    }

    @Test(arguments: [
        ("[Cal]", "Cal"), ("ug", "mcg"), ("[degF]", "degF"), ("/min", "count/min"), ("1{steps}", "count"),
        ("1{score}", "appleEffortScore"), ("m2", "m^2"), ("kat", nil), ("wk", nil), ("k[lb_av]", nil), ("[pH]", nil),
        ("10*3/uL", nil), ("Yg", nil), ("[iU]/L", "IU/L"), ("k[iU]", nil),
    ])
    func fromUCUM(code: String, string: String?) {
        #expect((try? Unit(ucum: code))?.healthKitString == string)
    }
}
