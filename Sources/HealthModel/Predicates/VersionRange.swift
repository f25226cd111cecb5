/// A range of versions in text form: `2.1`, `<2.1`, `>=1.0 <2.1`, `1.0...2.0`.
///
/// Versions are compared piece by piece, numbers as numbers (1.10 comes after 1.9) and everything else as text.
public struct VersionRange: Hashable, Sendable, CustomStringConvertible {
    private struct Bound: Hashable, Sendable {
        var comparison: SamplePredicate.Comparison
        var version: String
    }

    private let bounds: [Bound]
    /// As it was written.
    public let description: String

    /// Parses a range. Returns `nil` if a bound has no version.
    public init?(_ text: some StringProtocol) {
        description = String(text)
        var bounds: [Bound] = []
        for word in text.split(separator: " ") {
            if let dots = word.firstRange(of: "...") {
                bounds.append(Bound(comparison: .atLeast, version: String(word[..<dots.lowerBound])))
                bounds.append(Bound(comparison: .atMost, version: String(word[dots.upperBound...])))
                continue
            }
            let comparison = [SamplePredicate.Comparison.atMost, .atLeast, .below, .above, .equal]
                .first { word.hasPrefix($0.rawValue) }
            let version = String(word.dropFirst(comparison?.rawValue.count ?? 0))
            // Equal in order, not in spelling: 2 is 2.0.
            var comparisons: [SamplePredicate.Comparison] = [.atLeast, .atMost]
            if let comparison, comparison.isOrder { comparisons = [comparison] }
            bounds += comparisons.map { Bound(comparison: $0, version: version) }
        }
        guard !bounds.isEmpty, text.utf8.count < 256, bounds.allSatisfy({ !$0.version.isEmpty }) else { return nil }
        self.bounds = bounds
    }

    /// The comparisons that a version in the range must meet.
    var comparisons: [(SamplePredicate.Comparison, String)] { bounds.map { ($0.comparison, $0.version) } }

    /// Negative, zero or positive if the first version is before, equal to or after the second.
    static func order(_ one: String, _ other: String) -> Int {
        let (own, others) = (pieces(one), pieces(other))
        for index in 0..<max(own.count, others.count) {
            // A missing piece is a zero: 2 is 2.0.
            let left = index < own.count ? own[index] : "0"
            let right = index < others.count ? others[index] : "0"
            if let number = UInt64(left), let second = UInt64(right) {
                if number != second { return number < second ? -1 : 1 }
            } else if left != right {
                return left < right ? -1 : 1
            }
        }
        return 0
    }

    /// `v2.10b3` is 2, 10, b, 3.
    private static func pieces(_ version: String) -> [String] {
        var pieces: [String] = []
        var text = Substring(version)
        if let first = text.first, first == "v" || first == "V" { text = text.dropFirst() }
        while let first = text.first {
            guard first.isLetter || first.isNumber else {
                text = text.dropFirst()
                continue
            }
            let piece = text.prefix { first.isNumber ? $0.isNumber : $0.isLetter }
            pieces.append(String(piece))
            text = text.dropFirst(piece.count)
        }
        return pieces
    }
}
