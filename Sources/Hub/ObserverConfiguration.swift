import HealthModel

/// An entry of the configuration's `observers`: a command or socket that the hub notifies of changes.
///
///     observers: {
///         scale: { types: ["bodyMass"], command: ["/usr/local/bin/weighed"] },
///         panel: { socket: "/run/panel.sock", frequency: "hourly" },   // of all types; at most once an hour
///     }
public struct ObserverConfiguration: Sendable, NamedSetting {
    static let key = "observers"

    /// The name under which its progress is stored: lower-case letters, digits, `-`.
    public let name: String
    /// The arguments of `vitalgate observe`.
    public let arguments: [String]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case types, command, socket, frequency
    }

    /// The keys of each observer.
    static let knownKeys = CodingKeys.allCases.map(\.rawValue)

    static let frequencies = ["immediate", "hourly", "daily"]

    init(name: String, from decoder: any Decoder) throws {
        let path = "observers.\(name)"
        guard Self.isName(name) else {
            throw ConfigurationError("'\(path)': an observer's name has at most 64 characters from a to z, 0 to 9 and -")
        }
        let keys = try decoder.container(keyedBy: SettingKey.self).allKeys.map(\.stringValue).sorted()
        if let unknown = keys.first(where: { !Self.knownKeys.contains($0) }) {
            throw ConfigurationError(
                "'\(path).\(unknown)': unknown key, expected one of \(Self.knownKeys.joined(separator: ", "))")
        }
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let types = try members.decodeIfPresent([String].self, forKey: .types)
        if let unknown = types?.first(where: { SampleType($0) == nil }) {
            throw ConfigurationError("'\(path).types': unknown type '\(unknown)': run 'vitalgate types' for a list")
        }
        guard types?.isEmpty != true else {
            throw ConfigurationError("'\(path).types': the list is empty: leave it out to observe all types")
        }
        let frequency = try members.decodeIfPresent(String.self, forKey: .frequency)
        guard frequency.map(Self.frequencies.contains) ?? true else {
            throw ConfigurationError("'\(path).frequency': expected one of \(Self.frequencies.joined(separator: ", "))")
        }
        let command = try members.decodeIfPresent([String].self, forKey: .command)
        let socket = try members.decodeIfPresent(String.self, forKey: .socket)
        var arguments: [String] = []
        if let types { arguments += ["--types", types.joined(separator: ",")] }
        if let frequency { arguments += ["--frequency", frequency] }
        switch (command, socket) {
        case (let command?, nil) where command.first?.isEmpty == false: arguments += ["--", name] + command
        case (nil, let socket?) where !socket.isEmpty: arguments += ["--socket", socket, "--", name]
        default: throw ConfigurationError("'\(path)': set either 'command' (a list of words) or 'socket' (a path)")
        }
        (self.name, self.arguments) = (name, arguments)
    }
}
