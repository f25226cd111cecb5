import CSodium

/// Encrypts messages of any length, and notices every change: XChaCha20-Poly1305, from libsodium.
public enum MessageCipher {
    /// The length of a key in bytes.
    public static let keySize = Int(crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
    private static let nonceSize = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    private static let tagSize = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    /// The random nonce of 24 bytes, the encrypted message, and the tag of 16 bytes. `nil` if the key does not have ``keySize`` bytes.
    public static func encrypted(_ message: [UInt8], with key: [UInt8]) -> [UInt8]? {
        guard key.count == keySize, sodium_init() >= 0 else { return nil }
        var nonce = [UInt8](repeating: 0, count: nonceSize)
        randombytes_buf(&nonce, nonceSize)
        var box = [UInt8](repeating: 0, count: message.count + tagSize)
        crypto_aead_xchacha20poly1305_ietf_encrypt(&box, nil, message, UInt64(message.count), nil, 0, nil, nonce, key)
        return nonce + box
    }

    /// The message, or `nil` if nobody with this key has encrypted it.
    public static func decrypted(_ bytes: ArraySlice<UInt8>, with key: [UInt8]) -> [UInt8]? {
        guard key.count == keySize, bytes.count >= nonceSize + tagSize, sodium_init() >= 0 else { return nil }
        let (nonce, box) = (Array(bytes.prefix(nonceSize)), Array(bytes.dropFirst(nonceSize)))
        var message = [UInt8](repeating: 0, count: box.count - tagSize)
        let code = crypto_aead_xchacha20poly1305_ietf_decrypt(&message, nil, nil, box, UInt64(box.count), nil, 0, nonce, key)
        return code == 0 ? message : nil
    }
}
