import CryptographyKit

/// A key pair of a NATS user, which signs, in the text form of github.com/nats-io/nkeys (``KeyText``).
package struct NKey: Sendable {
    package let key: SigningKey

    /// The key pair of a seed of 32 bytes, or `nil` for any other length.
    package init?(seed: [UInt8]) {
        guard let key = SigningKey(seed: seed) else { return nil }
        self.key = key
    }

    /// A new key pair from the system's random numbers, or `nil` without memory.
    package static func random() -> NKey? {
        var random = SystemRandomNumberGenerator()
        return NKey(seed: (0..<SigningKey.size).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    package var seedText: String { KeyText.user.seedText(key.seed) }

    package var publicText: String { KeyText.user.publicText(key.publicKey) }

    package init?(seedText: String) {
        guard let seed = KeyText.user.seed(seedText) else { return nil }
        self.init(seed: seed)
    }

    /// Returns the 32 bytes of a public text, or `nil` if it is not the public key of a user.
    package static func publicKey(_ text: String) -> [UInt8]? { KeyText.user.publicKey(text) }
}

/// The text form of a type of keys.
///
///     seed: base32(| 0x90 | type >> 5 and | (type & 31) << 3 | 32 bytes | CRC-16, low byte first |)   SU… or SX…, 58 characters
///     public: base32(| type | 32 bytes | CRC-16, low byte first |)                                       U… or X…, 56 characters
enum KeyText: UInt8 {
    /// A user, with Ed25519.
    case user = 0xA0
    /// A key that agrees on secrets, with X25519. NATS calls it a curve key.
    case curve = 0xB8

    private static let seedMark: UInt8 = 0x90
    private static let size = 32

    func seedText(_ seed: [UInt8]) -> String {
        Base32.text(Self.checked([Self.seedMark | rawValue >> 5, (rawValue & 31) << 3] + seed))
    }

    func publicText(_ key: [UInt8]) -> String { Base32.text(Self.checked([rawValue] + key)) }

    /// Returns the 32 bytes of a secret text, or `nil` if it is not one of this type.
    func seed(_ text: String) -> [UInt8]? {
        guard let bytes = Self.unchecked(text), bytes.count == 2 + Self.size, bytes[0] & 0xF8 == Self.seedMark,
            bytes[0] << 5 | bytes[1] >> 3 == rawValue
        else { return nil }
        return Array(bytes[2...])
    }

    /// Returns the 32 bytes of a public text, or `nil` if it is not one of this type.
    func publicKey(_ text: String) -> [UInt8]? {
        guard let bytes = Self.unchecked(text), bytes.count == 1 + Self.size, bytes[0] == rawValue else { return nil }
        return Array(bytes[1...])
    }

    private static func checked(_ bytes: [UInt8]) -> [UInt8] {
        let sum = checksum(bytes)
        return bytes + [UInt8(sum & 0xFF), UInt8(sum >> 8)]
    }

    private static func unchecked(_ text: String) -> [UInt8]? {
        // A text with more bits than its bytes need has another one with the same bytes.
        guard text.utf8.count <= 64, let bytes = Base32.bytes(text), bytes.count > 2, Base32.text(bytes) == text else {
            return nil
        }
        let content = Array(bytes.dropLast(2))
        return checked(content) == bytes ? content : nil
    }

    /// CRC-16 with the polynomial 0x1021 and the start value 0 (XMODEM).
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
    }
}

/// Base 32 without padding (RFC 4648).
enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            (bits, count) = (bits << 8 | Int(byte), count + 8)
            while count >= 5 {
                count -= 5
                text.append(alphabet[bits >> count & 31])
            }
            bits &= 0xFF
        }
        if count > 0 { text.append(alphabet[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text, or `nil` if it has other characters.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            (bits, count) = ((bits << 5 | value) & 0xFFF, count + 5)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xFF))
            }
        }
        return bytes
    }
}
