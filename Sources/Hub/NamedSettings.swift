import Pipeline

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
    /// The word for one of them.
    static var noun: String { get }

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
            guard Setting.isName(key.stringValue) else {
                throw members.fault(
                    key.stringValue, "a \(Setting.noun)'s name has at most 64 characters from a to z, 0 to 9 and -")
            }
            all.append(try Setting(name: key.stringValue, from: members.superDecoder(forKey: key)))
        }
        guard all.count <= maximum else { throw ConfigurationError("'\(Setting.key)': more than \(maximum) entries") }
    }
}

extension Decoder {
    /// The members of an object of the configuration.
    ///
    /// - Throws: ``ConfigurationError`` if the object has an unknown key.
    func members(hasOnly known: [String]) throws -> KeyedDecodingContainer<SettingKey> {
        let members = try container(keyedBy: SettingKey.self)
        try members.check(hasOnly: known)
        return members
    }
}

extension KeyedDecodingContainer<SettingKey> {
    /// An error about the object, with its path.
    func fault(_ words: String) -> ConfigurationError { fault(nil, words) }

    /// An error about a key, with its path.
    func fault(_ name: String?, _ words: String) -> ConfigurationError {
        let path = codingPath.map(\.stringValue) + [name].compactMap { $0 }
        return ConfigurationError("'\(path.joined(separator: "."))': \(words)")
    }

    /// Throws if the object has an unknown key.
    ///
    /// - Parameter noun: The words for a key.
    func check(hasOnly known: [String], _ noun: String = "key") throws(ConfigurationError) {
        guard let unknown = allKeys.map(\.stringValue).sorted().first(where: { !known.contains($0) }) else { return }
        throw fault(unknown, "unknown \(noun), expected one of \(known.joined(separator: ", "))")
    }

    /// The members of the object of a key, or `nil` without the key. Throws if the object has an unknown key.
    func members(_ name: String, hasOnly known: [String], _ noun: String = "key") throws -> Self? {
        guard contains(SettingKey(name)) else { return nil }
        let members = try nestedContainer(keyedBy: SettingKey.self, forKey: SettingKey(name))
        try members.check(hasOnly: known, noun)
        return members
    }

    /// The value of a key, or `nil` without the key.
    subscript<Value: Decodable>(_ name: String) -> Value? {
        get throws { try decodeIfPresent(Value.self, forKey: SettingKey(name)) }
    }

    /// One of the words that a key accepts, or `nil` without the key.
    ///
    /// - Parameter problem: The beginning of the error's text.
    func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String, _ problem: String = "") throws -> Word? {
        guard let text: String = try self[name] else { return nil }
        guard let word = Word(rawValue: text) else { throw fault(name, "\(problem)expected one of \(Self.words(Word.self))") }
        return word
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// The number of a key, or `nil` without the key.
    func number(_ name: String, in range: ClosedRange<Int>, _ description: String = "number") throws -> Int? {
        guard let number: Int = try self[name] else { return nil }
        guard range.contains(number) else {
            throw fault(name, "expected a whole \(description) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads the settings of an exporter, whose errors have no path.
    func settings<Result>(_ name: String? = nil, _ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch let fault as SettingsFault {
            throw self.fault([name, fault.key].compactMap { $0 }.joined(separator: "."), fault.words)
        }
    }

    /// Returns the kind of an object in the configuration, and checks that the object has only keys of this kind.
    func kind<Kind: RawRepresentable<String> & CaseIterable>(keys: (Kind) -> [String]) throws -> Kind {
        let text: String? = try self["kind"]
        guard let kind = text.flatMap(Kind.init(rawValue:)) else {
            throw fault("kind", "expected one of \(Self.words(Kind.self))")
        }
        try check(hasOnly: keys(kind), "key for \(kind.rawValue)")
        return kind
    }
}
