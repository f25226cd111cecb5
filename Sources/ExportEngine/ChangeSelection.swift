import HealthModel
import Pipeline
import SampleStore

/// Changes that were read from a cursor of a target.
struct ChangeSelection {
    /// The cursor that changes are read from.
    enum Part {
        case new, backlog
    }

    var batch: ExportBatch
    /// For each change and for the end, the number of earlier changes whose kind the target does not store.
    let unheld: [Int]
    /// The anchor after the last change that was read, or `nil` if none was.
    let end: Anchor?
    let part: Part
    /// Whether it was sent before the batch before it was acknowledged.
    var isSent = false
}

/// Reads the next changes for a target, from its two cursors by turns.
struct ChangeSelector {
    let settings: TargetSettings
    let exporter: any Exporter
    let reader: SampleStore
    private var isBacklogsTurn = false

    init(_ settings: TargetSettings, _ exporter: any Exporter, _ reader: SampleStore) {
        (self.settings, self.exporter, self.reader) = (settings, exporter, reader)
    }

    /// Returns the next changes for the target in this state, or `nil` if it has everything.
    mutating func next(for target: Target) throws -> ChangeSelection? {
        isBacklogsTurn.toggle()
        let parts: [ChangeSelection.Part] =
            target.backlog == nil ? [.new] : isBacklogsTurn ? [.backlog, .new] : [.new, .backlog]
        for part in parts {
            let selection = try next(part, for: target)
            if selection.batch.changes.isEmpty, selection.end == nil, part == .new || target.backlog == nil { continue }
            return selection
        }
        return nil
    }

    private func next(_ part: ChangeSelection.Part, for target: Target) throws -> ChangeSelection {
        var batch = ExportBatch(rewrites: target.isRewriting)
        var unheld: [Int] = []
        var count = 0
        let kinds = exporter.kinds
        var end: Anchor?
        var (looked, weight) = (0, 0)
        let limit = max(1, min(settings.batchSize, exporter.batchLimit))
        // With a backlog, batches are full.
        if let known = try? reader.targets.changesWaiting(for: target), known > 0 {
            batch.changes.reserveCapacity(min(limit, known))
            batch.anchors.reserveCapacity(min(limit, known))
        }
        let (start, last) =
            part == .new ? (target.anchor, .max) : (target.backlog?.anchor ?? .beginning, target.backlog?.end ?? 0)
        do {
            try reader.changes.read(after: start, types: nil) { change, anchor in
                guard change.seq <= last else { throw Enough() }
                end = anchor
                looked += 1
                if settings.passes(change) {
                    if kinds.contains(change.origin.kind) {
                        batch.changes.append(try whole(change))
                        batch.anchors.append(anchor.description)
                        unheld.append(count)
                        weight += change.bodySize
                    } else {
                        count += 1
                    }
                }
                if batch.changes.count == limit || looked == Self.maximumChangesRead || weight > Self.maximumWeight {
                    throw Enough()
                }
            }
        } catch is Enough {}
        return ChangeSelection(batch: batch, unheld: unheld + [count], end: end, part: part)
    }

    /// The change, with the manufacturer's own record id if the exporter sends it. The successor of a deleted sample is named only if the
    /// target receives it, since it may be another person's.
    func whole(_ change: SampleChange) throws -> SampleChange {
        switch change {
        case .added(var stored):
            guard exporter.reportsRecords else { return change }
            stored.sample.record = try reader.samples.record(of: stored.sample)
            return .added(stored)
        case .deleted(var deletion):
            guard settings.filter != nil, let successor = deletion.replacedBy.flatMap({ SampleIdentity($0) }) else {
                return change
            }
            let isSent =
                switch try reader.samples.lookup(successor) {
                case .live(let stored)?, .deleted(let stored, _)?: settings.passes(stored.sample)
                default: false
                }
            if !isSent { deletion.replacedBy = nil }
            return .deleted(deletion)
        }
    }

    private struct Enough: Error {}
    /// The maximum size in bytes of the bodies in one batch. Routes, recordings and documents are in memory while they are
    /// delivered, and take more space there than packed.
    static let maximumWeight = 2 << 20
    /// The maximum number of changes read in one step, including those that the filter excludes.
    private static let maximumChangesRead = 100_000
}
