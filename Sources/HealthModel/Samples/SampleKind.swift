/// What a series' objects are, as stores keep it; the numbers never change.
///
/// One for each of HealthKit's sample types: a store that has a kind which this version does not know was made by a newer one.
public enum SampleKind: Int64, Hashable, Sendable, CaseIterable {
    /// ``QuantitySample``.
    case quantity = 0
}
