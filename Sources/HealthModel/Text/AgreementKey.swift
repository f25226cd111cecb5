import CSodium

/// A key pair with which two sides agree on a secret that nobody else can compute: X25519 (RFC 7748), from libsodium.
public struct AgreementKey: Sendable {
    /// The length of each part and of a secret in bytes.
    public static let size = Int(crypto_scalarmult_curve25519_BYTES)

    /// The secret part, ``size`` bytes.
    public let secret: [UInt8]
    /// The public part, ``size`` bytes.
    public let publicKey: [UInt8]

    /// The key pair of a secret part, or `nil` if it does not have ``size`` bytes.
    public init?(secret: [UInt8]) {
        guard secret.count == Self.size, sodium_init() >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        guard crypto_scalarmult_curve25519_base(&bytes, secret) == 0 else { return nil }
        (self.secret, publicKey) = (secret, bytes)
    }

    /// The key pair that belongs to the seed of an Ed25519 key, or `nil` for any other length.
    public init?(signingSeed seed: [UInt8]) {
        guard seed.count == Int(crypto_sign_ed25519_SEEDBYTES), sodium_init() >= 0 else { return nil }
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_PUBLICKEYBYTES))
        var pair = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
        var secret = [UInt8](repeating: 0, count: Self.size)
        guard crypto_sign_ed25519_seed_keypair(&publicKey, &pair, seed) == 0,
            crypto_sign_ed25519_sk_to_curve25519(&secret, pair) == 0
        else { return nil }
        self.init(secret: secret)
    }

    /// A new key pair from the system's random numbers, or `nil` without memory.
    public static func random() -> AgreementKey? {
        guard sodium_init() >= 0 else { return nil }
        var secret = [UInt8](repeating: 0, count: Self.size)
        randombytes_buf(&secret, Self.size)
        return AgreementKey(secret: secret)
    }

    /// The public part that belongs to the public part of an Ed25519 key, or `nil` if that is not a valid key.
    public static func publicKey(ofSigner signer: [UInt8]) -> [UInt8]? {
        guard signer.count == Int(crypto_sign_ed25519_PUBLICKEYBYTES), sodium_init() >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        return crypto_sign_ed25519_pk_to_curve25519(&bytes, signer) == 0 ? bytes : nil
    }

    /// The secret that this key pair and another one share, or `nil` if the other public part would lead to a known secret.
    public func agreed(with publicKey: [UInt8]) -> [UInt8]? {
        guard publicKey.count == Self.size else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        return crypto_scalarmult_curve25519(&bytes, secret, publicKey) == 0 ? bytes : nil
    }
}
