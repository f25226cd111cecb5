import HealthModel
import Pipeline
import SampleStore

/// Brings one target up to what the store has: reads on from its cursor, delivers, and moves the cursor once the target has acknowledged.
///
///     let run = try TargetRun(settings, exporter: exporter, reader: reader, store: store, now: now)
///     while case .more = try run.step() {}
///
/// There is no queue: the store is what waits. The cursor is a place in the change log and never a time, so what is back-dated goes over, too. A kill at
/// any moment repeats at most what was delivered behind the cursor, which the exporter makes nothing of.
///
/// A target that begins is told what is new and, by turns, what was there before: a backlog of years does not keep today's readings waiting. An
/// exporter that needs the order of numbers (``Exporter/isOrdered``) is told all in one row.
public final class TargetRun {
    /// What a step came to.
    public enum Outcome: Hashable, Sendable {
        /// There may be more at once.
        case more
        /// The target has all that the store has; its exporter wants to be asked again after so long, though nothing may change.
        case upToDate(again: Duration?)
        /// The target did not take it, and is to be asked again after so long.
        case wait(Duration)
        /// A person has to act; ``target`` has the words.
        case stopped
    }

    /// Which of the target's cursors a batch is read behind.
    private enum Part {
        case new, backlog
    }

    /// How far it has come.
    public private(set) var target: Target
    /// How many changes the last step set aside.
    public private(set) var refusedOfLastStep = 0
    private let settings: TargetSettings
    private let exporter: any Exporter
    /// A connection for reading, and one for the cursor: the exporter may take long, and no snapshot is held meanwhile.
    private let reader: SampleStore
    private let store: SampleStore
    private let lock: TargetLock
    private let now: () -> Instant
    private var backoff = Backoff()
    private var generator: any RandomNumberGenerator
    private var isBacklogsTurn = false
    /// A target that was stopped is tried once when its exporter starts: whoever mended it may have done just that.
    private var isFirst = true
    /// When the target was looked at since something failed: it is the one that was filled, and nobody else feeds it.
    private var met: Instant?

    /// - Throws: ``StoreError`` where the store cannot be read.
    public init(
        _ settings: TargetSettings, exporter: any Exporter, reader: SampleStore, store: SampleStore,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: @escaping () -> Instant
    ) throws {
        (self.settings, self.exporter, self.reader, self.store) = (settings, exporter, reader, store)
        (self.generator, self.now) = (generator, now)
        lock = try TargetLock(store: store.path, target: settings.name)
        target = Target(name: settings.name, filter: settings.filterText, at: now())
    }

    /// How many changes wait, those that the filter leaves out among them.
    public var waiting: Int {
        get throws { try reader.changesWaiting(for: target) }
    }

    /// Delivers one batch, and keeps what came of it.
    public func step() throws -> Outcome {
        try lock.holding {
            refusedOfLastStep = 0
            // Another process may have retried, skipped or compared meanwhile.
            target = try store.target(settings.name) ?? begun()
            let isFirst = isFirst
            self.isFirst = false
            if let words = try hindrance() {
                guard target.state != .stopped || isFirst else { return .stopped }
                try keep(.stopped, claimOfAnother() ?? words)
                return .stopped
            }
            guard target.state != .stopped || isFirst else { return .stopped }
            if !isMet, let outcome = try meet() { return outcome }
            if let outcome = try retry() { return outcome }
            return try advance()
        }
    }

    /// A target that nothing was ever delivered to.
    private func begun() throws -> Target {
        try reader.newTarget(settings.name, isOrdered: exporter.isOrdered, filter: settings.filterText, at: now())
    }

    /// What a person can do about contents that are not what the cursor says.
    private var mend: String {
        exporter is any ComparableExporter
            ? "'vitalgate targets verify \(settings.name)' fills what is missing and goes on"
            : "'vitalgate targets restart \(settings.name)' tells it everything again"
    }

    /// Why its contents cannot be carried on.
    private func hindrance() throws -> String? {
        if target.filter != settings.filterText {
            return "it was filled by another filter than the configuration has now: \(mend)"
        }
        if let shape = target.shape, shape != settings.shape(exporter) {
            let words =
                exporter is any ComparableExporter
                ? "'vitalgate targets verify \(settings.name)' rewrites what differs, 'vitalgate targets restart \(settings.name)' all of it"
                : mend
            func shown(_ shape: String) -> String { shape.isEmpty ? "the usual ones" : shape }
            return
                "it was filled with other settings (\(shown(shape))) than the configuration has now (\(shown(settings.shape(exporter)))): \(words)"
        }
        if let reason = try reader.reasonNotToKnow(target.anchor) { return "how far it has come \(reason): \(mend)" }
        return nil
    }

