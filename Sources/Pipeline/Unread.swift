/// What a source has and nobody reads, by name: a column, a table, a member, with how many values or rows it has. It goes into the account, so that
/// nothing vanishes without a word.
///
///     unread.count("HUAWEI_STRESS_SAMPLE", as: .table, 1944)   // the account has "table HUAWEI_STRESS_SAMPLE": 1944
///
/// Names come from the file: their number and length are bounded, and they have no control characters.
public struct Unread: Sendable {
    /// What a name is of.
    public enum Kind: String, Sendable {
        case column, table, member
    }

    /// So many names are told; what more there are is counted together.
    public static let maximumNames = 64
    /// A longer name is cut.
    public static let maximumLength = 64

    /// By what the account calls it.
    public private(set) var counts: [SkipKind: Int] = [:]

    /// Nothing yet.
    public init() {}

    /// Counts values or rows.
    public mutating func count(_ name: String, as kind: Kind, _ number: Int = 1) {
        guard number > 0 else { return }
        let told = SkipKind("\(kind.rawValue) \(Self.told(name))")
        guard counts[told] != nil || counts.count < Self.maximumNames else { return countMore(number, as: kind) }
        counts[told, default: 0] += number
    }

    /// Counts what has no name of its own any more.
    public mutating func countMore(_ number: Int, as kind: Kind) {
        counts[SkipKind("\(kind.rawValue)s beyond the first \(Self.maximumNames)"), default: 0] += number
    }

    /// Counts what another part of the source has.
    public mutating func add(_ other: Unread) { counts.merge(other.counts, uniquingKeysWith: +) }

    private static func told(_ name: String) -> String {
        let plain = String(
            String.UnicodeScalarView(name.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
        return plain.count > maximumLength ? plain.prefix(maximumLength - 1) + "…" : plain
    }
}
