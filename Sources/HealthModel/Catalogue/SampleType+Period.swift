extension SampleType {
    /// Types that add up, but are events at a moment, such as a meal, a dose or a fall.
    private static let events: Set<String> = [
        "inhalerUsage", "insulinDelivery", "numberOfAlcoholicBeverages", "numberOfTimesFallen",
    ]

    /// Whether each value is a count over a period, such as the steps of a minute. A value at a moment means nothing then.
    package var isCountedOverTime: Bool {
        aggregation == .cumulative && !Self.events.contains(id) && !id.hasPrefix("dietary")
    }
}
