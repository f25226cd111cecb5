/// Base64 of RFC 4648.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = 0
            for (index, byte) in group.enumerated() { bits |= Int(byte) << (16 - 8 * index) }
            for index in 0..<4 { text.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 0x3F] : UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text, or returns `nil` if it contains another character. Padding is ignored.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for digit in text.utf8 where digit != UInt8(ascii: "=") {
            guard let value = digits.firstIndex(of: digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }
}
