import EventLoopKit
import HealthModel
import Pipeline
import SampleStore

/// Commits, their timers, and the work after them.
extension LiveIngest {
    /// Commits the waiting readings at once, for example before a power failure or when the user wants to see them.
    package func commitNow() {
        finishBeats()
        commitDue()
    }

    func finishBeats() {
        // Sorted so that the order is the same in every run.
        for device in gathering.values.sorted(by: { $0.adopted.address < $1.adopted.address }) { finishStream(of: device) }
    }

    func commitDue() {
        // A store that failed is retried on its own schedule.
        if due != nil, failing == nil { flush() }
    }

    /// Schedules the commit of a device's readings.
    /// - Parameter bufferedFor: how long the source has already kept them. It counts as waiting.
    func arm(for device: LiveDevice, bufferedFor: Duration = .zero) {
        let mayWait = device.isStream && hasCommitted && !needsPromptCommits && pending.samples.count < Self.manyPending
        arm(within: mayWait ? max(.zero, commitEvery - max(.zero, bufferedFor)) : device.isConfirmedAtOnce ? .zero : Self.soon)
    }

    /// Schedules a commit within the delay, unless an earlier one is scheduled.
    func arm(within delay: Duration = soon) {
        let at = loop.clock.uptime + delay
        // A store that failed is retried on its own schedule, whatever arrives.
        if let due, due.at <= at || failing != nil { return }
        disarm()
        let timer = loop.after(delay) { [weak self] in
            self?.due = nil
            self?.flush()
        }
        due = (at, timer)
    }

    func disarm() {
        due?.timer.cancel()
        due = nil
    }

    func flush() {
        disarm()
        beforeCommit?()
        let begun = loop.clock.uptime
        do {
            try store.waiting(atMost: Self.timeout) { try write() }
        } catch {
            failed(error)
            return
        }
        onEvent?(.flush)
        if failing?.reported != nil { onNotice(SourceNotice(.information, "store", "samples are stored again")) }
        failing = nil
        hasCommitted = true
        lastCommit = loop.clock.uptime - begun
        delivered.formUnion(arrivals)
        arrivals.removeAll()
        let durable = waiting
        waiting.removeAll()
        for confirm in durable { confirm() }
        lookAtUnits()
        estimate()
        onCommit()
    }

    /// Handles a failed commit. Readings wait, up to a maximum, because a full disk can be cleared and a lock goes away. Other
    /// errors end the hub at once.
    func failed(_ error: any Error) {
        let uptime = loop.clock.uptime
        let kind = (error as? StoreError)?.kind
        var next = Failing(error: error, since: uptime, reported: failing?.reported)
        if let failing, (failing.error as? StoreError)?.kind == kind {
            (next.attempts, next.since) = (failing.attempts, failing.since)
        }
        next.attempts += 1
        failing = next
        guard let kind, (error as? StoreError)?.mayPass ?? false else { return onFailure(error) }
        let isLocked = kind == .busy
        if next.reported != kind, !isLocked || uptime - next.since >= Self.defaultLock {
            failing?.reported = kind
            onNotice(SourceNotice(.action, "store", "readings cannot be stored and are waiting: \(error)"))
        }
        guard pending.samples.count < Self.maximumPending else { return onFailure(error) }
        arm(within: isLocked ? Self.soon : .seconds(1 << min(next.attempts - 1, 5)))
        onDelay()
    }

    func write() throws {
        try store.checkPlace()
        while let change = changes.first {
            try change()
            changes.removeFirst()
        }
        try writeSamples()
        // After the samples, so that readings held until a comparison are released at once.
        for comparison in comparisons {
            try store.devices.save(
                comparison,
                description: IngestDescription(
                    kind: .release, name: "clock of \(comparison.device)", received: now().microseconds))
        }
        comparisons.removeAll()
    }

    func writeSamples() throws {
        if pending.samples.isEmpty, pending.refusals.isEmpty, skipped.isEmpty, !ledger.hasNotes {
            for device in changed.values { try store.devices.remember(device) }
            changed.removeAll()
            return
        }
        let ingest = try ledger.today()
        for refusal in pending.refusals { ingest.refuse(refusal) }
        pending.refusals.removeAll(keepingCapacity: true)
        for (kind, count) in skipped { ingest.skip(kind, count: count) }
        skipped.removeAll(keepingCapacity: true)
        // Owners are decided again inside the transaction because an import may have stored the same weighing.
        var decided = pending.samples
        var mistakes: [EarlierMistakes] = []
        // The states of the streams are committed with their samples. Each is durable only with the other.
        let states = states(of: contributing)
        _ = try ingest.store(pending.samples, with: Array(changed.values)) {
            for state in states { try store.devices.save(state, isReplay: isReplay) }
            try MeasurementIdentity.resolve(&$0, in: store)
            try SharedScale.assign(&$0, asKnownIn: store, sharedBy: shared)
            let assigned = try PersonHistory.assign(&$0, in: store)
            try store.repairs.complete(&$0, at: now())
            (decided, mistakes) = ($0, assigned.mistakes)
            return assigned.unassigned
        }
        for state in states { saved[state.address] = state.text }
        unsaved.subtract(contributing)
        contributing.removeAll()
        units.count(decided)
        if !estimates.isEmpty { weighings.count(decided, of: estimates) }
        pending.samples.removeAll(keepingCapacity: true)
        changed.removeAll()
        try ledger.writeNotes()
        for mistake in mistakes { try repair(mistake) }
    }

    /// Takes earlier weighings of someone else from a person. The rest are found with the next weighing.
    func repair(_ mistake: EarlierMistakes) throws {
        guard let done = try mistake.repair(in: store, now: now(), owner: ProcessIdentity.current()) else { return }
        let text =
            "\(done.count) earlier \(done.count == 1 ? "weighing does" : "weighings do") not match the later ones and "
            + "\(done.count == 1 ? "is" : "are") unassigned now: undo this with 'vitalgate repair undo \(done.repairID)'"
        note(SourceNotice(.action, "weights", text))
    }

    /// Looks for wrong units after a commit, so that the commit does not wait for it.
    func lookAtUnits() {
        do {
            for suspicion in try units.look(in: store) {
                let (range, series) = (suspicion.range, suspicion.series)
                let text =
                    "\(range.count) of its \(series.type.id) readings \(suspicion.claim): see 'vitalgate repair suggest'"
                note(SourceNotice(.action, series.device.isEmpty ? series.source : series.device, text))
            }
        } catch {
            onNotice(SourceNotice(.warning, "store", "the search for wrong units failed: \(error)"))
        }
    }

    /// Estimates the committed weighings after a commit.
    func estimate() {
        guard !estimates.isEmpty else { return }
        do {
            for text in try weighings.make(estimates, in: store, zone: ledger.zone, now: now()) {
                note(SourceNotice(.action, "estimates", text))
            }
        } catch {
            onNotice(SourceNotice(.warning, "store", "estimating body composition failed: \(error)"))
        }
    }
}
