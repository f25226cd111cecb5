/// A date in a health record: a year, a month, a day, or a moment (FHIR's `dateTime`).
///
/// Two dates are compared at the coarser precision, so a condition of 2012 and one of May 2012 compare as equal. A day is the written one
/// in any zone.
public struct PartialDate: Hashable, Sendable, CustomStringConvertible {
    /// The date as written.
    public let description: String
    /// Year, month and day, as far as known.
    private let parts: [Int]
    /// The instant, if the date includes a time with its zone.
    private let instant: Instant?

    /// Parses `2012`, `2012-05`, `2012-05-15`, or a moment such as `2012-05-15T10:30:00+01:00`. Returns `nil` for any other text and for an
    /// invalid day.
    public init?(_ text: String) {
        description = text
        let day = text.prefix { $0 != "T" && $0 != "t" && $0 != " " }
        let words = day.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(words.count), words[0].utf8.count == 4, words.dropFirst().allSatisfy({ $0.utf8.count == 2 }),
            words.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        parts = words.compactMap { Int($0) }
        guard parts.count < 2 || (1...12).contains(parts[1]) else { return nil }
        // The timestamp parser knows the lengths of months.
        guard parts.count < 3 || (try? Timestamp(iso8601: "\(day)T00:00:00Z")) != nil else { return nil }
        if day.endIndex == text.endIndex {
            instant = nil
            return
        }
        guard parts.count == 3, let time = try? Timestamp(iso8601: text) else { return nil }
        // A time without a zone counts as its day.
        instant = time.instant
    }

    /// Negative, zero or positive if the first date is before, equal to or after the second.
    static func order(_ one: PartialDate, _ other: PartialDate) -> Int {
        if let own = one.instant, let others = other.instant { return own == others ? 0 : own < others ? -1 : 1 }
        for (own, others) in zip(one.parts, other.parts) where own != others { return own < others ? -1 : 1 }
        return 0
    }
}
