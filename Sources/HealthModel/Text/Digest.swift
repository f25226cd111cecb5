import CSodium

/// SHA-256 (FIPS 180-4), from libsodium.
public enum Digest {
    /// The 32 octets of a message's digest.
    public static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, message, UInt64(message.count))
        return digest
    }
}
