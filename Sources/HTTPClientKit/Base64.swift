/// Base64 of RFC 4648.
public enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as text.
    public static func text(_ octets: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: 3) {
            let group = octets[start..<min(start + 3, octets.count)]
            var bits = 0
            for (index, octet) in group.enumerated() { bits |= Int(octet) << (16 - 8 * index) }
            for index in 0..<4 { text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 0x3F] : UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text, or returns `nil` if it contains another character. Padding is ignored.
    public static func octets(_ text: some StringProtocol) -> [UInt8]? {
        var octets: [UInt8] = []
        var (bits, count) = (0, 0)
        for digit in text.utf8 where digit != UInt8(ascii: "=") {
            guard let value = digits.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFFFF
            count += 6
            if count >= 8 {
                count -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return octets
    }
}
