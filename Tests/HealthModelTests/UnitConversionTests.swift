import Testing

@testable import HealthModel

@Suite struct UnitConversionTests {
    private func convert(_ text: String, _ from: String, _ to: String, molarMass: Double? = nil) throws -> Double {
        try Unit(ucum: from).conversion(to: Unit(ucum: to), molarMass: molarMass).convert(Numeral(text))
    }

    /// Every expected number is the exact decimal result, so the literal is the nearest Double.
    @Test(arguments: [
        ("98.6", "[degF]", "Cel", 37.0), ("98.60", "[degF]", "Cel", 37.0), ("32", "[degF]", "Cel", 0.0),
        ("-40", "[degF]", "Cel", -40.0), ("0", "K", "Cel", -273.15), ("37", "Cel", "[degF]", 98.6), ("37", "Cel", "K", 310.15),
        ("100.4", "[degF]", "Cel", 38.0), ("0", "[degF]", "K", 255.3722222222222222222), ("37000", "mCel", "Cel", 37.0),
        ("37", "Cel", "mCel", 37000.0), ("159.6", "[lb_av]", "kg", 72.393342252), ("12.5", "[stone_av]", "kg", 79.37866475),
        ("175", "[ft_i]", "m", 53.34), ("5.9", "[ft_i]", "cm", 179.832), ("0.3", "kg", "g", 300.0), ("400", "mg", "g", 0.4),
        ("120", "mm[Hg]", "kPa", 15.9986864898), ("1", "[in_i'Hg]", "Pa", 3386.388640341), ("1", "cm[H2O]", "Pa", 98.0665),
        ("72", "/min", "Hz", 1.2), ("1.2", "Hz", "/min", 72.0), ("0.98", "1", "%", 98.0), ("98", "%", "1", 0.98),
        ("1", "kcal", "kJ", 4.184), ("1", "[Cal]", "kcal", 1.0), ("1", "[gal_us]", "L", 3.785411784),
        ("1", "[cup_us]", "mL", 236.5882365), ("1", "[foz_br]", "mL", 28.4130625), ("1", "mo", "d", 30.4375),
        ("180", "deg", "rad", 3.141592653589793), ("1", "10*9/L", "10*6/mL", 1.0), ("1", "[MET]", "mL/kg/min", 3.5),
        ("2.5", "kW.h", "MJ", 9.0), ("10", "dB[SPL]", "B[SPL]", 1.0), ("1", "k[iU]/L", "[IU]/mL", 1.0),
        ("1e3", "g", "kg", 1.0), ("+5", "g", "mg", 5000.0), ("1e-30", "kg", "g", 1e-27), ("1e30", "g", "kg", 1e27),
        ("123456789012345678901234567890", "g", "kg", 123456789012345678901234567.890),
        ("0.00000000000000000000000001234567890123456789", "kg", "g", 1.234567890123456789e-23),
        ("9223372036854775.807", "g", "mg", 9223372036854775807.0), ("1e300", "kg", "g", 1e303), ("1e-299", "g", "kg", 1e-302),
        ("-0", "kg", "g", 0.0),
    ])
    func exactToTheLastBit(text: String, from: String, to: String, expected: Double) throws {
        #expect(try convert(text, from, to) == expected)
    }

    @Test func everyTenthOfADegreeIsCorrectlyRounded() throws {
        let conversion = try Unit(ucum: "[degF]").conversion(to: Unit(ucum: "Cel"))
        for tenths in 900...1100 {
            // (t/10 - 32) × 5/9 = (t - 320) / 18: both integers are exact, so the one division is correctly rounded.
            let expected = Double(tenths - 320) / 18
            #expect(conversion.convert(Numeral(coefficient: Int64(tenths), exponent: -1)) == expected)
            #expect(conversion.convert(Numeral(coefficient: Int64(tenths) * 1000, exponent: -4)) == expected)
        }
    }

    @Test func everyTenthOfAPoundIsCorrectlyRounded() throws {
        let conversion = try Unit(ucum: "[lb_av]").conversion(to: Unit(ucum: "kg"))
        for tenths in 1...5000 {
            let expected = Double(tenths * 45_359_237) / 1e9
            #expect(conversion.convert(Numeral(coefficient: Int64(tenths), exponent: -1)) == expected)
        }
    }

    @Test func sameUnitChangesNothing() throws {
        let conversion = try Unit(ucum: "mL/min/kg").conversion(to: Unit(ucum: "mL/(kg.min)"))
        #expect(conversion.isIdentity)
        #expect(conversion.convert(try Numeral("42.10")) == 42.1)
        #expect(conversion(42.1) == 42.1)
        #expect(try Unit(ucum: "{steps}").conversion(to: .one).isIdentity)
        #expect(try !Unit(ucum: "Cel").conversion(to: Unit(ucum: "K")).isIdentity)
        #expect(try Unit(ucum: "Cel").conversion(to: Unit(ucum: "Cel")).isIdentity)
    }

    @Test func notANumberStaysNone() throws {
        let conversion = try Unit(ucum: "[lb_av]").conversion(to: Unit(ucum: "kg"))
        #expect(conversion(.nan).isNaN)
        #expect(conversion(.infinity) == .infinity)
        #expect(conversion(-.infinity) == -.infinity)
        #expect(conversion(1e308) == 1e308 * 0.45359237)
    }

    @Test func glucoseNeedsAMolarMass() throws {
        #expect(try convert("5.5", "mmol/L", "mg/dL", molarMass: 180.156) == 99.0858)
        #expect(try convert("10", "mmol/L", "mg/dL", molarMass: 180.15588000005408) == 180.15588000005408)
        #expect(throws: UnitError.needsMolarMass(from: "mmol/L", to: "mg/dL")) { try convert("5.5", "mmol/L", "mg/dL") }
        #expect(throws: UnitError.needsMolarMass(from: "mmol/L", to: "mg/dL")) {
            try convert("5.5", "mmol/L", "mg/dL", molarMass: 0)
        }
        #expect(throws: UnitError.needsMolarMass(from: "mg/dL", to: "mmol/L")) {
            try convert("99", "mg/dL", "mmol/L", molarMass: .nan)
        }
        // A molar mass is not required if it is not needed.
        #expect(try convert("1", "g", "mg", molarMass: 180.156) == 1000)
    }

    @Test func theUnitsOwnMolarMass() throws {
        let own = try Unit(healthKit: "mmol<180.15588000005408>/L")
        #expect(own.molarMass == 180.15588000005408)
        #expect(own.code == "mmol/L")
        let conversion = try own.conversion(to: Unit(ucum: "mg/dL"))
        #expect(conversion.convert(try Numeral("5.5")) == 99.085734000029744)
        let back = try Unit(ucum: "mg/dL").conversion(to: own)
        #expect(back.convert(try Numeral("180.15588000005408")) == 10)
    }

    @Test func biologicalUnitsHaveNoMass() throws {
        #expect(throws: UnitError.self) { try convert("1", "[iU]", "mg", molarMass: 180) }
        #expect(throws: UnitError.self) { try convert("1", "[iU]", "1") }
    }

    @Test func levelsConvertOnlyToLevels() throws {
        #expect(throws: UnitError.self) { try convert("60", "dB[SPL]", "dB") }
        #expect(throws: UnitError.self) { try convert("60", "dB[SPL]", "Pa") }
        #expect(throws: UnitError.self) { try convert("60", "dB", "1") }
        #expect(throws: UnitError.self) { try convert("1", "Np", "B") }
    }
}