    // MARK: Whether it is the one

    /// Whether the target was looked at within the last day. A mark is written anew then, so that the claim of a hub with nothing to deliver stays valid.
    private var isMet: Bool { met.map { TargetMeeting.duration(from: $0, to: now()) < TargetMeeting.renewal } ?? false }

    private var meeting: TargetMeeting { TargetMeeting(settings: settings, mend: mend, hasMade: reader.hasMade, now: now()) }

    /// The words for a target that another copy of this store feeds, which come first: a comparison would not be let in either; `nil` where there is none.
    private func claimOfAnother() -> String? {
        guard let found = try? exporter.found() else { return nil }
        return meeting.claimWords(found.mark)
    }

    /// Looks whether it is the target that was filled, and says there that this store feeds it; `nil` where it is.
    private func meet() throws -> Outcome? {
        let found: FoundMark?
        do throws(DeliveryError) {
            found = try exporter.found()
        } catch {
            var error = error
            if error.kind == .unfit, target.identity != nil { error.reason += "; then \(mend)" }
            return try failed(error) { state, words in try keep(state, words) }
        }
        let meeting = meeting
        switch try meeting.verdict(target, found, address: exporter.address) {
        case .stop(let words):
            try keep(.stopped, words)
            return .stopped
        case .proceed(var met):
            if found != nil, met.identity == nil { met.identity = UUIDText.random() }
            met.shape = settings.shape(exporter)
            if let found, target.identity == nil || meeting.needsClaim(found.mark) {
                do throws(DeliveryError) {
                    met.count += 1
                    try exporter.claim(mark(met))
                } catch {
                    return try failed(error) { state, words in try keep(state, words) }
                }
            }
            let before = target
            target = met
            if met != before { try store.save(met) }
            self.met = now()
            return nil
        }
    }

    private func mark(_ target: Target) -> TargetMark {
        TargetMark(
            identity: target.identity ?? "", count: target.count, anchor: "\((target.backlog?.anchor ?? target.anchor))",
            holder: settings.holder, time: now())
    }

    /// Of the next delivery.
    private var nextMark: TargetMark {
        var next = target
        next.count += 1
        return mark(next)
    }

    // MARK: What is new, and what was there

    private func advance() throws -> Outcome {
        isBacklogsTurn.toggle()
        var parts: [Part] = target.backlog == nil ? [.new] : isBacklogsTurn ? [.backlog, .new] : [.new, .backlog]
        while let part = parts.first {
            parts.removeFirst()
            let (batch, unheld, end) = try next(part)
            if batch.changes.isEmpty, end == nil, part == .new || target.backlog == nil { continue }
            return try deliver(batch, unheld, end, part)
        }
        let again: Duration?
        do throws(DeliveryError) {
            again = try exporter.idle()
        } catch {
            return try failed(error) { state, words in try keep(state, words) }
        }
        backoff.succeed()
        if target.isRewriting {
            // All of it was told, what came meanwhile among it.
            var rewritten = target
            rewritten.isRewriting = false
            try store.save(rewritten)
            target = rewritten
        }
        try keep(.delivering, nil)
        return .upToDate(again: settings.holder.id.isEmpty ? again : min(again ?? TargetMeeting.renewal, TargetMeeting.renewal))
    }

    /// The next changes for the target, how many came before each that it has no place for, and before the end, and the anchor behind the last one
    /// that was looked at; `nil` where there is none.
    private func next(_ part: Part) throws -> (ExportBatch, unheld: [Int], Anchor?) {
        var batch = ExportBatch()
        var unheld: [Int] = []
        var count = 0
        let kinds = exporter.kinds
        var end: Anchor?
        var (looked, weight) = (0, 0)
        let limit = max(1, min(settings.batchSize, exporter.batchLimit))
        // Where there is a backlog, whole batches come.
        if let known = try? waiting, known > 0 {
            batch.changes.reserveCapacity(min(limit, known))
            batch.anchors.reserveCapacity(min(limit, known))
        }
        let (start, last) =
            part == .new ? (target.anchor, .max) : (target.backlog?.anchor ?? .beginning, target.backlog?.end ?? 0)
        do {
            try reader.changes(after: start, types: nil) { change, anchor in
                guard change.seq <= last else { throw Enough() }
                end = anchor
                looked += 1
                if settings.passes(change.sample) {
                    if kinds.contains(change.sample.origin.kind) {
                        batch.changes.append(try whole(change))
                        batch.anchors.append(anchor.description)
                        unheld.append(count)
                        weight += change.sample.body?.size ?? 0
                    } else {
                        count += 1
                    }
                }
                if batch.changes.count == limit || looked == Self.mostLookedAt || weight > Self.mostWeight { throw Enough() }
            }
        } catch is Enough {}
        return (batch, unheld + [count], end)
    }

