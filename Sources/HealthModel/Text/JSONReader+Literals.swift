// Strings, numbers, and words.
extension JSONReader {
    /// Reads the string that begins here.
    @inlinable public mutating func string() throws(Failure) -> JSONString {
        index += 1
        let first = index
        var isEscaped = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return JSONString(first..<(index - 1), isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0..<0x20: throw fault(.controlCharacter)
            default: index += 1
            }
        }
        throw fault(.unclosedText)
    }

    @inlinable mutating func escape() throws(Failure) {
        let start = index
        index += 1
        guard index < bytes.count else { throw fault(.unclosedText, from: start) }
        guard checks != .structure else {
            index += 1
            return
        }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"),
            UInt8(ascii: "b"), UInt8(ascii: "f"):
            index += 1
        case UInt8(ascii: "u"):
            let unit = try codeUnit(start)
            guard checks == .characters, unit & 0xF800 == 0xD800 else { return }
            guard unit < 0xDC00, take("\\"), !isAtEnd, bytes[index] == UInt8(ascii: "u"), let low = try? codeUnit(start),
                low & 0xFC00 == 0xDC00
            else { throw fault(.halfCharacter, from: start) }
        default: throw fault(.escape, from: start)
        }
    }

    /// Reads `u` and four hexadecimal digits.
    @inlinable mutating func codeUnit(_ start: Int) throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            index += 1
            guard index < bytes.count, let digit = JSONString.hexadecimal(bytes[index]) else { throw fault(.escape, from: start) }
            unit = unit << 4 | digit
        }
        index += 1
        return unit
    }

    @inlinable mutating func word(_ word: StaticString) throws(Failure) {
        let start = index
        for offset in 0..<word.utf8CodeUnitCount {
            guard index < bytes.count, bytes[index] == word.utf8Start[offset] else { throw fault(.value, from: start) }
            index += 1
        }
    }

    /// Reads `-`, digits without a leading zero, a fraction, and an exponent.
    @inlinable mutating func number() throws(Failure) {
        let start = index
        guard checks != .structure else {
            while index < bytes.count, "0123456789+-.eE".utf8.contains(bytes[index]) { index += 1 }
            if index == start { throw fault(.value) }
            return
        }
        _ = take("-")
        if take("0") {
            if index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 { throw fault(.value, from: start) }
        } else if skipDigits() == 0 {
            throw fault(.value, from: start)
        }
        if take("."), skipDigits() == 0 { throw fault(.fraction) }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if skipDigits() == 0 { throw fault(.exponent) }
        }
    }

    @inlinable mutating func skipDigits() -> Int {
        let first = index
        while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - first
    }
}
