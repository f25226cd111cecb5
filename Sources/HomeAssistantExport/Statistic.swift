import HealthModel
import Pipeline

/// A person's type as an external statistic of Home Assistant.
struct Statistic: Hashable {
    /// The part of an id before the colon, and the source of all our statistics.
    static let source = "vitalgate"

    let series: HourSeries
    /// The id, such as `vitalgate:3f2a91bc5d0e4c5b9a7d2f6e8c1b4a30_body_mass`. It never changes.
    let id: String
    let isSum: Bool

    init(_ series: HourSeries) {
        self.series = series
        id = Self.prefix(of: series.person) + Self.words(series.type.id)
        isSum = series.type.aggregation == .cumulative
    }

    /// The beginning of all ids of a person. Names change and are equal in two homes, so it has the digits of the person's UUID. Some of them
    /// would not do: those of one minute can begin alike.
    static func prefix(of person: String) -> String {
        let digits = person.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return "\(source):\(digits)_"
    }

    /// An id of a type in lower-case words: `body_mass` for `bodyMass`.
    private static func words(_ id: String) -> String {
        var words = ""
        var isAfterCapital = true
        for character in id {
            if character.isUppercase, !isAfterCapital { words.append("_") }
            isAfterCapital = character.isUppercase
            words.append(contentsOf: character.lowercased())
        }
        return words
    }
}

/// A row of a statistic: an hour of UTC, or of a zone with another minute.
struct StatisticRow: Hashable {
    enum Values: Hashable {
        case mean(Double, minimum: Double, maximum: Double)
        /// The amount of the hour, and the total since the first row.
        case sum(state: Double, total: Double)
        /// A row whose values were removed.
        case empty
    }

    var start: Instant
    var values: Values

    static let hour: Int64 = 3_600_000_000
}