    /// With its maker's own id, where the target is told all of it.
    private func whole(_ change: SampleChange) throws -> SampleChange {
        guard exporter.tellsRecords, case .added(var stored) = change else { return change }
        stored.sample.record = try reader.record(of: stored.sample)
        return .added(stored)
    }

    private struct Enough: Error {}
    /// Octets of bodies in one batch: routes, recordings and documents are in memory while they are delivered, and more than packed there.
    private static let mostWeight = 2 << 20
    /// Of what a filter leaves out, in one step.
    private static let mostLookedAt = 100_000

    private func deliver(_ batch: ExportBatch, _ unheld: [Int], _ end: Anchor?, _ part: Part) throws -> Outcome {
        var delivery = Delivery(exporter, mark: nextMark)
        var batch = batch
        batch.rewrites = target.isRewriting
        do throws(DeliveryError) {
            try delivery.deliver(batch)
        } catch {
            // What was done before the failure is done: the cursor moves up to there.
            let anchor = delivery.done > 0 ? Anchor(batch.anchors[delivery.done - 1]) : nil
            let passed = delivery.done > 0 ? unheld[delivery.done - 1] : 0
            return try failed(error) { state, words in
                try keep(state, words, delivery, part, upTo: anchor, unheld: passed)
            }
        }
        backoff.succeed()
        try keep(.delivering, nil, delivery, part, upTo: end, unheld: unheld.last ?? 0)
        return .more
    }

    private func failed(_ error: DeliveryError, _ keep: (Target.State, String) throws -> Void) throws -> Outcome {
        // What was not answered may have happened; whoever answers next may be another one.
        met = nil
        switch error.kind {
        case .unauthorised, .unfit:
            try keep(.stopped, error.reason)
            return .stopped
        case .busy(let pause):
            try keep(.waiting, error.reason)
            return .wait(pause)
        case .unreachable, .tooLarge, .refused, .refusedSome:
            try keep(.waiting, error.reason)
            return .wait(backoff.pause(using: &generator))
        }
    }

    // MARK: What was set aside

    /// Tells again what a person wants told again, as it is now; `nil` where there is nothing of that.
    private func retry() throws -> Outcome? {
        let again = try store.setAside(
            by: settings.name, retried: true, limit: max(1, min(settings.batchSize, exporter.batchLimit)))
        guard !again.isEmpty else { return nil }
        var batch = ExportBatch()
        var (considered, weight) = ([SampleIdentity](), 0)
        for each in again {
            considered.append(each.uuid)
            guard let change = try reader.change(of: each.uuid), settings.passes(change.sample) else { continue }
            batch.changes.append(try whole(change))
            weight += change.sample.body?.size ?? 0
            if weight > Self.mostWeight { break }
        }
        // It may be there in part.
        batch.rewrites = true
        var delivery = Delivery(exporter, mark: nextMark)
        do throws(DeliveryError) {
            try delivery.deliver(batch)
        } catch {
            return try failed(error) { state, words in try keep(state, words) }
        }
        let refused = Set(delivery.refused.map(\.change.uuid))
        try keep(.delivering, nil, delivery, taken: considered.filter { !refused.contains($0) })
        return .more
    }

    // MARK: The cursor

    private func keep(
        _ state: Target.State, _ words: String?, _ delivery: Delivery? = nil, _ part: Part = .new, upTo anchor: Anchor? = nil,
        unheld: Int = 0, taken: [SampleIdentity] = []
    ) throws {
        var next = target
        (next.state, next.words) = (state, words)
        switch part {
        case .new: next.anchor = anchor ?? next.anchor
        case .backlog:
            if let anchor { next.backlog?.anchor = anchor } else if delivery != nil, state == .delivering { next.backlog = nil }
        }
        next.delivered += (delivery?.delivered ?? 0) + unheld
        next.leftOut += (delivery?.leftOut ?? 0) + unheld
        next.count += delivery?.acknowledged ?? 0
        let time = now()
        let setAside = (delivery?.refused ?? []).map {
            SetAside(seq: $0.change.seq, uuid: $0.change.uuid, words: $0.words, time: time)
        }
        refusedOfLastStep = setAside.count
        let taken = taken + (delivery?.gone ?? [])
        // Idle means idle: nothing is written for a target that has all.
        guard next != target || !setAside.isEmpty || !taken.isEmpty else { return }
        next.changed = time
        try store.save(next, setAside: setAside, taken: taken)
        target = next
    }
}
