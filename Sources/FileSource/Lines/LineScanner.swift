import HealthModel

/// A strict scanner for JSON (RFC 8259). Everything that it skips is well-formed.
struct LineScanner {
    let bytes: UnsafeRawBufferPointer
    private(set) var index: Int

    init(_ bytes: UnsafeRawBufferPointer, from index: Int = 0) { (self.bytes, self.index) = (bytes, index) }

    private static let cut = LineFault("the line ends early")
    private var malformed: LineFault { LineFault("byte \(index + 1) of the line is not valid JSON") }

    mutating func skipBlanks() {
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 || bytes[index] == 0x0D || bytes[index] == 0x0A {
            index += 1
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(LineFault) {
        guard index < bytes.count else { throw Self.cut }
        guard take(byte) else { throw malformed }
    }

    /// Skips one value.
    mutating func skipValue(depth: Int = 0) throws(LineFault) {
        guard depth <= LineObject.maximumDepth else {
            throw LineFault("it is nested more than \(LineObject.maximumDepth) levels deep")
        }
        skipBlanks()
        guard index < bytes.count else { throw Self.cut }
        switch bytes[index] {
        case UInt8(ascii: "{"):
            try forEachMember(depth: depth) { _, _ in }
        case UInt8(ascii: "["):
            try forEachElement(depth: depth) { _ in }
        case UInt8(ascii: "\""): try skipText()
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        default: try skipNumber()
        }
    }

    /// Passes the members of the object that begins here to `body`.
    mutating func forEachMember(
        depth: Int = 0, _ body: (_ name: Range<Int>, _ value: Range<Int>) throws(LineFault) -> Void
    ) throws(LineFault) {
        try expect(UInt8(ascii: "{"))
        skipBlanks()
        if take(UInt8(ascii: "}")) { return }
        while true {
            skipBlanks()
            let name = index
            guard index < bytes.count else { throw Self.cut }
            guard bytes[index] == UInt8(ascii: "\"") else { throw malformed }
            try skipText()
            let nameEnd = index
            skipBlanks()
            try expect(UInt8(ascii: ":"))
            skipBlanks()
            let value = index
            try skipValue(depth: depth + 1)
            try body(name..<nameEnd, value..<index)
            skipBlanks()
            if take(UInt8(ascii: ",")) { continue }
            return try expect(UInt8(ascii: "}"))
        }
    }

    /// Passes the elements of the list that begins here to `body`.
    mutating func forEachElement(depth: Int = 0, _ body: (Range<Int>) throws(LineFault) -> Void) throws(LineFault) {
        try expect(UInt8(ascii: "["))
        skipBlanks()
        if take(UInt8(ascii: "]")) { return }
        while true {
            skipBlanks()
            let start = index
            try skipValue(depth: depth + 1)
            try body(start..<index)
            skipBlanks()
            if take(UInt8(ascii: ",")) { continue }
            return try expect(UInt8(ascii: "]"))
        }
    }

    private mutating func skip(_ word: StaticString) throws(LineFault) {
        for place in 0..<word.utf8CodeUnitCount { try expect(word.utf8Start[place]) }
    }

    private mutating func skipText() throws(LineFault) {
        index += 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return
            case UInt8(ascii: "\\"):
                index += 1
                guard index < bytes.count else { throw Self.cut }
                switch bytes[index] {
                case UInt8(ascii: "u"):
                    for _ in 0..<4 {
                        index += 1
                        guard index < bytes.count else { throw Self.cut }
                        guard Self.hexadecimal(bytes[index]) != nil else { throw malformed }
                    }
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                    UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                    break
                default: throw malformed
                }
                index += 1
            case 0..<0x20: throw malformed
            default: index += 1
            }
        }
        throw Self.cut
    }

    private mutating func skipNumber() throws(LineFault) {
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {} else { try skipDigits() }
        if take(UInt8(ascii: ".")) { try skipDigits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try skipDigits()
        }
    }

    private mutating func skipDigits() throws(LineFault) {
        let start = index
        while index < bytes.count, bytes[index] &- 0x30 < 10 { index += 1 }
        guard index > start else { throw index < bytes.count ? malformed : Self.cut }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    // MARK: What was skipped

    /// Returns a number with its digits, or `nil` if it is invalid.
    static func number(of bytes: UnsafeRawBufferPointer, _ place: Range<Int>) -> Numeral? {
        let text = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard let first = text.first, first == UInt8(ascii: "-") || first &- 0x30 < 10 else { return nil }
        return try? Numeral(parsing: text)
    }

    static func text(of bytes: UnsafeRawBufferPointer, _ place: Range<Int>) throws(LineFault) -> String {
        let octets = try octets(of: bytes, place)
        guard let text = String(validating: octets, as: UTF8.self) else { throw LineFault("a text is not UTF-8") }
        return text
    }

    /// Returns the bytes of a text that was validated, with escapes resolved.
    static func octets(of bytes: UnsafeRawBufferPointer, _ place: Range<Int>) throws(LineFault) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(place.count)
        var index = place.lowerBound + 1
        let end = place.upperBound - 1
        func unit() -> UInt32 {
            var unit: UInt32 = 0
            for place in index..<index + 4 { unit = unit << 4 | (hexadecimal(bytes[place]) ?? 0) }
            index += 4
            return unit
        }
        while index < end {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\") else {
                octets.append(byte)
                continue
            }
            let escape = bytes[index]
            index += 1
            switch escape {
            case UInt8(ascii: "b"): octets.append(0x08)
            case UInt8(ascii: "f"): octets.append(0x0C)
            case UInt8(ascii: "n"): octets.append(0x0A)
            case UInt8(ascii: "r"): octets.append(0x0D)
            case UInt8(ascii: "t"): octets.append(0x09)
            case UInt8(ascii: "u"):
                var code = unit()
                if code >> 10 == 0x36 {
                    guard index + 6 <= end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
                        throw LineFault("a text has half a character")
                    }
                    index += 2
                    let low = unit()
                    guard low >> 10 == 0x37 else { throw LineFault("a text has half a character") }
                    code = 0x1_0000 + (code & 0x3FF) << 10 + low & 0x3FF
                }
                guard let scalar = Unicode.Scalar(code), let encoded = UTF8.encode(scalar) else {
                    throw LineFault("a text has half a character")
                }
                octets.append(contentsOf: encoded)
            default: octets.append(escape)
            }
        }
        return octets
    }
}
