import CryptographyKit

/// A numbered command that the center has for a hub.
package struct FleetOrder: Codable, Hashable, Sendable {
    /// The commands that a center can give. Each runs one command of the program on the hub.
    package enum Kind: String, CaseIterable, Sendable {
        /// `devices adopt`
        case adopt
        /// `devices assign`
        case assign
        /// `repair apply`
        case repair
        /// `people erase --yes`
        case erase
        /// `targets verify` of the fleet's target
        case verify
        /// Changes settings of the hub's configuration (``HubSetting``)
        case set
        /// Installs a device profile. The argument is its text.
        case profile

        /// The options that the center may give. All others, such as `--store`, are refused.
        package var options: Set<String> {
            switch self {
            case .adopt: ["--profile", "--person", "--name"]
            case .assign: ["--person", "--range", "--user", "--samples"]
            case .repair:
                [
                    "--type", "--source", "--device", "--person", "--from", "--to", "--where", "--read-as", "--scale", "--shift",
                    "--move-zone", "--assign", "--set-type", "--correction", "--ambiguous", "--merge",
                ]
            case .erase, .set, .profile: []
            case .verify: ["--dry-run", "--days"]
            }
        }
    }

    /// The number. A hub carries out the orders in the order of their numbers.
    package var number: Int64
    /// The name of a ``Kind``, or one that only a newer version knows.
    package var kind: String
    package var arguments: [String]
    /// The signature of the center in base 32, or `nil` without one.
    package var signature: String?

    /// An order without a signature.
    package init(number: Int64, kind: String, arguments: [String]) {
        (self.number, self.kind, self.arguments) = (number, kind, arguments)
    }

    private static let maximumArguments = 64
    /// The longest arguments in bytes, together.
    private static let maximumLength = 8192
    /// The longest profile in bytes.
    package static let maximumProfileLength = 1 << 17

    /// A reason why a hub would refuse the order, or `nil`.
    package var rejectionReason: String? {
        guard let kind = Kind(rawValue: kind) else {
            return "unknown command, expected one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))"
        }
        let maximumLength = kind == .profile ? Self.maximumProfileLength : Self.maximumLength
        guard arguments.count <= Self.maximumArguments, arguments.reduce(0, { $0 + $1.utf8.count }) <= maximumLength,
            arguments.allSatisfy({ !$0.utf8.contains(0) })
        else { return "too many or too long arguments" }
        if kind == .profile { return arguments.count == 1 ? nil : "expected the text of one profile" }
        for argument in arguments where argument.hasPrefix("-") && argument != "-" {
            let name = argument.prefix { $0 != "=" }
            guard kind.options.contains(String(name)) else {
                let known = kind.options.sorted().joined(separator: ", ")
                return "the option \(name) is not allowed for \(kind.rawValue)"
                    + (known.isEmpty ? "" : ", expected one of \(known)")
            }
        }
        // It would ask for input.
        guard !arguments.contains("-") else { return "'-' is not allowed" }
        guard kind != .set || (!arguments.isEmpty && arguments.allSatisfy({ HubSetting($0) != nil })) else {
            return "expected KEY=VALUE with one of the keys \(HubSetting.names.joined(separator: ", "))"
        }
        return nil
    }
}

extension FleetOrder {
    package mutating func sign(with key: SigningKey, for store: String, of fleet: FleetSubject) {
        signature = Base32.text(key.signature(of: signedBytes(store, fleet)))
    }

    /// Whether the owner of a public key has signed the order for this hub.
    package func isSigned(by publicKey: [UInt8], for store: String, of fleet: FleetSubject) -> Bool {
        guard let signature, signature.utf8.count <= 2 * SigningKey.signatureSize, let bytes = Base32.bytes(signature) else {
            return false
        }
        return SigningKey.isValid(bytes, of: signedBytes(store, fleet), by: publicKey)
    }

    /// Every text has its length before it, so that no two orders have the same bytes.
    private func signedBytes(_ store: String, _ fleet: FleetSubject) -> [UInt8] {
        var writer = FleetByteWriter()
        for text in ["vitalgate order 1", fleet.fleet, store] { writer.write(text) }
        writer.write(signed: number)
        writer.write(kind)
        writer.write(UInt64(arguments.count))
        for argument in arguments { writer.write(argument) }
        return writer.bytes
    }
}
