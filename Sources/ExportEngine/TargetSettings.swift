import HealthModel

/// What a person settles about a target, whatever its kind.
public struct TargetSettings: Sendable {
    /// By which commands and the store know it.
    public var name: String
    /// Samples that go there; `nil` for all.
    public var filter: SamplePredicate?
    /// The filter as it was written, which the store remembers: another one makes other contents.
    public var filterText: String
    /// Changes in one delivery at most, where the exporter allows that many.
    public var batchSize: Int

    /// What is usual: 1,000 at once, everything.
    public init(name: String, filter: SamplePredicate? = nil, filterText: String = "", batchSize: Int = 1000) {
        (self.name, self.filter, self.filterText, self.batchSize) = (name, filter, filterText, batchSize)
    }
}
