import CryptographyKit
import HealthModel

/// Seals the requests of a hub, so that only the collectors of its fleet can read them.
///
///     request: | 2 | id of the collectors' key, 8 | one-time public key, 32 | hub's public key, 32 | nonce, 24 | request | tag, 16 |
///     reply:   | 2 | nonce, 24 | reply | tag, 16 |
///
/// The numbers are lengths in bytes. The id is the beginning of the SHA-256 of the collectors' public key. The hub's public key is the
/// one of its NKey, or 32 zeros. Request and reply are encrypted with XChaCha20-Poly1305 and one half each of
///
///     BLAKE2b(label, agreed(one-time, collectors), agreed(hub, collectors), one-time key, hub's key, collectors' key, fleet, store)
///
/// Each part has its length in front. Agreed is the secret of two keys with X25519, and of a hub without an NKey it is empty. So a request
/// proves which hub has sealed it, cannot be sent as another hub's, and its reply is of no use for any other request. Each request has
/// its own one-time key, which the hub forgets after the reply.
package struct RequestSealer: Sendable {
    private let collectors: [UInt8]
    private let own: (key: AgreementKey, publicKey: [UInt8])?
    private let names: [String]

    /// - Parameters:
    ///   - collectorsKey: The public text of the collectors' key.
    ///   - key: The hub's NKey, or `nil` if the hub has none.
    /// - Returns: `nil` if one of the keys is not valid.
    package init?(collectorsKey: String, key: NKey?, store: String, fleet: FleetSubject) {
        guard let collectors = SealingKey.publicKey(collectorsKey) else { return nil }
        own = key.flatMap { key in AgreementKey(signingSeed: key.key.seed).map { ($0, key.key.publicKey) } }
        guard (own == nil) == (key == nil) else { return nil }
        (self.collectors, names) = (collectors, [fleet.fleet, store])
    }

    /// The sealed request, and the seal of the reply to it. `nil` if the collectors' key is not valid.
    package func sealed(_ request: [UInt8]) -> (bytes: [UInt8], reply: ReplySeal)? {
        guard let oneTime = AgreementKey.random(), let agreed = oneTime.agreed(with: collectors) else { return nil }
        let ours = own.map { $0.key.agreed(with: collectors) } ?? []
        guard let ours else { return nil }
        let sender = own?.publicKey ?? Sealing.noPublicKey
        let keys = Sealing.keys(agreed, ours, oneTime: oneTime.publicKey, sender: sender, collectors: collectors, names)
        guard let box = MessageCipher.encrypted(request, with: keys.request) else { return nil }
        return ([Sealing.version] + Sealing.id(of: collectors) + oneTime.publicKey + sender + box, ReplySeal(key: keys.reply))
    }
}

