/// Counts the parts of a source that are not read, by name (a column, a table, a member), with the number of values or rows. The import
/// report lists them, so that nothing is dropped silently.
///
///     unread.count("HUAWEI_STRESS_SAMPLE", as: .table, 1944)   // the account has "table HUAWEI_STRESS_SAMPLE": 1944
///
/// Names come from the file, so their number and length are bounded, and control characters are replaced.
public struct Unread: Sendable {
    /// The kind of object that a name refers to.
    public enum Kind: String, Sendable {
        case column, table, member
    }

    /// The maximum number of names. Others are counted together.
    public static let maximumNames = 64
    /// The maximum length of a name in characters. Longer ones are truncated.
    public static let maximumLength = 64

    /// The counts, by their names in the import report.
    public private(set) var counts: [SkipKind: Int] = [:]

    /// Empty counts.
    public init() {}

    /// Adds values or rows to the count of a name.
    public mutating func count(_ name: String, as kind: Kind, _ number: Int = 1) {
        guard number > 0 else { return }
        let reported = SkipKind("\(kind.rawValue) \(Self.reported(name))")
        guard counts[reported] != nil || counts.count < Self.maximumNames else { return countMore(number, as: kind) }
        counts[reported, default: 0] += number
    }

    /// Adds to the count of everything beyond the first names.
    public mutating func countMore(_ number: Int, as kind: Kind) {
        counts[SkipKind("\(kind.rawValue)s beyond the first \(Self.maximumNames)"), default: 0] += number
    }

    /// Adds the counts of another part of the source.
    public mutating func add(_ other: Unread) { counts.merge(other.counts, uniquingKeysWith: +) }

    private static func reported(_ name: String) -> String {
        let plain = String(
            String.UnicodeScalarView(name.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
        return plain.count > maximumLength ? plain.prefix(maximumLength - 1) + "…" : plain
    }
}
