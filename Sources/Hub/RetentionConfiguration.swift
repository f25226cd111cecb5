import HealthModel
import SampleStore

/// How long samples are kept: the configuration's `retention`, by type or for `all` others.
///
///     retention: { heartRate: "90d", all: "10y" }
package struct RetentionConfiguration: Sendable, Decodable {
    /// Microseconds, by type.
    private var periods: [SampleType: Int64] = [:]
    /// The period for all other types.
    private var others: Int64?

    /// Creates a configuration that keeps everything.
    package init() {}

    package init(from decoder: any Decoder) throws {
        var types: [String: Int64] = [:]
        for (name, text) in try [String: String](from: decoder) {
            guard let period = Self.period(text) else {
                throw ConfigurationError("retention: '\(name)': invalid duration '\(text)', expected one such as 90d, 12w or 10y")
            }
            if name == "all" {
                others = period
            } else {
                types[name] = period
            }
        }
        periods = try TypeKeys.values(types, at: "retention")
    }

    /// Returns days, weeks or years of 365 days in microseconds, at most a thousand years.
    private static func period(_ text: String) -> Int64? {
        let days: Int64
        switch text.last {
        case "d": days = 1
        case "w": days = 7
        case "y": days = 365
        default: return nil
        }
        guard let count = Int64(text.dropLast()), (1...365_000).contains(count), count * days <= 365_000 else { return nil }
        return count * days * 86_400_000_000
    }

    /// Returns the earliest permitted date of each type that has one.
    package func dates(of types: some Sequence<SampleType>, now: Instant) -> [SampleType: Instant] {
        var dates: [SampleType: Instant] = [:]
        for type in types {
            guard let period = periods[type] ?? others else { continue }
            dates[type] = Instant(microseconds: now.microseconds - period)
        }
        return dates
    }

    /// Returns the earliest permitted date of each type of a store that has one.
    package func dates(in store: SampleStore, now: Instant) throws -> [SampleType: Instant] {
        dates(of: try Set(store.samples.series(matching: SampleQuery()).map(\.type)), now: now)
    }
}
