import HealthModel

/// What a person settles about a target, whatever its kind.
public struct TargetSettings: Sendable {
    /// By which commands and the store know it.
    public var name: String
    /// Samples that go there; `nil` for all.
    public var filter: SamplePredicate?
    /// The filter as it was written, which the store remembers: another one makes other contents.
    public var filterText: String
    /// Sources, by id, under which the target's own samples come back to us: they do not go there again.
    public var ownSources: Set<String>
    /// Changes in one delivery at most, where the exporter allows that many.
    public var batchSize: Int

    /// What is usual: 1,000 at once, everything.
    public init(
        name: String, filter: SamplePredicate? = nil, filterText: String = "", ownSources: Set<String> = [], batchSize: Int = 1000
    ) {
        (self.name, self.filter, self.filterText) = (name, filter, filterText)
        (self.ownSources, self.batchSize) = (ownSources, batchSize)
    }

    /// Whether a sample goes to the target.
    func passes(_ sample: QuantitySample) -> Bool {
        guard !ownSources.contains(sample.origin.source.id) else { return false }
        return filter?.matches(sample) ?? true
    }
}

extension SampleChange {
    /// The sample that came or went.
    var sample: QuantitySample {
        switch self {
        case .added(let stored): stored.sample
        case .deleted(let deletion): deletion.sample
        }
    }
}
