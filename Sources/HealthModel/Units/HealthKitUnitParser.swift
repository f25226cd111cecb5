/// Reads HealthKit's unit strings, whose multiplication binds tighter than division: `mL/min·kg` is `mL/(min·kg)`.
///
///     unit    = product ("/" product)?
///     product = factor (("·" | "." | "*") factor)*
///     factor  = (symbol | "(" product ")") ("^" integer)?
struct HealthKitUnitParser {
    private let text: String
    private let bytes: [UInt8]
    private var index = 0
    private var expression = UnitExpression()

    static func parse(_ text: String) throws(UnitError) -> UnitExpression {
        guard !text.isEmpty else { throw .unknown(code: "", dialect: .healthKit, suggestion: nil) }
        guard text.utf8.count <= UCUMParser.maximumLength else {
            throw .malformed(code: String(text.prefix(UCUMParser.maximumLength)), offset: UCUMParser.maximumLength)
        }
        var parser = HealthKitUnitParser(text: text)
        return try parser.parse()
    }

    private init(text: String) {
        self.text = text
        bytes = MicroSign.replaced(in: text, by: "mc")
    }

    private var malformed: UnitError { .malformed(code: text, offset: min(index, text.utf8.count)) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func parse() throws(UnitError) -> UnitExpression {
        for term in try product(depth: 0) { expression.append(term) }
        if next == UInt8(ascii: "/") {
            index += 1
            for var term in try product(depth: 0) {
                term.exponent = -term.exponent
                expression.append(term)
            }
        }
        guard index == bytes.count else { throw malformed }
        if text == "appleEffortScore" { expression.label = "score" }
        return expression
    }

    private mutating func product(depth: Int) throws(UnitError) -> [UnitTerm] {
        guard depth <= UCUMParser.maximumDepth else { throw malformed }
        var terms = try factor(depth: depth)
        while multiplication() { terms += try factor(depth: depth) }
        return terms
    }

    /// Moves past `.`, `*` or the middle dot, U+00B7.
    private mutating func multiplication() -> Bool {
        if next == UInt8(ascii: ".") || next == UInt8(ascii: "*") {
            index += 1
            return true
        }
        guard next == 0xC2, index + 1 < bytes.count, bytes[index + 1] == 0xB7 else { return false }
        index += 2
        return true
    }

    private mutating func factor(depth: Int) throws(UnitError) -> [UnitTerm] {
        var terms: [UnitTerm]
        if next == UInt8(ascii: "(") {
            index += 1
            terms = try product(depth: depth + 1)
            guard next == UInt8(ascii: ")") else { throw malformed }
            index += 1
        } else {
            terms = try symbol()
        }
        guard next == UInt8(ascii: "^") else { return terms }
        index += 1
        let power = try exponent()
        for place in terms.indices {
            terms[place].exponent *= power
            guard abs(terms[place].exponent) < 100 else { throw malformed }
        }
        return terms
    }

    private mutating func exponent() throws(UnitError) -> Int {
        var sign = 1
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
            sign = next == UInt8(ascii: "-") ? -1 : 1
            index += 1
        }
        let start = index
        var value = 0
        while let byte = next, byte &- UInt8(ascii: "0") < 10, index - start < 2 {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            index += 1
        }
        guard value > 0 else { throw malformed }
        return sign * value
    }

    private mutating func symbol() throws(UnitError) -> [UnitTerm] {
        let start = index
        while let byte = next, Self.isSymbol(byte) { index += 1 }
        guard index > start else { throw malformed }
        let symbol = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let (code, prefix) = Self.resolve(symbol) else {
            throw .unknown(code: symbol, dialect: .healthKit, suggestion: nil)
        }
        if next == UInt8(ascii: "<") { try molarMass(isMole: code == "mol") }
        let terms = try UCUMParser.parse(code).terms
        guard let prefix else { return terms }
        return terms.map { UnitTerm(prefix: prefix, atom: $0.atom, exponent: $0.exponent) }
    }

    /// `<grams per mole>` after `mol`.
    private mutating func molarMass(isMole: Bool) throws(UnitError) {
        guard isMole, expression.molarMass == nil else { throw malformed }
        let start = index + 1
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")),
            let numeral = try? Numeral(String(decoding: bytes[start..<end], as: UTF8.self)), numeral.doubleValue > 0
        else { throw malformed }
        expression.molarMass = numeral.doubleValue
        index = end + 1
    }

    private static func isSymbol(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "%"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"):
            true
        default:
            // Degree signs and the like are parts of an unknown symbol. The middle dot, which also starts with 0xC2, is a separator.
            byte >= 0xC3
        }
    }

    /// Longest symbol first, so that `mcg` is a microgram.
    private static let prefixes = UnitPrefix.all
        .compactMap { prefix in prefix.healthKit.map { ($0, prefix) } }
        .sorted { $0.0.utf8.count > $1.0.utf8.count }

    /// A symbol's UCUM code and the prefix before it.
    private static func resolve(_ text: String) -> (code: String, UnitPrefix?)? {
        if let symbol = HealthKitSymbols.symbols[text] { return (symbol.code, nil) }
        for (written, prefix) in prefixes {
            guard text.hasPrefix(written), let symbol = HealthKitSymbols.symbols[String(text.dropFirst(written.count))],
                symbol.takesPrefix
            else { continue }
            return (symbol.code, prefix)
        }
        return nil
    }
}
