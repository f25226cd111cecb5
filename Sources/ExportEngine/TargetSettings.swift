import HealthModel
import Pipeline

/// The user's settings for a target, independent of its kind.
public struct TargetSettings: Sendable {
    /// The name that commands and the store use for the target.
    public var name: String
    /// The filter for samples, or `nil` for all.
    public var filter: SamplePredicate?
    /// The filter as it was written. The store remembers it because another filter means other contents.
    public var filterText: String
    /// Ids of sources under which the target's own samples come back to us. They are not sent there again.
    public var ownSources: Set<String>
    /// The settings common to all kinds that affect what is written: units.
    public var shapeText: String
    /// The machine and file that feed the target.
    public var holder: StoreHolder
    /// Whether this holder takes over from another one because the user has confirmed that the store moved.
    public var takesOver = false
    /// The maximum number of changes in one delivery. The exporter's own limit applies too.
    public var batchSize: Int
    /// The order of sources in the configuration, which comes after the user's orders in the store.
    public var sourcePriority: [String] = []

    /// Creates settings. By default everything is sent, in batches as large as the exporter allows.
    public init(
        name: String, filter: SamplePredicate? = nil, filterText: String = "", shapeText: String = "",
        holder: StoreHolder = StoreHolder(),
        ownSources: Set<String> = [], batchSize: Int = .max
    ) {
        (self.name, self.filter, self.filterText, self.shapeText) = (name, filter, filterText, shapeText)
        self.holder = holder
        (self.ownSources, self.batchSize) = (ownSources, batchSize)
    }

    /// Whether the target receives a sample.
    func passes(_ sample: Sample) -> Bool {
        guard !ownSources.contains(sample.origin.source.id) else { return false }
        return filter?.matches(sample) ?? true
    }

    /// The settings that affect an exporter's contents. It is empty for an exporter that shows only the current state.
    func shape(_ exporter: any Exporter) -> String {
        exporter.showsOnlyNow ? "" : [shapeText, exporter.shape].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
