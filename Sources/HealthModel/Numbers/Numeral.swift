/// A decimal numeral as received. The digits matter, because `98.60` is more precise than `98.6`.
///
/// A plain numeral (`-98.60`: sign, digits, at most one point) of up to 18 digits is stored as `coefficient × 10^exponent`, which prints
/// back to the same text. Any other form (`1e3`, `+5`, `.5`, 19 digits) is also stored as its text.
///
///     let numeral = try Numeral("98.60")
///     numeral.text           // "98.60"
///     numeral.canonicalText  // "98.6"
///     numeral.doubleValue    // 98.6, correctly rounded
public struct Numeral: Hashable, Sendable {
    /// The digits as one integer, or `0` if they do not fit and only ``verbatim`` contains them.
    public let coefficient: Int64
    /// The power of ten of the coefficient, never positive for a plain numeral.
    public let exponent: Int16
    /// The text as received, if it is not the plain form of coefficient and exponent.
    @usableFromInline let verbatim: Box?

    @usableFromInline final class Box: Hashable, Sendable {
        @usableFromInline let text: String
        @usableFromInline let fits: Bool
        init(_ text: String, fits: Bool) {
            self.text = text
            self.fits = fits
        }
        @usableFromInline static func == (one: Box, other: Box) -> Bool { one.text == other.text }
        @usableFromInline func hash(into hasher: inout Hasher) { hasher.combine(text) }
    }

    /// A plain numeral of `coefficient × 10^exponent`, for example `(9860, -2)` for `98.60`.
    @inlinable public init(coefficient: Int64, exponent: Int16 = 0) {
        precondition(exponent <= 0, "a plain numeral has no positive exponent")
        self.coefficient = coefficient
        self.exponent = exponent
        self.verbatim = nil
    }

    @usableFromInline init(coefficient: Int64, exponent: Int16, verbatim: Box?) {
        self.coefficient = coefficient
        self.exponent = exponent
        self.verbatim = verbatim
    }
}

/// The reason why a text is not a numeral.
public enum NumeralError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing between the separators.
    case empty
    /// The byte at this offset is not a valid digit, sign or separator.
    case unexpected(offset: Int)
    /// More digits than any measurement has, or an exponent beyond the range of a Double.
    case outOfRange

    public var description: String {
        switch self {
        case .empty: "an empty cell is not a number"
        case .unexpected(let offset): "not a number: unexpected character at position \(offset + 1)"
        case .outOfRange: "the number is out of range"
        }
    }
}

extension Numeral {
    /// The maximum length of a numeral, in bytes.
    public static let maximumLength = 128

    /// Parses a numeral with a decimal point.
    public init(_ text: some StringProtocol) throws(NumeralError) {
        let bytes = Array(text.utf8)
        let parsed: Result<Numeral, NumeralError> = bytes.withUnsafeBytes { buffer in
            do throws(NumeralError) {
                return .success(try Numeral(parsing: buffer))
            } catch {
                return .failure(error)
            }
        }
        self = try parsed.get()
    }

    /// Parses a numeral from bytes of ASCII text.
    ///
    /// - Parameters:
    ///   - bytes: The whole text, without surrounding blanks.
    ///   - decimalSeparator: `.` or `,`. The stored text always has a point.
    ///   - groupSeparator: A separator between groups of three digits before the decimal separator (`1,024`), which is removed from the
    ///     text.
    @inlinable public init(
        parsing bytes: UnsafeRawBufferPointer, decimalSeparator: UInt8 = UInt8(ascii: "."), groupSeparator: UInt8? = nil
    ) throws(NumeralError) {
        var index = 0
        let count = bytes.count
        let negative = count > 0 && bytes[0] == UInt8(ascii: "-")
        if negative { index = 1 }
        var coefficient: Int64 = 0
        var digits = 0
        var exponent: Int16 = 0
        var separator = false
        let first = index
        while index < count {
            let byte = bytes[index]
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10 {
                coefficient = coefficient &* 10 &+ Int64(digit)
                digits &+= 1
                if separator { exponent &-= 1 }
            } else if byte == decimalSeparator && !separator && index > first && index + 1 < count {
                separator = true
            } else {
                break
            }
            index &+= 1
        }
        // The fast path for the common case: a plain numeral of at most 18 digits without leading zeros.
        let leadingZero =
            count - first > 1 && bytes[first] == UInt8(ascii: "0") && bytes[first + 1] &- UInt8(ascii: "0") < 10
        if index == count && digits > 0 && digits <= 18 && !leadingZero && !(negative && coefficient == 0) {
            self.init(coefficient: negative ? -coefficient : coefficient, exponent: exponent, verbatim: nil)
            return
        }
        try self.init(unusual: bytes, decimalSeparator: decimalSeparator, groupSeparator: groupSeparator)
    }

