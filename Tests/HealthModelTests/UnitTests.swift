import Testing

@testable import HealthModel

@Suite struct UnitTests {
    @Test(arguments: [
        ("mg/dL", "mg/dL"), ("mg/dl", "mg/dL"), ("l", "L"), ("kg.m-2", "kg/m2"), ("kg/m2", "kg/m2"), ("{beats}/min", "/min"),
        ("1/min", "/min"), ("/min", "/min"), ("min-1", "/min"), ("{steps}", "1{steps}"), ("1{steps}", "1{steps}"), ("1", "1"),
        ("mL/(kg.min)", "mL/kg/min"), ("mL/min/kg", "mL/min/kg"), ("mL/min.kg", "mL.kg/min"), ("m[IU]/mL", "m[iU]/mL"),
        ("[IU]", "[iU]"), ("10*3/uL", "10*3/uL"), ("10^3/uL", "10*3/uL"), ("10*-6.L", "L/10*6"), ("mg{creat}/dL", "mg/dL"),
        ("m.m", "m2"), ("g/g", "1"), ("mg/g", "mg/g"), ("dam", "dam"), ("cd", "cd"), ("min", "min"), ("mmin", nil),
        ("Pa", "Pa"), ("mm[Hg]", "mm[Hg]"), ("cm[H2O]", "cm[H2O]"), ("dB[SPL]", "dB[SPL]"), ("%", "%"), ("Cel", "Cel"),
        ("mCel", "mCel"), ("m[degF]", nil), ("Cel/min", nil), ("Cel2", nil), ("/Cel", nil), ("2.Cel", nil), ("dB/m", nil),
        ("100.g", "100.g"), ("10.[foz_br]", "10.[foz_br]"), ("/(s.m)", "/s/m"), ("((m))", "m"), ("m/(s/kg)", "m.kg/s"),
        ("[in_i'Hg]", "[in_i'Hg]"), ("[p'diop]", "[p'diop]"), ("kat", "kat"), ("umol/min", "umol/min"), ("U/L", "U/L"),
        ("", nil), (" ", nil), ("kg ", nil), ("KG", nil), ("m0", nil), ("m+", nil), ("m-", nil), ("0", nil), ("07.g", nil),
        ("g.", nil), ("g/", nil), (".g", nil), ("//g", nil), ("(g", nil), ("g)", nil), ("()", nil), ("{", nil), ("{a", nil),
        ("a{b{c}}", nil), ("g}", nil), ("[g", nil), ("g]", nil), ("[[g]]", nil), ("m100", nil), ("9999999999999999", nil),
        ("°C", nil), ("\0", nil), ("g\u{0}", nil), ("10*", "10*1"), ("m3.m-3", "1"), ("[mi_i]99", nil),
    ])
    func canonicalCode(text: String, code: String?) {
        let unit = try? Unit(ucum: text)
        #expect(unit?.code == code, "\(text)")
        guard let unit else { return }
        let again = try? Unit(ucum: unit.code)
        #expect(again == unit, "the code \(unit.code) reads back as itself")
        #expect(again?.factor == unit.factor)
    }

    @Test func aLookAlikeUnitIsOneUnit() throws {
        let codes = ["ug/mL", "\u{B5}g/mL", "\u{3BC}g/mL"]
        let units = try codes.map { try Unit(ucum: $0) }
        #expect(Set(units).count == 1)
        #expect(units.allSatisfy { $0.code == "ug/mL" })
        let strings = try ["mcg", "\u{B5}g", "\u{3BC}g"].map { try Unit(healthKit: $0) }
        #expect(Set(strings).count == 1)
        #expect(strings[0].code == "ug")
    }

    @Test(arguments: [
        ("Cel", "temperature"), ("kg", "mass"), ("mm[Hg]", "pressure"), ("mg/dL", "mass concentration"), ("/min", "1/time"),
        ("mmol/L", "substance concentration"), ("%", "number"), ("kcal", "energy"), ("mL/kg/min", "volume flow rate per mass"),
        ("[iU]", "biological units"), ("dB[SPL]", "sound pressure level"), ("kg/m2", "mass per area"),
        ("F", "electric capacitance"), ("Ohm", "electric resistance"), ("lx", "illuminance"), ("[diop]", "1/length"),
        ("m4.kg", "L4·M"), ("kg.m/s", "L·M·T-1"),
    ])
    func dimensionNames(code: String, name: String) throws {
        #expect(try Unit(ucum: code).dimension.description == name)
    }

    @Test func everyAtomOfTheTableIsThere() {
        let symbols = UnitAtoms.table.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(symbols.count == 92)
        for symbol in symbols { #expect(UnitAtoms.standard[symbol]?.symbol == symbol) }
    }

    @Test func equalUnitsHaveEqualHashes() throws {
        let one = try Unit(ucum: "mg/dl")
        let other = try Unit(ucum: "mg/dL")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(try Unit(healthKit: "mmol<180>/L") != Unit(healthKit: "mmol/L"), "the molar mass is part of the unit")
    }

    @Test func limitsDepthAndLength() {
        let deep = String(repeating: "(", count: 16) + "g" + String(repeating: ")", count: 16)
        #expect((try? Unit(ucum: deep))?.code == "g")
        #expect(throws: UnitError.malformed(code: "(" + deep + ")", offset: 17)) { try Unit(ucum: "(" + deep + ")") }
        #expect((try? Unit(healthKit: deep))?.code == "g")
        #expect(throws: UnitError.self) { try Unit(healthKit: "(" + deep + ")") }
        let long = String(repeating: "g.", count: 100) + "g"
        #expect(throws: UnitError.malformed(code: String(long.prefix(128)), offset: 128)) { try Unit(ucum: long) }
        #expect(throws: UnitError.self) { try Unit(healthKit: long) }
        #expect(throws: UnitError.self) { try Unit(ucum: "Ym99.Ym98") }
    }

    /// Whatever is cut off or out, a code is read or refused.
    @Test func fragmentsAreReadOrRefused() {
        let codes = [
            "mL/(kg.min)", "{beats}/min", "10*3/uL", "kg.m2.s-2", "[in_i'Hg]", "mm[Hg]", "1{steps}", "\u{B5}g/dL", "10^-12.mol/L",
            "mmol<180.15588000005408>/L", "mL/min·kg", "kcal/(kg*hr)", "m/s^-2", "(kg·m)^2/s", "appleEffortScore", "mc\u{B5}",
        ]
        for code in codes {
            let bytes = Array(code.utf8)
            for place in bytes.indices {
                var shorter = bytes
                shorter.remove(at: place)
                for fragment in [Array(bytes[..<place]), Array(bytes[place...]), shorter] {
                    let text = String(decoding: fragment, as: UTF8.self)
                    for unit in [try? Unit(ucum: text), try? Unit(healthKit: text)] {
                        guard let unit else { continue }
                        #expect((try? Unit(ucum: unit.code))?.code == unit.code, "\(text) gives \(unit.code)")
                    }
                }
            }
        }
    }

    /// Arbitrary bytes, from a generator that always gives the same ones.
    @Test func noiseIsReadOrRefused() {
        var state: UInt64 = 42
        let alphabet = Array("mgLsk[]{}()/.*^-+0123456789%'·µ<>°\u{A0} inHgdegFCel".unicodeScalars)
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            _ = try? Unit(ucum: String(text))
            _ = try? Unit(healthKit: String(text))
        }
    }
}