/// Opens the requests of a fleet's hubs.
package struct RequestOpener: Sendable {
    private let keys: [SealingKey]
    private let fleet: String
    /// Whether requests without a seal are refused.
    package let isRequired: Bool

    /// - Parameters:
    ///   - keys: The collectors' keys: the current one, and older ones that some hubs still have.
    ///   - isRequired: Whether requests without a seal are refused.
    package init(_ keys: [SealingKey] = [], isRequired: Bool = false, fleet: FleetSubject) {
        (self.keys, self.isRequired, self.fleet) = (keys, isRequired, fleet.fleet)
    }

    package struct Opened: Sendable {
        /// The request, which ``FleetRequest`` reads.
        package var bytes: [UInt8]
        package var sender: RequestSender
        /// The seal of the reply, or `nil` if the reply is not sealed either.
        package var reply: ReplySeal?
    }

    /// Opens a request, or returns one without a seal as it is.
    package func opened(_ bytes: [UInt8], from store: String) throws(SealFault) -> Opened {
        guard bytes.first == Sealing.version else {
            guard !isRequired else { throw .unsealed }
            return Opened(bytes: bytes, sender: .unsealed)
        }
        guard !keys.isEmpty else { throw .noKey }
        var rest = bytes.dropFirst()
        func next(_ count: Int) throws(SealFault) -> [UInt8] {
            guard rest.count >= count else { throw .damaged }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        let id = try next(Sealing.idSize)
        let (oneTime, sender) = (try next(AgreementKey.size), try next(AgreementKey.size))
        guard let key = keys.first(where: { Sealing.id(of: $0.key.publicKey) == id })?.key else { throw .otherKey }
        var ours: [UInt8]? = []
        if sender != Sealing.noPublicKey { ours = AgreementKey.publicKey(ofSigner: sender).flatMap { key.agreed(with: $0) } }
        guard let agreed = key.agreed(with: oneTime), let ours else { throw .damaged }
        let secrets = Sealing.keys(
            agreed, ours, oneTime: oneTime, sender: sender, collectors: key.publicKey, [fleet, store])
        guard let request = MessageCipher.decrypted(rest, with: secrets.request) else { throw .damaged }
        return Opened(
            bytes: request, sender: sender == Sealing.noPublicKey ? .unnamed : .hub(KeyText.user.publicText(sender)),
            reply: ReplySeal(key: secrets.reply))
    }
}

package enum RequestSender: Hashable, Sendable {
    case unsealed
    /// A hub without an NKey.
    case unnamed
    /// The hub with this public NKey.
    case hub(String)
}

/// Seals the reply to one request. Only the sender of this request can open it.
package struct ReplySeal: Sendable {
    private let key: [UInt8]

    init(key: [UInt8]) { self.key = key }

    package func sealed(_ reply: [UInt8]) -> [UInt8] {
        MessageCipher.encrypted(reply, with: key).map { [Sealing.version] + $0 } ?? []
    }

    /// The reply, or `nil` if it is not sealed for this request.
    package func opened(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.first == Sealing.version ? MessageCipher.decrypted(bytes.dropFirst(), with: key) : nil
    }
}

/// The reason why a collector does not carry out a request. The reply is not sealed, so it has no other words than these.
package enum SealFault: Error, Hashable, Sendable, CaseIterable {
    case noKey
    /// The collector does not have the key that the hub uses.
    case otherKey
    /// The request is truncated or changed, or it belongs to another hub.
    case damaged
    /// The request is not sealed, and the center requires it.
    case unsealed

    /// The reason and the remedy.
    package var words: String {
        switch self {
        case .noKey: "the collector has no key for sealed requests: set 'collect.sealing' at the center"
        case .otherKey: "the request is sealed for another center: set 'sealingKey' of the target to the key of this one"
        case .damaged: "the sealed request was changed on its way, or is another hub's"
        case .unsealed: "the center accepts only sealed requests: set 'sealingKey' of the target"
        }
    }
}

/// The parts that requests and replies share.
enum Sealing {
    /// The first byte of everything that is sealed. A request without a seal begins with another one, and a reply with `{`.
    static let version: UInt8 = 2
    static let idSize = 8
    /// Instead of the public key of a hub without an NKey.
    static let noPublicKey = [UInt8](repeating: 0, count: AgreementKey.size)

    static func id(of publicKey: [UInt8]) -> [UInt8] { Array(Digest.sha256(publicKey).prefix(idSize)) }

    static func keys(
        _ agreed: [UInt8], _ ours: [UInt8], oneTime: [UInt8], sender: [UInt8], collectors: [UInt8], _ names: [String]
    ) -> (request: [UInt8], reply: [UInt8]) {
        var writer = FleetByteWriter()
        writer.write("vitalgate sealing 1")
        for part in [agreed, ours, oneTime, sender, collectors] { writer.write(part) }
        for name in names { writer.write(name) }
        let digest = Digest.blake2b(writer.bytes)
        return (Array(digest.prefix(MessageCipher.keySize)), Array(digest.suffix(MessageCipher.keySize)))
    }
}
