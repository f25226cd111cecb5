/// A version of Home Assistant, such as 2025.4.
package struct HomeAssistantVersion: Hashable, Sendable {
    let year: Int
    let month: Int

    /// The newest version that this code was written for.
    package static let newest = HomeAssistantVersion(year: 2026, month: 11)

    private init(year: Int, month: Int) { (self.year, self.month) = (year, month) }

    /// Parses a version. Anything after the month is ignored.
    init?(_ text: String) {
        let parts = text.split(separator: ".").prefix(2).map { Int($0) }
        guard parts.count == 2, let year = parts[0], let month = parts[1], (2024...2200).contains(year), (1...12).contains(month)
        else { return nil }
        self.init(year: year, month: month)
    }

    /// Whether it supports device discovery in one message.
    var isSupported: Bool { (year, month) >= (2024, 12) }

    /// The micro sign of its units: U+00B5, and from 2025.8 on the Greek letter, U+03BC (home-assistant/core#144853).
    var micro: String { (year, month) < (2025, 8) ? "\u{B5}" : "\u{3BC}" }
}
