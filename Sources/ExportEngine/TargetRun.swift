import HealthModel
import Pipeline
import SampleStore

/// Brings one target up to what the store has: reads on from its cursor, delivers, and moves the cursor once the target has acknowledged.
///
///     let run = TargetRun(settings, exporter: exporter, reader: reader, store: store, now: now)
///     while case .more = try run.step() {}
///
/// There is no queue: the store is what waits. The cursor is a place in the change log and never a time, so what is back-dated goes over, too. A kill at
/// any moment repeats at most what was delivered behind the cursor, which the exporter makes nothing of.
public final class TargetRun {
    /// What a step came to.
    public enum Outcome: Hashable, Sendable {
        /// There may be more at once.
        case more
        /// The target has all that the store has.
        case upToDate
        /// The target did not take it, and is to be asked again after so long.
        case wait(Duration)
        /// A person has to act; ``target`` has the words.
        case stopped
    }

    /// How far it has come.
    public private(set) var target: Target
    private let settings: TargetSettings
    private let exporter: any Exporter
    /// A connection for reading, and one for the cursor: the exporter may take long, and no snapshot is held meanwhile.
    private let reader: SampleStore
    private let store: SampleStore
    private let now: () -> Instant
    private var backoff = Backoff()
    private var generator: any RandomNumberGenerator

    /// - Throws: ``StoreError`` where the store cannot be read; `invalid` where the target was filled by another filter.
    public init(
        _ settings: TargetSettings, exporter: any Exporter, reader: SampleStore, store: SampleStore,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: @escaping () -> Instant
    ) throws {
        (self.settings, self.exporter, self.reader, self.store) = (settings, exporter, reader, store)
        (self.generator, self.now) = (generator, now)
        let known = try store.targets().first { $0.name == settings.name }
        target = known ?? Target(name: settings.name, filter: settings.filterText, at: now())
        guard target.filter == settings.filterText else {
            throw StoreError(
                .invalid,
                "the target '\(settings.name)' was filled by another filter ('\(target.filter)'): give it a new name, or bring it in order with 'vitalgate targets verify \(settings.name)'"
            )
        }
    }

    /// Delivers one batch, and keeps what came of it.
    public func step() throws -> Outcome {
        let (batch, end) = try next()
        guard !batch.changes.isEmpty || end != target.anchor else {
            try keep(.delivering, nil)
            return .upToDate
        }
        var delivery = Delivery(exporter)
        do throws(DeliveryError) {
            try delivery.deliver(batch)
        } catch {
            return try failed(error, delivery, batch)
        }
        backoff.succeed()
        try keep(.delivering, nil, delivery, upTo: end)
        return .more
    }

    /// The next changes for the target, and the anchor behind the last one that was looked at.
    private func next() throws -> (ExportBatch, Anchor) {
        var batch = ExportBatch()
        var end = target.anchor
        var looked = 0
        let limit = max(1, min(settings.batchSize, exporter.batchLimit))
        do {
            try reader.changes(after: target.anchor, types: nil) { change, anchor in
                end = anchor
                looked += 1
                if Self.passes(change, settings.filter) {
                    batch.changes.append(change)
                    batch.anchors.append(anchor.description)
                }
                if batch.changes.count == limit || looked == Self.mostLookedAt { throw Enough() }
            }
        } catch is Enough {}
        return (batch, end)
    }

    private struct Enough: Error {}
    /// Of what a filter leaves out, in one step.
    private static let mostLookedAt = 100_000

    private static func passes(_ change: SampleChange, _ filter: SamplePredicate?) -> Bool {
        let sample =
            switch change {
            case .added(let stored): stored.sample
            case .deleted(let deletion): deletion.sample
            }
        // What came from a store does not go back into one (story 31).
        return filter?.matches(sample) ?? true
    }

    /// What was delivered before the failure is delivered: the cursor moves up to there.
    private func failed(_ error: DeliveryError, _ delivery: Delivery, _ batch: ExportBatch) throws -> Outcome {
        let done = delivery.delivered + delivery.refused.count
        let anchor = done > 0 ? Anchor(batch.anchors[done - 1]) : nil
        switch error.kind {
        case .unauthorised, .unfit:
            try keep(.stopped, error.reason, delivery, upTo: anchor)
            return .stopped
        case .busy(let pause):
            try keep(.waiting, error.reason, delivery, upTo: anchor)
            return .wait(pause)
        case .unreachable, .tooLarge, .refused:
            try keep(.waiting, error.reason, delivery, upTo: anchor)
            return .wait(backoff.pause(using: &generator))
        }
    }

    private func keep(_ state: Target.State, _ words: String?, _ delivery: Delivery? = nil, upTo anchor: Anchor? = nil) throws {
        var next = target
        (next.state, next.words) = (state, words)
        if let anchor { next.anchor = anchor }
        next.delivered += delivery?.delivered ?? 0
        next.leftOut += delivery?.leftOut ?? 0
        let time = now()
        let setAside = (delivery?.refused ?? []).map {
            SetAside(seq: $0.change.seq, uuid: $0.change.uuid, words: $0.words, time: time)
        }
        // Idle means idle: nothing is written for a target that has all.
        guard next != target || !setAside.isEmpty else { return }
        next.changed = time
        try store.save(next, setAside: setAside)
        target = next
    }
}
