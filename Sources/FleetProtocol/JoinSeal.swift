import HealthModel

/// Seals the reply to a hub that joins with a code, so that the broker does not learn its name.
///
///     reply: | 2 | one-time public key, 32 | nonce, 24 | reply | tag, 16 |
///
/// The key is derived as for a request (``RequestSealer``), with the code's key instead of the collectors'.
enum JoinSeal {
    private static let label = "join"

    /// The sealed reply, or `nil` if the code's key is not valid.
    static func sealed(_ reply: [UInt8], for codeKey: String, _ fleet: FleetSubject) -> [UInt8]? {
        guard let code = NKey.publicKey(codeKey).flatMap({ AgreementKey.publicKey(ofSigner: $0) }),
            let oneTime = AgreementKey.random(), let agreed = oneTime.agreed(with: code)
        else { return nil }
        return MessageCipher.encrypted(reply, with: key(agreed, oneTime.publicKey, code, fleet)).map {
            [Sealing.version] + oneTime.publicKey + $0
        }
    }

    /// The reply, or `nil` if it is not sealed for this code.
    static func opened(_ bytes: [UInt8], with code: EnrollmentCode, _ fleet: FleetSubject) -> [UInt8]? {
        let rest = bytes.dropFirst()
        let oneTime = Array(rest.prefix(AgreementKey.size))
        guard bytes.first == Sealing.version, let key = AgreementKey(signingSeed: code.key.key.seed),
            let agreed = key.agreed(with: oneTime)
        else { return nil }
        return MessageCipher.decrypted(
            rest.dropFirst(AgreementKey.size), with: Self.key(agreed, oneTime, key.publicKey, fleet))
    }

    private static func key(_ agreed: [UInt8], _ oneTime: [UInt8], _ code: [UInt8], _ fleet: FleetSubject) -> [UInt8] {
        Sealing.keys(agreed, [], oneTime: oneTime, sender: Sealing.noPublicKey, collectors: code, [fleet.fleet, label]).reply
    }
}

extension FleetReply {
    /// The reply to a hub that joins with a code. It is sealed if the center opens sealed requests.
    package func bytes(forCode key: String, _ fleet: FleetSubject) -> [UInt8] {
        guard case .joined(let reply) = self, reply.sealingKey != nil else { return bytes }
        return JoinSeal.sealed(bytes, for: key, fleet) ?? []
    }

    /// Reads the reply to a hub that joins. With a code for sealing, only a sealed one is accepted, or a failure.
    package init?(bytes: [UInt8], forCode code: EnrollmentCode, _ fleet: FleetSubject) {
        guard code.isForSealing else {
            self.init(bytes: bytes)
            return
        }
        if let opened = JoinSeal.opened(bytes, with: code, fleet) {
            self.init(bytes: opened)
        } else if case .failure(let error) = FleetReply(bytes: bytes) {
            self = .failure(error)
        } else {
            return nil
        }
    }
}
