import HealthModel

/// Readings of a series that fit far better in another unit.
public struct Suspicion: Sendable {
    /// A reason for such readings.
    public enum Explanation: String, Sendable {
        /// They are in another unit than stored.
        case unit
        /// They are correct, and another person's.
        case anotherPerson
    }

    public var range: MisunitRange
    public var series: SeriesDescription
    /// The possible explanations, most likely first.
    public var explanations: [Explanation]

    /// The earliest start after the readings.
    public var end: Instant { Instant(microseconds: range.to.microseconds + 1) }

    /// The condition that separates the readings from right ones of the same time: `value > 115.3 kg`. `nil` if there are none.
    public var condition: String? { range.values?.condition(of: series.type) }

    /// The predicate of a sentence about the readings. It contains no values.
    public var claim: String {
        let (fits, taken) = (range.fits.code, range.taken.code)
        return switch explanations {
        case [.unit]: "would fit far better in \(fits) than in \(taken)"
        case [.anotherPerson, .unit]: "look like another person's, or like \(fits) stored as \(taken)"
        default: "would fit far better in \(fits) than in \(taken), unless they are another person's"
        }
    }
}
