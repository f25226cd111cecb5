import HealthModel
import Pipeline
import SampleStore

/// Compares a target with the store by UUID and content, and repairs the differences. Used after the target's filter or settings
/// changed, after either side was restored from a backup, or as a check.
package struct TargetComparison {
    private let settings: TargetSettings
    private let exporter: any ComparableExporter
    private let store: SampleStore
    private let now: () -> Instant
    private let isClockSet: () -> Bool

    /// - Parameters:
    ///   - store: A writable store.
    ///   - isClockSet: Whether the machine's clock is set. The claims of stores expire only by such a clock.
    package init(
        _ settings: TargetSettings, exporter: any ComparableExporter, store: SampleStore, now: @escaping () -> Instant,
        isClockSet: @escaping () -> Bool = { true }
    ) {
        (self.settings, self.exporter, self.store) = (settings, exporter, store)
        (self.now, self.isClockSet) = (now, isClockSet)
    }

    private var claimTime: Instant? { isClockSet() ? now() : nil }

    /// Returns the differences without repairing them.
    package func compare() throws -> TargetDifferences {
        try TargetLock(store: store.path, target: settings.name).withLock {
            try differences(StoreComparison(store), isReshaped: isReshaped())
        }
    }

    /// Returns the differences, and the types and days of which the two sides have different numbers of samples, in order.
    ///
    /// - Parameters:
    ///   - counting: The exporter, which counts at the target.
    ///   - zone: The time zone of the days.
    ///   - day: Returns the local day of a time in this zone.
    package func compare(
        counting exporter: any DayCountingExporter, zone: String, day: (Instant) -> String
    ) throws -> (differences: TargetDifferences, days: [DayDifference]) {
        try TargetLock(store: store.path, target: settings.name).withLock {
            var counts: [DayDifference.Place: (here: Int, there: Int)] = [:]
            let differences = try differences(StoreComparison(store), isReshaped: isReshaped()) {
                counts[DayDifference.Place(type: $0.origin.type.id, day: day($0.start)), default: (0, 0)].here += 1
            }
            for count in try exporter.dayCounts(zone: zone) {
                counts[DayDifference.Place(type: count.type, day: count.day), default: (0, 0)].there += count.count
            }
            return (
                differences,
                counts.filter { $0.value.here != $0.value.there }.map { DayDifference($0, $1.here, $1.there) }.sorted()
            )
        }
    }

    /// Compares, delivers the differences, and moves the cursor to the end of the change log.
    ///
    /// - Parameter progress: called with the number of repaired differences so far.
    /// - Returns: the differences, and the number of changes that the target rejected and that were set aside.
    /// - Throws: ``DeliveryError`` if the target fails. Earlier repairs are kept, and the cursor does not move.
    package func repair(progress: (Int) -> Void = { _ in }) throws -> (differences: TargetDifferences, refused: Int) {
        try TargetLock(store: store.path, target: settings.name).withLock {
            // Changes after this anchor are delivered by the next run.
            let end = try store.changes.lastAnchor()
            let isReshaped = try isReshaped()
            var target = try claimedTarget(after: end)
            let comparison = try StoreComparison(store)
            let differences = try differences(comparison, isReshaped: isReshaped)
            var refused: [SetAside] = []
            var mended = 0
            let limit = max(1, min(settings.batchSize, exporter.batchLimit))
            while true {
                let (changes, rewrites) = try comparison.next(limit: limit)
                guard !changes.isEmpty else { break }
                var next = mark(target, end)
                next.count += 1
                var delivery = Delivery(exporter, mark: next)
                try delivery.deliver(ExportBatch(changes: changes, rewrites: rewrites))
                refused += delivery.refused.map {
                    SetAside(seq: $0.change.seq, uuid: $0.change.uuid, words: $0.words, time: now())
                }
                target.delivered += delivery.delivered
                target.leftOut += delivery.leftOut
                target.count += delivery.acknowledged
                mended += changes.count
                progress(mended)
            }
            try store.targets.forget(target: settings.name)
            try store.targets.save(target, setAside: refused)
            return (differences, refused.count)
        }
    }

    /// The target as found, regardless of the old cursor: starting the repair confirms that this target is meant.
    private func claimedTarget(after end: Anchor) throws -> Target {
        var target = Target(name: settings.name, after: end, filter: settings.filterText, at: now())
        target.shape = settings.shape(exporter)
        if let known = try store.targets.target(settings.name) {
            (target.delivered, target.leftOut) = (known.delivered, known.leftOut)
        }
        guard let found = try exporter.found() else {
            target.identity = TargetCheck.identity(of: exporter.address)
            return target
        }
        let check = TargetCheck(settings: settings, mend: "", hasMade: store.changes.hasMade, now: claimTime)
        if let words = check.claimWords(found.mark) { throw DeliveryError(.unfit, words) }
        target.identity = found.identity ?? UUIDText.random()
        target.count = (found.mark?.count ?? 0) + 1
        if try !exporter.claim(mark(target, end)) { target.identity = TargetCheck.identity(of: exporter.address) }
        return target
    }

    private func mark(_ target: Target, _ end: Anchor) -> TargetMark {
        TargetMark(
            identity: target.identity ?? "", count: target.count, anchor: "\(end)", holder: settings.holder, time: claimTime)
    }

    /// Whether the target was filled with other settings.
    private func isReshaped() throws -> Bool {
        guard let shape = try store.targets.target(settings.name)?.shape else { return false }
        return shape != settings.shape(exporter)
    }

    /// - Parameter counted: Called for each sample that the target should have.
    private func differences(
        _ comparison: StoreComparison, isReshaped: Bool, counted: (Sample) -> Void = { _ in }
    ) throws -> TargetDifferences {
        // Neighbors usually have the same origin.
        var latest: (origin: Origin, isOwn: Bool)?
        func passes(_ sample: Sample) -> Bool {
            if latest?.origin !== sample.origin { latest = (sample.origin, settings.isOwn(sample.origin)) }
            return latest?.isOwn != true && exporter.accepts(sample) && settings.isSelected(sample)
        }
        if let exporter = exporter as? any DigestingExporter {
            return try comparison.compare(
                digests: exporter.digests, contents: exporter.contents(of:_:), print: exporter.print(of:), passes: passes,
                count: counted)
        }
        let differing: (([Sample]) throws -> [SampleIdentity])? =
            switch exporter.contentComparison {
            case .prints: nil
            // The target cannot report which samples still match, so all are rewritten.
            case .none: isReshaped ? { $0.map(\.identity) } : nil
            }
        return try comparison.compare(contents: exporter.contents, print: exporter.print(of:), differing: differing) {
            guard passes($0) else { return false }
            counted($0)
            return true
        }
    }
}
