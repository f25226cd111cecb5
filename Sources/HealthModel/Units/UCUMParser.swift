/// Reads UCUM's case-sensitive codes (https://ucum.org/ucum, sections 2 and 3).
///
///     term      = component (("." | "/") component)*, or a leading "/"
///     component = symbol exponent? annotation? | integer annotation? | annotation | "(" term ")"
struct UCUMParser {
    /// Longest code read, in bytes, and deepest parentheses.
    static let maximumLength = 128
    static let maximumDepth = 16

    private let code: String
    private let bytes: [UInt8]
    private let atoms: UnitAtoms
    private var index = 0
    private var expression = UnitExpression()
    private var lastLabel: String?

    static func parse(_ text: String, atoms: UnitAtoms = .standard) throws(UnitError) -> UnitExpression {
        guard !text.isEmpty else { throw .unknown(code: "", dialect: .ucum, suggestion: nil) }
        guard text.utf8.count <= maximumLength else {
            throw .malformed(code: String(text.prefix(maximumLength)), offset: maximumLength)
        }
        var parser = UCUMParser(code: text, atoms: atoms)
        return try parser.parse()
    }

    private init(code: String, atoms: UnitAtoms) {
        self.code = code
        self.atoms = atoms
        bytes = MicroSign.replaced(in: code)
    }

    private mutating func parse() throws(UnitError) -> UnitExpression {
        try term(sign: 1, depth: 0)
        guard index == bytes.count else { throw malformed }
        if expression.terms.isEmpty { expression.label = lastLabel }
        return expression
    }

    private var malformed: UnitError { .malformed(code: code, offset: index) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func term(sign: Int, depth: Int) throws(UnitError) {
        guard depth <= Self.maximumDepth else { throw malformed }
        var direction = sign
        if depth == 0, next == UInt8(ascii: "/") {
            index += 1
            direction = -sign
        }
        try component(sign: direction, depth: depth)
        while let separator = next, separator == UInt8(ascii: ".") || separator == UInt8(ascii: "/") {
            index += 1
            try component(sign: separator == UInt8(ascii: "/") ? -sign : sign, depth: depth)
        }
    }

    private mutating func component(sign: Int, depth: Int) throws(UnitError) {
        guard let byte = next else { throw malformed }
        switch byte {
        case UInt8(ascii: "("):
            index += 1
            try term(sign: sign, depth: depth + 1)
            guard next == UInt8(ascii: ")") else { throw malformed }
            index += 1
        case UInt8(ascii: "{"):
            try annotation()
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number(sign: sign)
            if next == UInt8(ascii: "{") { try annotation() }
        default:
            try simpleUnit(sign: sign)
            if next == UInt8(ascii: "{") { try annotation() }
        }
    }

    /// Annotations name the counted objects and change nothing.
    private mutating func annotation() throws(UnitError) {
        index += 1
        let start = index
        while let byte = next, byte != UInt8(ascii: "}") {
            guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "{") else { throw malformed }
            index += 1
        }
        guard next != nil else { throw malformed }
        if index > start { lastLabel = String(decoding: bytes[start..<index], as: UTF8.self) }
        index += 1
    }

    /// An integer factor, or the powers of ten `10*3` and `10^3`.
    private mutating func number(sign: Int) throws(UnitError) {
        let start = index
        var value: UInt64 = 0
        while let byte = next, byte &- UInt8(ascii: "0") < 10 {
            guard index - start < 15 else { throw malformed }
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
            index += 1
        }
        if value == 10, index - start == 2, next == UInt8(ascii: "*") || next == UInt8(ascii: "^") {
            index += 1
            guard let ten = atoms["10*"] else { throw malformed }
            let power = try exponent() ?? 1
            expression.append(UnitTerm(prefix: nil, atom: ten, exponent: sign * power))
            return
        }
        guard value > 0, bytes[start] != UInt8(ascii: "0") else {
            index = start
            throw malformed
        }
        if value > 1, let term = UnitTerm(integer: value, exponent: sign) { expression.append(term) }
    }

    private mutating func exponent() throws(UnitError) -> Int? {
        let start = index
        var sign = 1
        if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
            sign = next == UInt8(ascii: "-") ? -1 : 1
            index += 1
        }
        let digits = index
        var value = 0
        while let byte = next, byte &- UInt8(ascii: "0") < 10 {
            guard index - digits < 2 else { throw malformed }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            index += 1
        }
        if index == start { return nil }
        guard index > digits, value > 0 else { throw malformed }
        return sign * value
    }

    private mutating func simpleUnit(sign: Int) throws(UnitError) {
        let start = index
        try symbol()
        guard index > start else { throw malformed }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        let power = try exponent() ?? 1
        guard let (prefix, atom) = Self.resolve(text, atoms: atoms) else {
            throw .unknown(code: text, dialect: .ucum, suggestion: nil)
        }
        expression.append(UnitTerm(prefix: prefix, atom: atom, exponent: sign * power))
    }

    /// Advances past a symbol. Square brackets may contain any character.
    private mutating func symbol() throws(UnitError) {
        var bracketed = false
        while let byte = next {
            switch byte {
            case UInt8(ascii: "["):
                guard !bracketed else { throw malformed }
                bracketed = true
            case UInt8(ascii: "]"):
                guard bracketed else { throw malformed }
                bracketed = false
            case ...0x20, 0x7F:
                throw malformed
            case _ where bracketed:
                break
            case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "{"),
                UInt8(ascii: "}"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                return
            default:
                break
            }
            index += 1
        }
        if bracketed { throw malformed }
    }

    /// A symbol as an atom, or else as a prefix before a metric atom.
    static func resolve(_ text: String, atoms: UnitAtoms) -> (UnitPrefix?, UnitAtom)? {
        if let atom = atoms[text] { return (nil, atom) }
        for prefix in UnitPrefix.all where text.hasPrefix(prefix.symbol) {
            if let atom = atoms[String(text.dropFirst(prefix.symbol.count))], atom.isMetric { return (prefix, atom) }
        }
        return nil
    }
}

/// The micro sign (U+00B5) and the Greek small letter mu (U+03BC) look alike and both mean UCUM's `u`.
enum MicroSign {
    /// The text's bytes with both signs replaced by ASCII letters, by default `u`.
    static func replaced(in text: String, by replacement: StaticString = "u") -> [UInt8] {
        var result: [UInt8] = []
        for scalar in text.unicodeScalars {
            if scalar == "\u{B5}" || scalar == "\u{3BC}" {
                result.append(contentsOf: replacement.description.utf8)
            } else {
                result.append(contentsOf: String(scalar).utf8)
            }
        }
        return result
    }
}
