import CSodium

/// SHA-256 (FIPS 180-4) and BLAKE2b (RFC 7693), from libsodium.
public enum Digest {
    private static let longSize = Int(crypto_generichash_blake2b_BYTES_MAX)

    /// The 64 bytes of a message's BLAKE2b digest.
    public static func blake2b(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: longSize)
        crypto_generichash_blake2b(&digest, longSize, message, UInt64(message.count), nil, 0)
        return digest
    }

    /// The 32 bytes of a message's digest.
    public static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, message, UInt64(message.count))
        return digest
    }

    /// The digest of a message that comes in pieces.
    public struct Stream {
        private var state = crypto_hash_sha256_state()

        /// The digest of nothing.
        public init() { crypto_hash_sha256_init(&state) }

        /// Adds the next piece.
        public mutating func add(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
            crypto_hash_sha256_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
        }

        /// Returns the 32 bytes. Nothing may be added afterwards.
        public mutating func end() -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
            crypto_hash_sha256_final(&state, &digest)
            return digest
        }
    }
}