    /// Parses the numerals that the fast path does not handle: exponents, signs, groups, many digits.
    @usableFromInline init(
        unusual bytes: UnsafeRawBufferPointer, decimalSeparator: UInt8, groupSeparator: UInt8?
    ) throws(NumeralError) {
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= Self.maximumLength else { throw .outOfRange }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var significant: [UInt8] = []
        var index = 0
        var negative = false
        if bytes[0] == UInt8(ascii: "-") || bytes[0] == UInt8(ascii: "+") {
            negative = bytes[0] == UInt8(ascii: "-")
            text.append(bytes[0])
            index = 1
        }
        var fraction = 0
        var integerDigits = 0
        var separator = false
        var groups = 0  // digits since the last group separator, 0 where there was none
        var grouped = false
        digits: while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                text.append(byte)
                if !significant.isEmpty || byte != UInt8(ascii: "0") { significant.append(byte) }
                if separator { fraction += 1 } else { integerDigits += 1 }
                groups += 1
            case decimalSeparator where !separator:
                guard !grouped || groups == 3 else { throw .unexpected(offset: index) }
                separator = true
                text.append(UInt8(ascii: "."))
            case groupSeparator where !separator && integerDigits > 0:
                guard grouped ? groups == 3 : groups <= 3 else { throw .unexpected(offset: index) }
                grouped = true
                groups = 0
            default:
                break digits
            }
            index += 1
        }
        guard integerDigits + fraction > 0 else { throw .unexpected(offset: min(index, bytes.count - 1)) }
        guard !grouped || separator || groups == 3 else { throw .unexpected(offset: index) }
        if separator && fraction == 0 { text.removeLast() }
        var power = 0
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            text.append(bytes[index])
            index += 1
            var negativePower = false
            if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
                negativePower = bytes[index] == UInt8(ascii: "-")
                text.append(bytes[index])
                index += 1
            }
            let start = index
            while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
                power = min(power * 10 + Int(bytes[index] - UInt8(ascii: "0")), 100_000)
                text.append(bytes[index])
                index += 1
            }
            guard index > start else { throw .unexpected(offset: min(index, bytes.count - 1)) }
            if negativePower { power = -power }
        }
        guard index == bytes.count else { throw .unexpected(offset: index) }
        let exponent = significant.isEmpty ? 0 : power - fraction
        // The value must be a finite Double, and not so small that it becomes zero.
        let magnitude = significant.count + exponent
        guard significant.isEmpty || (magnitude <= 308 && magnitude >= -300) else { throw .outOfRange }
        let fits = significant.count <= 18
        var coefficient: Int64 = 0
        if fits { for digit in significant { coefficient = coefficient * 10 + Int64(digit - UInt8(ascii: "0")) } }
        if negative { coefficient = -coefficient }
        let retained = String(decoding: text, as: UTF8.self)
        let plain = Numeral(coefficient: coefficient, exponent: Int16(clamping: exponent), verbatim: nil)
        if fits, exponent <= 0, plain.text == retained {
            self = plain
        } else {
            self.init(
                coefficient: coefficient, exponent: Int16(clamping: exponent), verbatim: Box(retained, fits: fits))
        }
    }

    /// Whether coefficient and exponent contain the value. If not, only ``text`` does.
    @inlinable public var isExact: Bool { verbatim.map(\.fits) ?? true }

    /// Whether coefficient and exponent alone print back to the text as received.
    @inlinable public var isPlain: Bool { verbatim == nil }

    /// The text as received, with a decimal point and without group separators.
    public var text: String {
        if let verbatim { return verbatim.text }
        return String(unsafeUninitializedCapacity: 24 + Int(-exponent)) { write(plainInto: $0) }
    }

    /// The value as decimal text without a sign on zero, leading or trailing zeros, or an exponent. `98.60`, `+98.6` and `986e-1` all
    /// become `98.6`. Identities are computed from it.
    public var canonicalText: String {
        if isExact {
            let (coefficient, exponent) = reduced
            if exponent <= 0 { return Numeral(coefficient: coefficient, exponent: exponent).text }
            return String(coefficient) + String(repeating: "0", count: Int(exponent))
        }
        return Self.canonicalText(of: verbatim?.text ?? "0")
    }

    /// The coefficient and the exponent without trailing zeros, or (0, 0) for zero.
    @inlinable public var reduced: (coefficient: Int64, exponent: Int16) {
        guard coefficient != 0 else { return (0, 0) }
        var coefficient = coefficient
        var exponent = exponent
        while true {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return (coefficient, exponent) }
            coefficient = quotient
            exponent += 1
        }
    }

    private static func canonicalText(of text: String) -> String {
        var mantissa = Substring(text)
        var exponent = 0
        if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            mantissa = text[..<mark]
            exponent = Int(text[text.index(after: mark)...]) ?? 0
        }
        let negative = mantissa.hasPrefix("-")
        if negative || mantissa.hasPrefix("+") { mantissa = mantissa.dropFirst() }
        let parts = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var digits = parts.joined()
        exponent -= parts.count > 1 ? parts[1].count : 0
        while digits.hasSuffix("0") {
            digits.removeLast()
            exponent += 1
        }
        digits = String(digits.drop { $0 == "0" })
        if digits.isEmpty { return "0" }
        if exponent >= 0 {
            digits += String(repeating: "0", count: exponent)
        } else if -exponent >= digits.count {
            digits = "0." + String(repeating: "0", count: -exponent - digits.count) + digits
        } else {
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return negative ? "-" + digits : digits
    }

    /// The value as the nearest Double.
    @inlinable public var doubleValue: Double {
        let power = Int(exponent)
        // Both operands are exact, so the one division or product is correctly rounded (Clinger's fast path).
        if verbatim == nil, coefficient.magnitude < 1 << 53, power >= -22 {
            return Double(coefficient) / Self.powersOfTen[-power]
        }
        return Double(text) ?? .nan
    }

    /// 10^0 ... 10^22, all exact in a Double.
    public static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
        1e21, 1e22,
    ]

    /// Writes a plain numeral's text and returns its length. The buffer must have at least `24 - exponent` bytes.
    @discardableResult package func write(plainInto buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var scratch: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return withUnsafeMutableBytes(of: &scratch) { digits in
            var magnitude = coefficient.magnitude
            var count = 0
            repeat {
                digits[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
                magnitude /= 10
                count += 1
            } while magnitude > 0
            var length = 0
            func put(_ byte: UInt8) {
                buffer[length] = byte
                length += 1
            }
            if coefficient < 0 { put(UInt8(ascii: "-")) }
            let fraction = Int(-exponent)
            if count <= fraction {
                put(UInt8(ascii: "0"))
                put(UInt8(ascii: "."))
                for _ in count..<fraction { put(UInt8(ascii: "0")) }
                for index in stride(from: count - 1, through: 0, by: -1) { put(digits[index]) }
            } else {
                for index in stride(from: count - 1, through: 0, by: -1) {
                    put(digits[index])
                    if index == fraction && fraction > 0 { put(UInt8(ascii: ".")) }
                }
            }
            return length
        }
    }

    /// Writes ``canonicalText``, truncated to the buffer, and returns its length.
    func write(canonicalInto buffer: UnsafeMutableRawBufferPointer) -> Int {
        let reduced = reduced
        if isExact, reduced.exponent <= 0, buffer.count >= 24 - Int(reduced.exponent) {
            return Numeral(coefficient: reduced.coefficient, exponent: reduced.exponent)
                .write(plainInto: buffer.bindMemory(to: UInt8.self))
        }
        var text = canonicalText
        return text.withUTF8 { bytes in
            let count = min(bytes.count, buffer.count)
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<count]))
            return count
        }
    }
}

extension Numeral: CustomStringConvertible {
    public var description: String { text }
}
