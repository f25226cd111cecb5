import HealthModel
import Pipeline
import SampleStore

/// Compares a target with the store by UUID, and brings it in order: after its filter changed, after either was put back from a backup, or because
/// somebody wants to know.
public struct TargetComparison {
    private let settings: TargetSettings
    private let exporter: any ComparableExporter
    private let store: SampleStore
    private let now: () -> Instant

    /// - Parameter store: it can be written.
    public init(_ settings: TargetSettings, exporter: any ComparableExporter, store: SampleStore, now: @escaping () -> Instant) {
        (self.settings, self.exporter, self.store, self.now) = (settings, exporter, store, now)
    }

    /// Only compares.
    public func compare() throws -> TargetDifferences {
        try TargetLock(store: store.path, target: settings.name).holding { try differences(StoreComparison(store)) }
    }

    /// Compares, delivers what differs, and has the target go on from there.
    ///
    /// - Parameter progress: hears how many of the differences are mended.
    /// - Returns: what differed, and how many changes the target did not take: they are set aside.
    /// - Throws: ``DeliveryError`` where the target fails; what was mended before that stays mended, and its cursor is where it was.
    public func repair(progress: (Int) -> Void = { _ in }) throws -> (differences: TargetDifferences, refused: Int) {
        try TargetLock(store: store.path, target: settings.name).holding {
            // What changes from here on is told by the run that follows.
            let end = try store.lastAnchor()
            let comparison = try StoreComparison(store)
            let differences = try differences(comparison)
            var target = Target(name: settings.name, after: end, filter: settings.filterText, at: now())
            if let known = try store.target(settings.name) {
                (target.delivered, target.leftOut) = (known.delivered, known.leftOut)
            }
            var refused: [SetAside] = []
            var mended = 0
            let limit = max(1, min(settings.batchSize, exporter.batchLimit))
            while true {
                let changes = try comparison.next(limit: limit)
                guard !changes.isEmpty else { break }
                var delivery = Delivery(exporter)
                try delivery.deliver(ExportBatch(changes: changes))
                refused += delivery.refused.map {
                    SetAside(seq: $0.change.seq, uuid: $0.change.uuid, words: $0.words, time: now())
                }
                target.delivered += delivery.delivered
                target.leftOut += delivery.leftOut
                mended += changes.count
                progress(mended)
            }
            try store.forget(target: settings.name)
            try store.save(target, setAside: refused)
            return (differences, refused.count)
        }
    }

    private func differences(_ comparison: StoreComparison) throws -> TargetDifferences {
        try comparison.compare(contents: exporter.contents) { exporter.holds($0) && settings.passes($0) }
    }
}
