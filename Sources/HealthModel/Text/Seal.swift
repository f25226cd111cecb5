import CSodium

/// Makes tokens that clients can neither read nor forge: XChaCha20-Poly1305, from libsodium. Each token is different, even for the same
/// text.
public struct Seal: Sendable {
    /// The length of a key in bytes.
    public static let keySize = Int(crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
    private static let nonceSize = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    private static let tagSize = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)
    /// All texts are padded to this length, so that the length reveals nothing.
    private static let textSize = 48
    private let key: [UInt8]

    /// A seal with a key of ``keySize`` bytes, or `nil` for any other length.
    public init?(key: [UInt8]) {
        guard key.count == Self.keySize, sodium_init() >= 0 else { return nil }
        self.key = key
    }

    /// A key of the system's random numbers.
    public static func randomKey() -> [UInt8] { random(keySize) }

    private static func random(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    /// - Parameters:
    ///   - text: At most 48 bytes, without a zero.
    ///   - holder: The only client that can use it.
    public func sealed(_ text: String, for holder: String) -> String {
        let padded = Array((Array(text.utf8) + [UInt8](repeating: 0, count: Self.textSize)).prefix(Self.textSize))
        let (nonce, holder) = (Self.random(Self.nonceSize), Array(holder.utf8))
        var box = [UInt8](repeating: 0, count: Self.textSize + Self.tagSize)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &box, nil, padded, UInt64(padded.count), holder, UInt64(holder.count), nil, nonce, key)
        return (nonce + box).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The text, or `nil` if this seal did not make it for that holder.
    public func opened(_ sealed: String, for holder: String) -> String? {
        let digits = Array(sealed.utf8)
        guard digits.count == 2 * (Self.nonceSize + Self.textSize + Self.tagSize) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = digits[index...index + 1].map { Character(Unicode.Scalar($0)).hexDigitValue }
            guard let high = pair[0], let low = pair[1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        let (nonce, box, holder) = (Array(bytes[..<Self.nonceSize]), Array(bytes[Self.nonceSize...]), Array(holder.utf8))
        var text = [UInt8](repeating: 0, count: Self.textSize)
        let code = crypto_aead_xchacha20poly1305_ietf_decrypt(
            &text, nil, nil, box, UInt64(box.count), holder, UInt64(holder.count), nonce, key)
        guard code == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
}
