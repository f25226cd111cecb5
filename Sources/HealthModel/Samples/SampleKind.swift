/// What a sample is, by HealthKit's classes; the numbers are how stores keep it, and never change.
///
/// A store that has a kind which this version does not know was made by a newer one.
public enum SampleKind: Int64, Hashable, Sendable, CaseIterable {
    /// A number with a unit (HealthKit's `HKQuantitySample`).
    case quantity = 0
    /// One of a list of values (`HKCategorySample`).
    case category = 1
    /// Samples that belong together (`HKCorrelation`); its ``SampleBody`` names them.
    case correlation = 2
    /// An activity from a start to an end (`HKWorkout`).
    case workout = 3
    /// The rings of a calendar day (`HKActivitySummary`).
    case activitySummary = 4

    /// As it stands in a sample's line.
    public var name: String {
        switch self {
        case .quantity: "quantity"
        case .category: "category"
        case .correlation: "correlation"
        case .workout: "workout"
        case .activitySummary: "activitySummary"
        }
    }

    /// The kind of this name.
    public init?(named name: some StringProtocol) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
