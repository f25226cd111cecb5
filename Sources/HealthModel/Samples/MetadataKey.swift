/// A key of HealthKit's metadata: its name here, its raw string there, and what its value is.
///
///     MetadataKey(rawKey: "HKTimeZone")?.name               // "timeZone"
///     MetadataKey(named: "heartRateMotionContext")?.rawKey  // "HKMetadataKeyHeartRateMotionContext"
public struct MetadataKey: Hashable, Sendable {
    /// What a key's value is.
    public enum Kind: Hashable, Sendable {
        /// Any text.
        case string
        /// A number without a unit.
        case number
        /// Stored as 1 or 0.
        case boolean
        /// A number and a unit.
        case quantity
        /// A point in time, kept as the text received.
        case date
        /// Stored as these numbers, shown as these names.
        case enumeration([Int: String])
    }

    /// The constant's name without `HKMetadataKey`, first letter small.
    public let name: String
    /// The string that HealthKit stores; it can't be derived from the name (`HKTimeZone`, `HKMetadataKeySyncVersion`).
    public let rawKey: String
    /// What the value is.
    public let kind: Kind

    init(_ name: String, _ rawKey: String, _ kind: Kind) {
        self.name = name
        self.rawKey = rawKey
        self.kind = kind
    }

    /// The key that HealthKit stores under this string, in exact case; nil for the keys that apps make up.
    public init?(rawKey: some StringProtocol) {
        guard let key = Self.byRawKey[String(rawKey)] else { return nil }
        self = key
    }

    /// The key of this name.
    public init?(named name: some StringProtocol) {
        guard let key = Self.byName[String(name)] else { return nil }
        self = key
    }

    /// The key's name, for a name of it or the string that HealthKit stores, where it says how a value was measured.
    static func method(_ key: String) -> String? {
        if methods.contains(key) { return key }
        return byRawKey[key].flatMap { methods.contains($0.name) ? $0.name : nil }
    }

    private static let byRawKey = Dictionary(all.map { ($0.rawKey, $0) }, uniquingKeysWith: { first, _ in first })
    private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}
