/// A key of HealthKit's metadata: our name, HealthKit's raw string, and the kind of its value.
///
///     MetadataKey(rawKey: "HKTimeZone")?.name               // "timeZone"
///     MetadataKey(named: "heartRateMotionContext")?.rawKey  // "HKMetadataKeyHeartRateMotionContext"
public struct MetadataKey: Hashable, Sendable {
    /// The kind of a key's value.
    public enum Kind: Hashable, Sendable {
        /// Any text.
        case string
        /// A number without a unit.
        case number
        /// Stored as 1 or 0.
        case boolean
        /// A number and a unit.
        case quantity
        /// A point in time, stored as the received text.
        case date
        /// Stored as these numbers, shown as these names.
        case enumeration([Int: String])
    }

    /// The constant's name without `HKMetadataKey`, first letter small.
    public let name: String
    /// HealthKit's stored string, which cannot be derived from the name (`HKTimeZone`, `HKMetadataKeySyncVersion`).
    public let rawKey: String
    /// The kind of the value.
    public let kind: Kind

    init(_ name: String, _ rawKey: String, _ kind: Kind) {
        self.name = name
        self.rawKey = rawKey
        self.kind = kind
    }

    /// The key with HealthKit's string, case-sensitive, or `nil` for keys that apps invent.
    public init?(rawKey: some StringProtocol) {
        guard let key = Self.byRawKey[String(rawKey)] else { return nil }
        self = key
    }

    /// The key of this name.
    public init?(named name: some StringProtocol) {
        guard let key = Self.byName[String(name)] else { return nil }
        self = key
    }

    /// The name of a key about the measuring method, for its name or HealthKit's string, or `nil` for other keys.
    static func method(_ key: String) -> String? {
        if methods.contains(key) { return key }
        return byRawKey[key].flatMap { methods.contains($0.name) ? $0.name : nil }
    }

    private static let byRawKey = Dictionary(all.map { ($0.rawKey, $0) }, uniquingKeysWith: { first, _ in first })
    private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}
