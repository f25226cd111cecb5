/// A setting of a hub's configuration that the center may change, such as `hub.commitEvery=10` or `retention.heartRate=90d`.
///
/// No setting reaches targets, paths, secrets, listeners, or access, except the public key for which the hub seals its requests.
package struct HubSetting: Hashable, Sendable {
    package enum Form: Sendable {
        case text, number
        /// A text for each type: `KEY.TYPE=VALUE`.
        case textsByType
        /// The public text of a ``SealingKey``. It belongs to the target over which the center sets it.
        case sealingKey
    }

    /// The keys with the forms of their values.
    package static let forms: [String: Form] = [
        "locale": .text, "units": .textsByType, "retention": .textsByType, "prune": .text, "page.bloodPressure": .text,
        "hub.readingsPerSecond": .number, "hub.commitEvery": .number, "hub.heartbeats": .text, "sealingKey": .sealingKey,
    ]

    /// The keys for a message, such as `hub.commitEvery` and `units.TYPE`.
    package static var names: [String] {
        forms.sorted { $0.key < $1.key }.map { $0.key + ($0.value == .textsByType ? ".TYPE" : "") }
    }

    /// The keys from the outermost object to the value.
    package private(set) var path: [String]
    package let value: String
    /// Whether the value is a number instead of a text.
    package let isNumber: Bool

    private static let maximumValueLength = 100

    /// Reads `KEY=VALUE`, or returns `nil` if the center may not change this key, or if the value cannot be valid.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let name = String(text[..<sign])
        value = String(text[text.index(after: sign)...])
        guard (1...Self.maximumValueLength).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else {
            return nil
        }
        path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch Self.forms[name] {
        case .text: isNumber = false
        case .number:
            guard Int(value) != nil else { return nil }
            isNumber = true
        case .sealingKey:
            guard SealingKey.publicKey(value) != nil else { return nil }
            isNumber = false
        case .textsByType: return nil
        case nil:
            guard path.count == 2, Self.forms[path[0]] == .textsByType, Self.isType(path[1]) else { return nil }
            isNumber = false
        }
    }

    /// The setting with the complete path of a key that belongs to a target.
    package func of(target: String) -> HubSetting {
        guard path.count == 1, Self.forms[path[0]] == .sealingKey else { return self }
        var setting = self
        setting.path = ["targets", target] + path
        return setting
    }

    private static func isType(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 }
    }
}
