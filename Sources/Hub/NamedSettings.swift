/// Any key of the configuration.
struct SettingKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A setting that the configuration may contain several times, each with a name.
protocol NamedSetting {
    /// The configuration's key for all of them.
    static var key: String { get }

    init(name: String, from decoder: any Decoder) throws
}

extension NamedSetting {
    /// Whether a name is valid.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }
}

/// All settings of a kind, sorted by name.
struct NamedSettings<Setting: NamedSetting>: Decodable {
    var all: [Setting] = []

    /// The maximum number of entries, more than a machine of this size can serve.
    private var maximum: Int { 64 }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SettingKey.self)
        for key in members.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            all.append(try Setting(name: key.stringValue, from: members.superDecoder(forKey: key)))
        }
        guard all.count <= maximum else { throw ConfigurationError("'\(Setting.key)': more than \(maximum) entries") }
    }
}

extension KeyedDecodingContainer<SettingKey> {
    /// Throws if the object has an unknown key.
    func check(hasOnly known: [String], at path: String) throws(ConfigurationError) {
        guard let unknown = allKeys.map(\.stringValue).sorted().first(where: { !known.contains($0) }) else { return }
        throw ConfigurationError("'\(path).\(unknown)': unknown key, expected one of \(known.joined(separator: ", "))")
    }

    /// Throws if the object of a key has an unknown key.
    func check(_ name: String, hasOnly known: [String], at path: String) throws {
        try nestedContainer(keyedBy: SettingKey.self, forKey: SettingKey(name)).check(hasOnly: known, at: "\(path).\(name)")
    }

    /// The value of a key, or `nil` without the key.
    subscript<Value: Decodable>(_ name: String) -> Value? {
        get throws { try decodeIfPresent(Value.self, forKey: SettingKey(name)) }
    }

    /// Returns the kind of an object in the configuration, and checks that the object has only keys of this kind.
    func kind<Kind: RawRepresentable<String> & CaseIterable>(at path: String, keys: (Kind) -> [String]) throws -> Kind {
        guard let kind = try decodeIfPresent(String.self, forKey: SettingKey("kind")).flatMap(Kind.init(rawValue:)) else {
            let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError("'\(path).kind': expected one of \(known)")
        }
        let known = keys(kind)
        if let unknown = allKeys.map(\.stringValue).sorted().first(where: { !known.contains($0) }) {
            throw ConfigurationError(
                "'\(path).\(unknown)': unknown key for \(kind.rawValue), expected one of \(known.joined(separator: ", "))")
        }
        return kind
    }
}
