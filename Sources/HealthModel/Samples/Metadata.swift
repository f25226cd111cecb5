/// All facts about a sample besides its value. An immutable dictionary, shared by all samples with the same entries.
///
///     let metadata = Metadata([("bodyTemperatureSensorLocation", .string("armpit")), ("wasUserEntered", .boolean(true))])
///     metadata.json  // {"bodyTemperatureSensorLocation":"armpit","wasUserEntered":true}
public final class Metadata: Hashable, Sendable {
    /// The entries, ordered by the bytes of their keys.
    public let entries: [(key: String, value: MetadataValue)]

    /// The JSON object of these entries, without spaces and with keys ordered by their bytes. Stores keep this form and search for it.
    /// Lines get it through ``JSONText/append(json:to:)``.
    public let json: String

    /// The entries about the measuring method (``MetadataKey/methods``) as they enter an identity's message. For each such key, ordered by
    /// bytes, it contains a newline, the key, `=` and the value as JSON. Empty if there are no such entries.
    public let method: [UInt8]

    /// The key of a category's case as received, if this version does not know it.
    public static let receivedCase = "receivedCase"

    /// Metadata without entries.
    public static let empty = Metadata([])

    /// Metadata with these entries in any order. If a key is repeated, the last entry counts.
    public init(_ entries: [(String, MetadataValue)]) {
        var byKey: [String: MetadataValue] = [:]
        for (key, value) in entries { byKey[key] = value }
        let sorted = byKey.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (key, value) in sorted {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(stored: key, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            value.write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        self.entries = sorted.map { (key: $0.key, value: $0.value) }
        self.json = String(decoding: bytes, as: UTF8.self)
        self.method = Self.method(sorted)
    }

    private static func method(_ entries: [(key: String, value: MetadataValue)]) -> [UInt8] {
        var named: [(name: String, value: MetadataValue)] = []
        for (key, value) in entries { if let name = MetadataKey.method(key) { named.append((name, value)) } }
        var bytes: [UInt8] = []
        for (name, value) in named.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            bytes.append(0x0A)
            bytes += name.utf8
            bytes.append(UInt8(ascii: "="))
            value.write(to: &bytes)
        }
        return bytes
    }

    /// Reads what ``json`` prints: one flat object of strings, numbers, booleans and quantities, however long. Blanks are refused.
    ///
    /// - Throws: ``MetadataError``.
    public convenience init(json: String) throws(MetadataError) {
        self.init(try MetadataParser.parse(json))
    }

    /// Whether there are no entries.
    public var isEmpty: Bool { entries.isEmpty }

    /// The value under a key.
    public subscript(key: String) -> MetadataValue? { entries.first { $0.key == key }?.value }

    /// Equal metadata print the same.
    public static func == (one: Metadata, other: Metadata) -> Bool { one === other || one.json == other.json }

    public func hash(into hasher: inout Hasher) { hasher.combine(json) }
}
