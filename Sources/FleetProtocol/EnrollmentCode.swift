import CryptographyKit
import HealthModel

/// A code that lets one hub join a fleet, such as `KQ3ZD-7MFPA-XEW2B-CRN5T`.
///
/// It is the seed of a key (``key``). The center stores only the public part, and the broker accepts this key for nothing but the join.
/// The code of a center that opens sealed requests has an `S` at its end, such as `KQ3ZD-7MFPA-XEW2B-CRN5T-S`. So the broker
/// cannot have the hub send without a seal.
package struct EnrollmentCode: Sendable {
    private static let length = 20
    private static let group = 5
    private static let sealingMark = UInt8(ascii: "S")

    /// The code, in groups of five characters.
    package let text: String
    package let key: NKey
    /// Whether the reply to the hub must be sealed and have the center's key for sealed requests.
    package let isForSealing: Bool
    /// The secret that the center and the hub share. It is not ``key``, with which the hub signs whatever the broker sends.
    private let secret: [UInt8]

    /// Reads a code. Hyphens, blanks and lower-case letters make no difference. `nil` if it is not a code.
    package init?(_ text: String) {
        guard text.utf8.count <= 100 else { return nil }
        let characters = Array(text.uppercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") })
        isForSealing = characters.count == Self.length + 1 && characters.last == Self.sealingMark
        guard isForSealing || characters.count == Self.length, Base32.bytes(String(decoding: characters, as: UTF8.self)) != nil,
            let key = NKey(seed: Digest.sha256(Array("vitalgate enrollment ".utf8) + characters))
        else { return nil }
        self.key = key
        secret = Digest.sha256(Array("vitalgate enrollment secret ".utf8) + characters)
        self.text = stride(from: 0, to: characters.count, by: Self.group).map {
            String(decoding: characters[$0..<min($0 + Self.group, characters.count)], as: UTF8.self)
        }.joined(separator: "-")
    }

    /// The proof that a key comes from the person who made the code.
    ///
    /// - Parameter key: the public key that signs the commands of the fleet, or that requests are sealed for, in text form. The first
    ///   letter of this form is the type of the key.
    package func proof(of key: String, _ fleet: FleetSubject) -> String {
        var writer = FleetByteWriter()
        for text in [fleet.fleet, key] { writer.write(text) }
        return Base32.text(AuthenticationCode.sha256(of: writer.bytes, key: secret))
    }

    /// A new code of 100 random bits.
    package static func random(forSealing: Bool = false) -> EnrollmentCode? {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<13).map { _ in UInt8.random(in: 0...255, using: &random) }
        return EnrollmentCode(String(Base32.text(bytes).prefix(length)) + (forSealing ? "S" : ""))
    }
}

package struct JoinReply: Hashable, Sendable {
    /// The hub's name in the fleet.
    package var name: String
    /// The public key that signs the commands of the center, or `nil` if it has none.
    package var commandKey: String?
    /// ``EnrollmentCode/proof(of:_:)`` of that key.
    package var proof: String?
    /// The public key for which the hub seals its requests, or `nil` if the center has none.
    package var sealingKey: String?
    /// ``EnrollmentCode/proof(of:_:)`` of that key.
    package var sealingProof: String?
    /// The public key with which the center knows the hub from now on.
    package var hubKey: String?

    package init(name: String, commandKey: String? = nil, proof: String? = nil) {
        (self.name, self.commandKey, self.proof) = (name, commandKey, proof)
    }

    /// Whether each key is valid and comes from the person who made the code, and none is missing that the code asks for. With a code for
    /// sealing, the center must also know the hub by its own key.
    package func isGenuine(_ code: EnrollmentCode, _ fleet: FleetSubject, hubKey: String) -> Bool {
        if let commandKey {
            guard NKey.publicKey(commandKey) != nil, proof == code.proof(of: commandKey, fleet) else { return false }
        }
        guard !code.isForSealing || self.hubKey == hubKey else { return false }
        guard let sealingKey else { return !code.isForSealing }
        return SealingKey.publicKey(sealingKey) != nil && sealingProof == code.proof(of: sealingKey, fleet)
    }
}

/// A hub's request to join a fleet, sent with the key of an ``EnrollmentCode``.
package struct JoinRequest: Sendable, Equatable {
    /// The identifier of the hub's store.
    package var store: String
    /// The hub's public key in text form.
    package var key: String

    package init(store: String, key: String) { (self.store, self.key) = (store, key) }

    private static let version: UInt64 = 1
    /// The longest request in bytes.
    package static let maximumLength = 1024

    /// The request as bytes, signed with the code's key.
    package func bytes(signedWith code: EnrollmentCode) -> [UInt8] {
        var writer = FleetByteWriter()
        writer.write(Self.version)
        writer.write(store)
        writer.write(key)
        let signature = code.key.key.signature(of: writer.bytes)
        writer.write(signature)
        return writer.bytes
    }

    /// Reads a request.
    ///
    /// - Parameter codeKey: the public key of the code, in text form.
    /// - Throws: ``BlockFault`` if the bytes are something else, or if the code's key did not sign them.
    package init(bytes: [UInt8], codeKey: String) throws(BlockFault) {
        guard bytes.count <= Self.maximumLength else { throw .invalid("it is too long") }
        var reader = FleetByteReader(bytes[...])
        guard try reader.number() == Self.version else {
            throw .invalid("its format is of another version: update the hub and the collector")
        }
        (store, key) = (try reader.text(), try reader.text())
        let signed = bytes.prefix(reader.position(in: bytes))
        let signature = Array(try reader.bytes())
        guard reader.isAtEnd, FleetSubject.isToken(store), NKey.publicKey(key) != nil else { throw .invalid("a name or a key") }
        guard let owner = NKey.publicKey(codeKey), SigningKey.isValid(signature, of: Array(signed), by: owner) else {
            throw .invalid("its signature")
        }
    }
}
