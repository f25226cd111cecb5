import HealthModel
import Pipeline
import SampleStore

/// Keeps one target up to date with the store: reads changes from its cursor, delivers them, and moves the cursor once the target
/// has acknowledged them.
///
///     let run = try TargetRun(settings, exporter: exporter, reader: reader, store: store, now: now)
///     while case .more = try run.step() {}
///
/// There is no queue because the changes wait in the store. The cursor is a position in the change log and not a time, so
/// back-dated samples are sent too. A crash at any moment repeats at most the changes that were delivered after the cursor, and
/// the exporter ignores repeated changes.
///
/// A new target receives new changes and the backlog alternately, so today's readings do not wait for years of old ones. An
/// exporter that needs changes in order (``Exporter/isOrdered``) receives all of them in one sequence.
package final class TargetRun {
    package enum Outcome: Hashable, Sendable {
        /// More changes may follow immediately.
        case more
        /// The target has everything. The exporter wants another call after `again`, even if nothing changes.
        case upToDate(again: Duration?)
        /// The target did not accept the delivery. Try again after this pause.
        case wait(Duration)
        /// A user has to act. ``target`` contains the reason.
        case stopped
    }

    /// The changes after those that are being delivered, and the target as it is after those.
    private var ahead: (selection: ChangeSelection, target: Target)?
    /// Whether a second batch is sent before the first is acknowledged (``PipeliningExporter``). Two programs that write to the target can get
    /// them in another order. Then one at a time is faster.
    private var sendsAhead = true

    /// The target's state and cursor.
    package private(set) var target: Target
    /// Whether the last meeting has found that the store or the target was restored from a backup.
    private var foundRestoredBackup = false
    /// The number of changes that the last step set aside.
    package private(set) var refusedOfLastStep = 0
    private let settings: TargetSettings
    private var selector: ChangeSelector
    private let exporter: any Exporter
    /// The connection for reading. It is separate from the one for the cursor because the exporter may take long and must not
    /// hold a snapshot open.
    private let reader: SampleStore
    private let store: SampleStore
    private let lock: TargetLock
    private let now: () -> Instant
    private let isClockSet: () -> Bool
    private var backoff = Backoff()
    private var generator: any RandomNumberGenerator
    /// Whether this is the first step. A stopped target is tried once when its exporter starts because the user may have fixed
    /// the problem.
    private var isFirst = true
    /// When the target first and last did its work in this run, and since when it answers that it never will.
    private var worked: (from: Instant, to: Instant)?
    private var rejecting: Instant?
    /// After which pause a stopped target is tried again: an hour after an answer, half a minute if another target was found, whose place
    /// the right one may take again.
    package private(set) var pauseOfStopped = Duration.seconds(3600)
    /// The orders of sources that the target has got from this run.
    private var sentOrders: [SourceOrder]?
    /// When the target was last confirmed to be the one that was filled, with no other store feeding it. `nil` after a failure.
    private var lastCheck: Instant?

    /// - Parameter isClockSet: Whether the machine's clock is set. The claims of stores expire only by such a clock.
    /// - Throws: ``StoreError`` if the store cannot be read.
    package init(
        _ settings: TargetSettings, exporter: any Exporter, reader: SampleStore, store: SampleStore,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), now: @escaping () -> Instant,
        isClockSet: @escaping () -> Bool = { true }
    ) throws {
        (self.settings, self.exporter, self.reader, self.store) = (settings, exporter, reader, store)
        (self.generator, self.now, self.isClockSet) = (generator, now, isClockSet)
        selector = ChangeSelector(settings, exporter, reader)
        lock = try TargetLock(store: store.path, target: settings.name)
        target = Target(name: settings.name, filter: settings.filterText, at: now())
    }

    /// The number of waiting changes, including those that the filter excludes.
    package var waiting: Int {
        get throws { try reader.targets.changesWaiting(for: target) }
    }

    /// Delivers one batch and saves the result.
    package func step() throws -> Outcome {
        try lock.withLock {
            refusedOfLastStep = 0
            // Another process may have retried, skipped or compared in the meantime.
            target = try store.targets.target(settings.name) ?? begun()
            let isFirst = isFirst
            self.isFirst = false
            let words = try rejectionReason()
            let ahead = takeAhead(isUsable: words == nil && target.state == .delivering)
            if let words {
                guard target.state != .stopped || isFirst else { return .stopped }
                try keep(.stopped, claimOfAnother() ?? words)
                return .stopped
            }
            guard target.state != .stopped || isFirst else { return .stopped }
            if let ahead { return try deliver(ahead) }
            if !isChecked, let outcome = try meet() { return outcome }
            if let outcome = try retry() { return outcome }
            return try advance()
        }
    }

    /// Lets the next step try a stopped target once more.
    package func reconsider() { isFirst = true }

    /// How long answers such as 404 or 403 count as an outage of a target that has worked: as long as it worked before in this run, from ten
    /// minutes to a day. A proxy gives them while a server restarts, and a server while its database is restored.
    private static let waits = Duration.seconds(600)...Duration.seconds(86_400)

    /// Whether an answer that no retry would change still counts as an outage.
    private func isOutage() -> Bool {
        guard worked != nil || target.delivered > 0 else { return false }
        let now = now()
        let since = rejecting ?? now
        rejecting = since
        let length = worked.map { TargetCheck.duration(from: $0.from, to: $0.to) } ?? .zero
        let delay = min(max(length, Self.waits.lowerBound), Self.waits.upperBound)
        return TargetCheck.duration(from: since, to: now) < delay
    }

    private func succeeded() {
        backoff.succeed()
        let now = now()
        (worked, rejecting) = ((worked?.from ?? now, now), nil)
    }

    /// The initial state of a target that has received nothing.
    private func begun() throws -> Target {
        try reader.targets.make(settings.name, isOrdered: exporter.isOrdered, filter: settings.filterText, at: now())
    }

    /// Whether `targets verify` can compare the target.
    private var isComparable: Bool { exporter is any ComparableExporter || exporter is any HourComparingExporter }

    /// The advice for a target whose contents do not match its cursor.
    private var mend: String {
        if isComparable {
            return "run 'vitalgate targets verify \(settings.name)' to add the missing samples and continue"
        }
        let restart = "run 'vitalgate targets restart \(settings.name)' to send everything again"
        // Otherwise each sample would be there twice.
        return exporter.repeatsSamples ? "empty \(exporter.address), then \(restart)" : restart
    }

    /// Returns why the target's contents cannot be continued, or `nil`.
    private func rejectionReason() throws -> String? {
        if target.filter != settings.filterText {
            return "it was filled with another filter than the configuration has now: \(mend)"
        }
        if let shape = target.shape, shape != settings.shape(exporter) {
            let words =
                isComparable
                ? "run 'vitalgate targets verify \(settings.name)' to rewrite the differences, or 'vitalgate targets restart \(settings.name)' to rewrite everything"
                : mend
            func shown(_ shape: String) -> String { shape.isEmpty ? "the default ones" : shape }
            return
                "it was filled with other settings (\(shown(shape))) than the configuration has now (\(shown(settings.shape(exporter)))): \(words)"
        }
        if let reason = try reader.changes.reasonNotToKnow(target.anchor) {
            return "its position in the change log \(reason): \(mend)"
        }
        return nil
    }

    /// Whether the target was stopped only because the store or the target was restored from a backup, so that a comparison
    /// (``TargetComparison/repair(progress:)``) lets it continue. False if another copy of the store may feed the target.
    package func isRestored() throws -> Bool {
        guard target.state == .stopped else { return false }
        if foundRestoredBackup { return true }
        guard target.filter == settings.filterText, target.shape.map({ $0 == settings.shape(exporter) }) != false,
            try reader.changes.reasonNotToKnow(target.anchor) != nil, let mark = try exporter.found()?.mark
        else { return false }
        return check.isOwn(mark)
    }

    // MARK: Whether it is the one

    /// Whether the target was checked a short time ago. The check also renews the mark, so that the claim of a hub with nothing to deliver
    /// stays valid.
    private var isChecked: Bool { lastCheck.map { TargetCheck.duration(from: $0, to: now()) < checkInterval } ?? false }
    private var checkInterval: Duration { min(exporter.checkInterval, TargetCheck.renewal) }

    private var claimTime: Instant? { isClockSet() ? now() : nil }

    private var check: TargetCheck {
        TargetCheck(settings: settings, mend: mend, hasMade: reader.changes.hasMade, now: claimTime)
    }

    /// Returns the reason to stop if another copy of this store feeds the target, or `nil`. It is reported first because a
    /// comparison would be rejected too.
    private func claimOfAnother() -> String? {
        guard let found = try? exporter.found() else { return nil }
        return check.claimWords(found.mark)
    }

    /// Checks that it is the target that was filled, and writes this store's claim there. Returns `nil` if the run can go on.
    private func meet() throws -> Outcome? {
        foundRestoredBackup = false
        let found: FoundMark?
        do throws(DeliveryError) {
            found = try exporter.found()
        } catch {
            return try failed(error) { state, words in
                let isUnfit = state == .stopped && error.kind == .unfit && target.identity != nil
                try keep(state, isUnfit ? "\(words); then \(mend)" : words)
            }
        }
        let check = check
        switch try check.verdict(target, found, address: exporter.address) {
        case .wait(let words):
            try keep(.waiting, words)
            return .wait(backoff.pause(upTo: Self.pauseOfAbsence, using: &generator))
        case .stop(let words):
            try keep(.stopped, words)
            pauseOfStopped = Self.pauseOfAbsence
            return .stopped
        case .restored(let words):
            try keep(.stopped, words)
            foundRestoredBackup = true
            return .stopped
        case .proceed(var checked):
            let isByAddress = check.isByAddress(checked)
            if found != nil, checked.identity == nil || isByAddress { checked.identity = UUIDText.random() }
            checked.shape = settings.shape(exporter)
            if let found, target.identity == nil || isByAddress || check.needsClaim(found.mark) {
                do throws(DeliveryError) {
                    checked.count += 1
                    // Without a mark the address identifies the target.
                    if try !exporter.claim(mark(checked)) { checked.identity = TargetCheck.identity(of: exporter.address) }
                } catch {
                    return try failed(error) { state, words in try keep(state, words) }
                }
            }
            let before = target
            target = checked
            if checked != before { try store.targets.save(checked) }
            lastCheck = now()
            return nil
        }
    }

    private static let pauseOfAbsence = Duration.seconds(30)

    private func mark(_ target: Target) -> TargetMark {
        TargetMark(
            identity: target.identity ?? "", count: target.count, anchor: "\((target.backlog?.anchor ?? target.anchor))",
            holder: settings.holder, time: claimTime)
    }

    private var nextMark: TargetMark {
        var next = target
        next.count += 1
        return mark(next)
    }

    // MARK: What is new, and what was there

    private func advance() throws -> Outcome {
        if let selection = try selector.next(for: target) { return try deliver(selection) }
        sendsAhead = true
        let again: Duration?
        let orders = try newOrders()
        do throws(DeliveryError) {
            if let orders { try (exporter as? any SourceOrderingExporter)?.set(orders) }
            sentOrders = orders ?? sentOrders
            again = try exporter.idle()
        } catch {
            return try failed(error) { state, words in try keep(state, words) }
        }
        succeeded()
        if target.isRewriting {
            // Everything was rewritten, including the changes that arrived in the meantime.
            var rewritten = target
            rewritten.isRewriting = false
            try store.targets.save(rewritten)
            target = rewritten
        }
        try keep(.delivering, nil)
        return .upToDate(again: settings.holder.id.isEmpty ? again : min(again ?? checkInterval, checkInterval))
    }

    /// Returns the user's orders of sources if the target needs them and does not have them yet. With a filter, it gets those of people whose
    /// samples pass.
    private func newOrders() throws -> [SourceOrder]? {
        guard exporter is any SourceOrderingExporter else { return nil }
        var orders = try reader.sources.orders(before: settings.sourcePriority)
        if let filter = settings.filter {
            orders = try orders.filter { order in
                guard let person = order.person else { return true }
                let cursor = try reader.samples.cursor(matching: SampleQuery(person: person, where: filter, limit: 1))
                defer { cursor.close() }
                return try cursor.next() != nil
            }
        }
        return orders == sentOrders ? nil : orders
    }

    private func deliver(_ selection: ChangeSelection) throws -> Outcome {
        let (batch, unheld, part) = (selection.batch, selection.unheld, selection.part)
        var delivery = Delivery(exporter, mark: nextMark)
        let isPipelined = !batch.changes.isEmpty && (selection.isSent || sendsAhead)
        let pipeline = isPipelined ? exporter as? any PipeliningExporter : nil
        let marked = delivery.marked(batch)
        if let pipeline {
            if !selection.isSent {
                pipeline.forgetSent()
                do throws(DeliveryError) {
                    try pipeline.send(marked)
                } catch {
                    return try failed(error) { state, words in try keep(state, words) }
                }
            }
            ahead = try readAhead(of: selection, pipeline)
        }
        do throws(DeliveryError) {
            if let pipeline {
                try delivery.deliver(batch) { () throws(DeliveryError) in
                    do throws(DeliveryError) {
                        return try pipeline.acknowledgement()
                    } catch {
                        guard selection.isSent, error.kind == .unreachable else { throw error }
                        self.sendsAhead = false
                        self.forgetAhead()
                        return try pipeline.deliver(marked)
                    }
                }
            } else {
                try delivery.deliver(batch)
            }
        } catch {
            forgetAhead()
            // Changes before the failure were delivered, so the cursor moves up to them.
            let anchor = delivery.done > 0 ? Anchor(batch.anchors[delivery.done - 1]) : nil
            let passed = delivery.done > 0 ? unheld[delivery.done - 1] : 0
            return try failed(error) { state, words in
                try keep(state, words, delivery, part, upTo: anchor, unheld: passed)
            }
        }
        if !delivery.isWhole { forgetAhead() }
        succeeded()
        try keep(.delivering, nil, delivery, part, upTo: selection.end, unheld: unheld.last ?? 0)
        return .more
    }

    // MARK: The batch after the next

    /// Reads the changes after some that were sent, and sends them too. Nothing is sent before a check or a retry, which need the mark.
    private func readAhead(
        of selection: ChangeSelection, _ exporter: any PipeliningExporter
    ) throws -> (selection: ChangeSelection, target: Target)? {
        guard sendsAhead, isChecked, try store.targets.setAside(by: settings.name, retried: true, limit: 1).isEmpty else {
            return nil
        }
        var after = target
        advance(&after, selection.part, to: selection.end, isDelivered: true)
        after.count += 1
        guard var next = try selector.next(for: after) else { return nil }
        guard !next.batch.changes.isEmpty else { return (next, after) }
        var mark = mark(after)
        (mark.count, mark.after) = (after.count + 1, selection.batch.anchors.last)
        // The acknowledgement of the first one will report an error too.
        next.isSent = (try? exporter.send(Delivery(exporter, mark: mark).marked(next.batch))) != nil
        return (next, after)
    }

    /// Returns the changes that were read ahead, if the target is as expected.
    private func takeAhead(isUsable: Bool) -> ChangeSelection? {
        guard let ahead else { return nil }
        let expected = ahead.target
        let isNext =
            isUsable && target.count == expected.count && target.isRewriting == expected.isRewriting
            && target.anchor == expected.anchor && target.backlog == expected.backlog
        guard isNext else {
            forgetAhead()
            return nil
        }
        self.ahead = nil
        return ahead.selection
    }

    /// The target may have the changes that were sent ahead, or not.
    private func forgetAhead() {
        guard let ahead else { return }
        self.ahead = nil
        guard ahead.selection.isSent else { return }
        (exporter as? any PipeliningExporter)?.forgetSent()
        lastCheck = nil
    }

    private func failed(_ error: DeliveryError, _ keep: (Target.State, String) throws -> Void) throws -> Outcome {
        // A request without an answer may still have been executed, and a different target may answer the next one.
        lastCheck = nil
        switch error.kind {
        case .unauthorised, .forbidden, .unfit:
            if !error.isLasting, isOutage() {
                try keep(.waiting, error.reason)
                return .wait(backoff.pause(using: &generator))
            }
            try keep(.stopped, error.reason)
            pauseOfStopped = .seconds(3600)
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

    /// Delivers changes that the user wants retried, in their current state. Returns `nil` if there are none.
    private func retry() throws -> Outcome? {
        let again = try store.targets.setAside(
            by: settings.name, retried: true, limit: max(1, min(settings.batchSize, exporter.batchLimit)))
        guard !again.isEmpty else { return nil }
        var batch = ExportBatch()
        var (considered, weight) = ([SampleIdentity](), 0)
        for each in again {
            considered.append(each.uuid)
            guard let change = try reader.changes.change(of: each.uuid), settings.passes(change.sample) else { continue }
            batch.changes.append(try selector.whole(change))
            weight += change.sample.body?.size ?? 0
            if weight > ChangeSelector.maximumWeight { break }
        }
        // Part of the change may already be there.
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

    private func advance(_ target: inout Target, _ part: ChangeSelection.Part, to anchor: Anchor?, isDelivered: Bool) {
        switch part {
        case .new: target.anchor = anchor ?? target.anchor
        case .backlog: if let anchor { target.backlog?.anchor = anchor } else if isDelivered { target.backlog = nil }
        }
    }

    private func keep(
        _ state: Target.State, _ words: String?, _ delivery: Delivery? = nil, _ part: ChangeSelection.Part = .new,
        upTo anchor: Anchor? = nil,
        unheld: Int = 0, taken: [SampleIdentity] = []
    ) throws {
        var next = target
        (next.state, next.words) = (state, words)
        advance(&next, part, to: anchor, isDelivered: delivery != nil && state == .delivering)
        next.delivered += (delivery?.delivered ?? 0) + unheld
        next.leftOut += (delivery?.leftOut ?? 0) + unheld
        next.count += delivery?.acknowledged ?? 0
        let time = now()
        let setAside = (delivery?.refused ?? []).map {
            SetAside(seq: $0.change.seq, uuid: $0.change.uuid, words: $0.words, time: time)
        }
        refusedOfLastStep = setAside.count
        let taken = taken + (delivery?.deleted ?? [])
        // An idle target with everything delivered causes no writes.
        guard next != target || !setAside.isEmpty || !taken.isEmpty else { return }
        next.changed = time
        try store.targets.save(next, setAside: setAside, taken: taken)
        target = next
    }
}
