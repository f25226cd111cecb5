import HealthModel
import Pipeline

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
    /// The settings that shape what is written, whatever the kind: units.
    public var shapeText: String
    /// Which machine and file feed the target.
    public var holder: StoreHolder
    /// Whether this holder takes over from another one: a person has said that the store has moved.
    public var takesOver = false
    /// Changes in one delivery at most; no more than the exporter allows.
    public var batchSize: Int

    /// Everything, as many at once as the exporter likes, where nothing else is said.
    public init(
        name: String, filter: SamplePredicate? = nil, filterText: String = "", shapeText: String = "",
        holder: StoreHolder = StoreHolder(),
        ownSources: Set<String> = [], batchSize: Int = .max
    ) {
        (self.name, self.filter, self.filterText, self.shapeText) = (name, filter, filterText, shapeText)
        self.holder = holder
        (self.ownSources, self.batchSize) = (ownSources, batchSize)
    }

    /// Whether a sample goes to the target.
    func passes(_ sample: Sample) -> Bool {
        guard !ownSources.contains(sample.origin.source.id) else { return false }
        return filter?.matches(sample) ?? true
    }

    /// What shapes an exporter's contents; the same for all where it shows only how things are now.
    func shape(_ exporter: any Exporter) -> String {
        exporter.showsOnlyNow ? "" : [shapeText, exporter.shape].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
