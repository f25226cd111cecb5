import HealthModel

/// The key pair that opens the sealed requests of a fleet, in the text form of NATS's curve keys: `SX…` and `X…`.
package struct SealingKey: Sendable {
    let key: AgreementKey

    /// A new key pair from the system's random numbers, or `nil` without memory.
    package static func random() -> SealingKey? { AgreementKey.random().map { SealingKey(key: $0) } }

    private init(key: AgreementKey) { self.key = key }

    package init?(seedText: String) {
        guard let key = KeyText.curve.seed(seedText).flatMap({ AgreementKey(secret: $0) }) else { return nil }
        self.key = key
    }

    package var seedText: String { KeyText.curve.seedText(key.secret) }

    package var publicText: String { KeyText.curve.publicText(key.publicKey) }

    /// Returns the 32 bytes of a public text, or `nil` if it is not the public part of such a key.
    package static func publicKey(_ text: String) -> [UInt8]? { KeyText.curve.publicKey(text) }
}
