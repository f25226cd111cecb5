/// A key of the configuration, whichever it is.
struct SettingKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// What the configuration has several of, each under a name.
protocol NamedSetting {
    /// The configuration's key for all of them.
    static var key: String { get }

    init(name: String, from decoder: any Decoder) throws
}

extension NamedSetting {
    /// Whether commands can call something so.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: "-")
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }
}

/// All of a kind, in the order of their names.
struct NamedSettings<Setting: NamedSetting>: Decodable {
    var all: [Setting] = []

    /// More than that no machine of this size feeds.
    private var most: Int { 64 }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SettingKey.self)
        for key in members.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            all.append(try Setting(name: key.stringValue, from: members.superDecoder(forKey: key)))
        }
        guard all.count <= most else { throw ConfigurationError("'\(Setting.key)': more than \(most) of them") }
    }
}
