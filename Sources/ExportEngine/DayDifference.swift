/// A type and a local day of which a store and its target have different numbers of samples.
package struct DayDifference: Hashable, Sendable, Comparable {
    struct Place: Hashable {
        var type: String
        var day: String
    }

    package let type: String
    /// The day, such as `2026-11-28`.
    package let day: String
    /// The number of samples in the store.
    package let here: Int
    /// The number of samples at the target.
    package let there: Int

    init(_ place: Place, _ here: Int, _ there: Int) { (type, day, self.here, self.there) = (place.type, place.day, here, there) }

    /// Sorts by type, and then by day.
    package static func < (one: DayDifference, other: DayDifference) -> Bool { (one.type, one.day) < (other.type, other.day) }
}
