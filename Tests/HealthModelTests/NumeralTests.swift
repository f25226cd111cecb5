import Testing

@testable import HealthModel

@Suite struct NumeralTests {
    /// The text, the part of it that is kept, its canonical form and its value.
    @Test(arguments: [
        ("98.60", "98.60", "98.6", 98.6), ("98.6", "98.6", "98.6", 98.6), ("0", "0", "0", 0), ("-0", "-0", "0", 0),
        ("-0.00", "-0.00", "0", 0), ("0.0", "0.0", "0", 0), ("007", "007", "7", 7), ("+5", "+5", "5", 5),
        (".5", ".5", "0.5", 0.5),
        ("-.5", "-.5", "-0.5", -0.5), ("1.", "1", "1", 1), ("120", "120", "120", 120), ("1e3", "1e3", "1000", 1000),
        ("1E+3", "1E+3", "1000", 1000), ("986e-1", "986e-1", "98.6", 98.6), ("0.001", "0.001", "0.001", 0.001),
        ("-98.60", "-98.60", "-98.6", -98.6), ("0e999", "0e999", "0", 0), ("00.10", "00.10", "0.1", 0.1),
        ("123456789012345678", "123456789012345678", "123456789012345678", 1.23456789012345678e17),
        ("1234567890123456789", "1234567890123456789", "1234567890123456789", 1.234567890123456789e18),
        ("0.1234567890123456789", "0.1234567890123456789", "0.1234567890123456789", 0.1234567890123456789),
        ("1234567890123456789000", "1234567890123456789000", "1234567890123456789000", 1.234567890123456789e21),
        ("-1234567890123456789e-5", "-1234567890123456789e-5", "-12345678901234.56789", -12345678901234.56789),
        ("1e22", "1e22", "10000000000000000000000", 1e22),
        ("9007199254740993", "9007199254740993", "9007199254740993", 9_007_199_254_740_992),
        ("0.3", "0.3", "0.3", 0.3), ("5e-324", nil, "", 0), ("1e-299", "1e-299", "", 1e-299),
    ])
    func reading(text: String, retained: String?, canonical: String, value: Double) throws {
        guard let retained else {
            #expect(throws: NumeralError.outOfRange) { try Numeral(text) }
            return
        }
        let numeral = try Numeral(text)
        #expect(numeral.text == retained)
        #expect(numeral.description == retained)
        if !canonical.isEmpty { #expect(numeral.canonicalText == canonical) }
        #expect(numeral.doubleValue == value)
    }

    @Test(arguments: [
        ("", NumeralError.empty), ("1e400", .outOfRange), ("1e309", .outOfRange), ("1e99999999999999999999", .outOfRange),
        ("1e-400", .outOfRange), ("NaN", .unexpected(offset: 0)), ("nan", .unexpected(offset: 0)),
        ("inf", .unexpected(offset: 0)),
        ("-", .unexpected(offset: 0)), ("+", .unexpected(offset: 0)), (".", .unexpected(offset: 0)),
        ("-.", .unexpected(offset: 1)),
        ("0x10", .unexpected(offset: 1)), ("1e", .unexpected(offset: 1)), ("1e+", .unexpected(offset: 2)),
        ("e5", .unexpected(offset: 0)), ("1.2.3", .unexpected(offset: 3)), ("1,5", .unexpected(offset: 1)),
        (" 1", .unexpected(offset: 0)), ("1 ", .unexpected(offset: 1)), ("--1", .unexpected(offset: 1)),
        ("+-1", .unexpected(offset: 1)), ("1-", .unexpected(offset: 1)), ("١٢", .unexpected(offset: 0)),
        ("１２", .unexpected(offset: 0)), ("−5", .unexpected(offset: 0)), ("1e5.0", .unexpected(offset: 3)),
        ("1_000", .unexpected(offset: 1)), ("5\0", .unexpected(offset: 1)),
    ])
    func refused(text: String, error: NumeralError) {
        #expect(throws: error) { try Numeral(text) }
    }

    @Test func longTextsAreRefused() throws {
        #expect(try Numeral("1." + String(repeating: "0", count: 126)).canonicalText == "1")
        #expect(throws: NumeralError.outOfRange) { try Numeral("1." + String(repeating: "0", count: 127)) }
    }

    private func parse(_ text: String, decimal: Character, group: Character?) throws -> Numeral {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBytes {
            try Numeral(parsing: $0, decimalSeparator: decimal.asciiValue ?? 0, groupSeparator: group?.asciiValue)
        }
    }

    @Test(
        arguments: [
            ("36,6", ",", nil, "36.6"), ("1.024,50", ",", ".", "1024.50"), ("1,024", ".", ",", "1024"),
            ("1,234,567.8", ".", ",", "1234567.8"), ("1024", ".", ",", "1024"), ("-1,024.0", ".", ",", "-1024.0"),
            ("36.6", ",", nil, nil), ("1,02", ".", ",", nil), ("1,0245", ".", ",", nil), ("1234,567", ".", ",", nil),
            (",123", ".", ",", nil), ("1,,024", ".", ",", nil), ("1,024,5", ".", ",", nil), ("1,024,", ".", ",", nil),
            ("1.024", ",", ".", "1024"), ("1.5,000", ".", ",", nil),
        ] as [(String, Character, Character?, String?)])
    func separators(text: String, decimal: Character, group: Character?, retained: String?) {
        #expect((try? parse(text, decimal: decimal, group: group))?.text == retained, "\(text)")
    }

    @Test func equalTextsAreEqual() throws {
        #expect(try Numeral("98.60") == Numeral(coefficient: 9860, exponent: -2))
        #expect(try Numeral("98.60") != Numeral("98.6"))
        #expect(try Numeral("1e3") == Numeral("1e3"))
        #expect(try Numeral("1e3") != Numeral("1000"))
        #expect(try Numeral("98.60").reduced == (986, -1))
        #expect(Numeral(coefficient: Int64.min).text == "-9223372036854775808")
        #expect(Numeral(coefficient: -5, exponent: -3).text == "-0.005")
    }

    @Test func errorsNamePosition() {
        #expect("\(NumeralError.unexpected(offset: 1))" == "not a number: unexpected character at position 2")
        #expect("\(NumeralError.empty)" == "an empty cell is not a number")
    }
}
