import HealthModel
import Pipeline

/// The user's settings for a target, independent of its kind.
package struct TargetSettings: Sendable {
    /// The name that commands and the store use for the target.
    package var name: String
    /// The filter for samples, or `nil` for all.
    package var filter: SamplePredicate?
    /// The filter as it was written. The store remembers it because another filter means other contents.
    package var filterText: String
    /// Ids of sources under which the target's own samples come back to us. They are not sent there again.
    package var ownSources: Set<String>
    /// The settings common to all kinds that affect what is written: units.
    package var shapeText: String
    /// The machine and file that feed the target.
    package var holder: StoreHolder
    /// Whether this holder takes over from another one because the user has confirmed that the store moved.
    package var takesOver = false
    /// The maximum number of changes in one delivery. The exporter's own limit applies too.
    package var batchSize: Int
    /// The order of sources in the configuration, which comes after the user's orders in the store.
    package var sourcePriority: [String] = []

    /// Creates settings. By default everything is sent, in batches as large as the exporter allows.
    package init(
        name: String, filter: SamplePredicate? = nil, filterText: String = "", shapeText: String = "",
        holder: StoreHolder = StoreHolder(),
        ownSources: Set<String> = [], batchSize: Int = .max
    ) {
        (self.name, self.filter, self.filterText, self.shapeText) = (name, filter, filterText, shapeText)
        self.holder = holder
        (self.ownSources, self.batchSize) = (ownSources, batchSize)
    }

    func passes(_ sample: Sample) -> Bool { !isOwn(sample.origin) && isSelected(sample) }

    /// Whether the sample of a change is sent. Most targets have no filter, and then the sample is not copied.
    func passes(_ change: SampleChange) -> Bool { !isOwn(change.origin) && filter?.matches(change.sample) != false }

    /// Whether the samples of an origin come from the target itself.
    func isOwn(_ origin: Origin) -> Bool { ownSources.contains(origin.source.id) }

    func isSelected(_ sample: Sample) -> Bool { filter?.matches(sample) ?? true }

    /// The settings that affect an exporter's contents. It is empty for an exporter that shows only the current state.
    func shape(_ exporter: any Exporter) -> String {
        exporter.showsOnlyNow ? "" : [shapeText, exporter.shape].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
