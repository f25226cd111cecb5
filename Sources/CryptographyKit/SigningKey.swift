import CCrypto

/// A key pair that signs messages: Ed25519 (RFC 8032).
package struct SigningKey: Sendable {
    /// The length of a seed and of a public key in bytes.
    package static let size = 32
    /// The length of a signature in bytes.
    package static let signatureSize = 64

    /// The secret part, ``size`` bytes.
    package let seed: [UInt8]
    /// The public part, ``size`` bytes.
    package let publicKey: [UInt8]

    /// Derives the key pair of a seed, or returns `nil` if the seed does not have ``size`` bytes.
    package init?(seed: [UInt8]) {
        guard seed.count == Self.size, let key = EVP_PKEY_new_raw_private_key(NID_ED25519, nil, seed, seed.count) else {
            return nil
        }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var count = bytes.count
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == Self.size else { return nil }
        (self.seed, publicKey) = (seed, bytes)
    }

    /// Signs a message. The result has ``signatureSize`` bytes, or none without memory.
    package func signature(of message: [UInt8]) -> [UInt8] {
        guard let key = EVP_PKEY_new_raw_private_key(NID_ED25519, nil, seed, seed.count) else { return [] }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: Self.signatureSize)
        var count = bytes.count
        guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            EVP_DigestSign(context, &bytes, &count, message, message.count) == 1
        else { return [] }
        return bytes
    }

    /// Whether the owner of a public key signed a message.
    package static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard publicKey.count == size, signature.count == signatureSize,
            let key = EVP_PKEY_new_raw_public_key(NID_ED25519, nil, publicKey, publicKey.count)
        else { return false }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
