import HealthModel
import Pipeline
import SampleStore

/// Compares a target that has statistics of hours with the store.
package struct HourComparison {
    private let settings: TargetSettings
    private let exporter: any HourComparingExporter
    private let store: SampleStore
    private let now: () -> Instant

    /// - Parameter store: A writable store.
    package init(
        _ settings: TargetSettings, exporter: any HourComparingExporter, store: SampleStore, now: @escaping () -> Instant
    ) {
        (self.settings, self.exporter, self.store, self.now) = (settings, exporter, store, now)
    }

    /// Compares all hours.
    ///
    /// - Parameters:
    ///   - mends: Whether differences are corrected. The cursor then moves to the end of the change log.
    ///   - progress: Called with the number of differences so far.
    /// - Throws: ``DeliveryError`` if the target fails. Earlier corrections remain, and the cursor does not move.
    package func compare(mends: Bool, progress: (Int) -> Void = { _ in }) throws -> HourDifferences {
        try TargetLock(store: store.path, target: settings.name).withLock {
            // Changes after this anchor are delivered by the next run.
            let end = try store.changes.lastAnchor()
            let differences = try exporter.compare(mends: mends, progress: progress)
            guard mends else { return differences }
            var target = Target(name: settings.name, after: end, filter: settings.filterText, at: now())
            target.shape = settings.shape(exporter)
            if let known = try store.targets.target(settings.name) {
                (target.delivered, target.leftOut, target.count) = (known.delivered, known.leftOut, known.count)
            }
            target.identity = TargetCheck.identity(of: exporter.address)
            try store.targets.forget(target: settings.name)
            try store.targets.save(target)
            return differences
        }
    }

    /// Removes everything that was sent, and stops the target, so that a hub that still knows it does not send everything again.
    ///
    /// - Returns: The number of removed objects.
    package static func clear(
        _ name: String, _ exporter: any ClearableExporter, _ store: SampleStore, now: Instant
    ) throws -> Int {
        try TargetLock(store: store.path, target: name).withLock {
            if var target = try store.targets.target(name) {
                (target.state, target.changed) = (.stopped, now)
                target.words = "everything was removed with 'vitalgate targets remove'"
                try store.targets.save(target)
            }
            return try exporter.clear()
        }
    }
}
