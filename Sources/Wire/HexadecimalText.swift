/// Bytes as text with two hexadecimal digits each.
package enum HexadecimalText {
    /// The bytes of a text with digits in either case, and optional spaces, colons and hyphens between bytes. Returns `nil` for any other
    /// text and for half a byte.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            if let digit = digit(byte) {
                if let first = high {
                    bytes.append(first << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
            } else if high != nil || !separators.contains(byte) {
                return nil
            }
        }
        return high == nil ? bytes : nil
    }

    /// The text in lowercase without separators.
    package static func text(_ data: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        for byte in data { bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
    private static let separators = Array(" :-".utf8)

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
