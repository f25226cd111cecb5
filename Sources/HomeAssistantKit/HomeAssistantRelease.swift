/// A release of Home Assistant, such as 2026.2.
package struct HomeAssistantRelease: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let year: Int
    package let month: Int

    init(year: Int, month: Int) { (self.year, self.month) = (year, month) }

    /// Reads a version such as `2026.2.3`. Anything after the month is ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: ".").prefix(2).map { Int($0) }
        guard parts.count == 2, let year = parts[0], let month = parts[1] else { return nil }
        self.init(year: year, month: month)
    }

    package static func < (one: Self, other: Self) -> Bool { (one.year, one.month) < (other.year, other.month) }
    package var description: String { "\(year).\(month)" }
}
