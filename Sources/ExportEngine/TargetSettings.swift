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
    /// Changes in one delivery at most; no more than the exporter allows.
    public var batchSize: Int

    /// Everything, as many at once as the exporter likes, where nothing else is said.
    public init(
        name: String, filter: SamplePredicate? = nil, filterText: String = "", ownSources: Set<String> = [], batchSize: Int = .max
    ) {
        (self.name, self.filter, self.filterText) = (name, filter, filterText)
        (self.ownSources, self.batchSize) = (ownSources, batchSize)
    }

    /// Whether a sample goes to the target.
    func passes(_ sample: Sample) -> Bool {
        guard !ownSources.contains(sample.origin.source.id) else { return false }
        return filter?.matches(sample) ?? true
    }
}
