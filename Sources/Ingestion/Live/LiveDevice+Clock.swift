import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// The device's clock: whether its times can be trusted, and by how much they are off.
extension LiveDevice {
    /// Quarantines a whole measurement whose time cannot be trusted, and every measurement while our own clock is not set. All
    /// rules on timestamps of live devices are applied here. ``MeasurementIdentity`` defines how such a measurement is
    /// identified.
    func quarantineUntrustedTimes(_ samples: inout [GatedSample], from first: Int, _ frame: RawFrame, received: Instant) {
        let isHubLost = !PlausibleClock.allows(frame.received)
        let own = samples[first...].firstIndex { $0.place == frame.place }
        // A time with its zone is not from a wall clock and is not corrected.
        var evidence: StampEvidence?
        if let own, !isHubLost, samples[own].sample.timeOrigin != .receipt, case .wall(let shown, _, _)? = readings.first?.time {
            evidence = evaluate(shown, samples[own...], frame, received: received)
        }
        for index in first..<samples.count {
            let isOwn = samples[index].place == frame.place
            if isOwn, var evidence {
                evidence.number = MeasurementIdentity.number(of: samples[index].sample)
                samples[index].stamp = evidence
            }
            guard samples[index].rule == nil || isOwn else { continue }
            let doubt = isOwn ? evidence?.doubt : hasRecords && !isClockKnown ? .notCompared : nil
            guard isHubLost || doubt != nil || samples[index].rule == nil && Self.isImpossible(samples[index].sample) else {
                continue
            }
            let isQuarantined = samples[index].rule != nil
            if let doubt { samples[index].doubt(doubt) } else if !isQuarantined { samples[index].rule = .clockUnknown }
            if isOwn, !isQuarantined { samples[index].frame = FrameText(frame) }
        }
    }

    /// Judges all samples of the frame by the first one.
    func evaluate(
        _ shown: WallTime, _ samples: ArraySlice<GatedSample>, _ frame: RawFrame, received: Instant
    ) -> StampEvidence? {
        guard let sample = samples.first?.sample else { return nil }
        let late = frame.received.microseconds &- sample.start.microseconds
        let isFresh = late.magnitude < UInt64(StampTrust.fresh)
        let isCorrected = sample.timeOrigin == .deviceCorrected
        let keepsRecords = hasRecords || records != nil
        var evidence = StampEvidence(
            isFresh: isFresh, number: nil, receipt: keepsRecords ? nil : received)
        if isClockKnown || isCorrected && hasRecords {
            let isSlow = normaliser.learnedClock.map { $0.ahead(at: shown) < -Calendar.day } ?? false
            evidence.doubt = order.doubt(
                shown: shown, start: sample.start, number: MeasurementIdentity.number(of: sample), isLate: isSlow,
                received: frame.received)
            if evidence.doubt == nil, !isFresh, !isLearnedErrorCertain(at: shown) { evidence.doubt = .notCompared }
        } else if keepsRecords {
            let isPossible = !hasRecords && late >= 0 && late <= StampTrust.maximumMemory
            if !isFresh { evidence.doubt = StampTrust.isDefaultDate(shown) ? .defaultDate : isPossible ? nil : .notCompared }
        } else {
            let content = MeasurementIdentity.content(of: samples.lazy.map(\.sample))
            evidence.first = trust.firstReceipt(shown, content: content, user: Self.user(of: sample), received: received)
            let verdict = trust.evaluate(
                shown, late: late, content: content, user: Self.user(of: sample), received: received)
            if case .untrusted(let doubt, let receipt) = verdict { (evidence.doubt, evidence.receipt) = (doubt, receipt) }
        }
        if isFresh, !isCorrected { prove(shown, at: frame.received) }
        return evidence
    }

    /// Whether the clock's error is known for a timestamp. While our clock is not confirmed it may be off by hours. A comparison with it then
    /// does not show whether the device's clock has changed between summer and winter time since the timestamp.
    private func isLearnedErrorCertain(at shown: WallTime) -> Bool {
        guard unconfirmedBoot != nil, learnedIn == unconfirmedBoot, let last = normaliser.learnedClock?.points.last else {
            return true
        }
        return zone.haveSameOffset(shown, WallTime(microseconds: last.shown))
    }

    /// Keeps the samples of a memory until its end.
    func bufferMemoryRecords(_ output: inout Normaliser.Output, from first: Int) {
        guard records != nil else { return }
        memory += output.samples[first...]
        output.samples.removeSubrange(first...)
        if memory.count > Self.maximumMemory { releaseMemory(into: &output) }
    }

    func releaseMemory(into output: inout Normaliser.Output) {
        MemoryOrder.evaluate(&memory)
        output.samples += memory
        memory.removeAll()
    }

    /// Whether the time is before the first sensors or more than a day ahead.
    static func isImpossible(_ sample: Sample) -> Bool {
        sample.start < Normaliser.earliest || sample.start.microseconds &- sample.received.microseconds > Calendar.day
    }

    /// The device's number of the person, if it numbers them.
    static func user(of sample: borrowing Sample) -> Int64? {
        guard case .number(let number)? = sample.metadata?["userIndex"] else { return nil }
        return Int64(number.canonicalText)
    }

    /// Learns the error of a clock that cannot be read from the arrivals of its measurements.
    ///
    /// - Returns: whether it is known now, and the measurement has to be timed again.
    func learnsFromArrival(_ samples: ArraySlice<GatedSample>, _ frame: RawFrame) -> Bool {
        guard !isClockKnown, !hasRecords, records == nil, normaliser.learnedClock == nil || isLearnedFromStamps && canCompare,
            PlausibleClock.allows(frame.received), case .wall(let shown, _, _)? = readings.first?.time,
            let own = samples.firstIndex(where: { $0.place == frame.place })
        else { return false }
        let sample = samples[own].sample
        let content = MeasurementIdentity.content(of: samples[own...].lazy.map(\.sample))
        let isNew = !trust.knows(shown, content: content, user: Self.user(of: sample))
        let arrival = ArrivalAgreement.Arrival(
            shown: shown.microseconds, received: frame.received.microseconds,
            late: frame.received.microseconds &- sample.start.microseconds)
        guard let agreeing = arrivals.add(arrival, isNew: isNew) else { return false }
        let learned = LearnedClock(shown: shown, received: frame.received, zone: zone)
        normaliser.learnedClock = learned
        isLearnedFromStamps = true
        learnedIn = unconfirmedBoot
        let error = shown.microseconds &- frame.received.microseconds
        var comparison = ClockComparison(
            device: key, shown: shown.microseconds, received: frame.received.microseconds, ahead: error,
            ofZone: learned.followsZone ? learned.ahead(at: shown) : nil, zone: zone, boot: unconfirmedBoot,
            releases: .takenWhenSent)
        // Those that were believed are moved.
        comparison.moves = agreeing.dropLast().map { earlier in
            let stored = earlier.received &- earlier.late
            let right = instants(of: WallTime(microseconds: earlier.shown), by: learned).map(\.microseconds)
            let nearest = right.min { ($0 &- earlier.received).magnitude < ($1 &- earlier.received).magnitude }
            return ClockComparison.Move(
                received: earlier.received, start: stored, step: (nearest ?? earlier.shown &- error) &- stored)
        }
        evidence = comparison
        return true
    }

    /// The instants that a timestamp of a clock with a known error can mean.
    private func instants(of shown: WallTime, by learned: LearnedClock) -> [Instant] {
        guard let local = learned.corrected(shown) else {
            return [Instant(microseconds: shown.microseconds &- learned.ahead(at: shown))]
        }
        let instants = zone.offsets(at: local).map { local.instant(at: $0) }
        return instants.isEmpty ? [local.instant(at: zone.offset(at: local.instant(at: .utc)))] : instants
    }

    /// Drops an error derived from timestamps when a timestamp contradicts it: the clock was set, or lost its battery.
    func dropContradictedClockError(_ received: Instant) {
        guard isLearnedFromStamps, canCompare, case .wall(let shown, _, _)? = readings.first?.time,
            let learned = normaliser.learnedClock
        else { return }
        func isFresh(_ time: Instant) -> Bool {
            (received.microseconds &- time.microseconds).magnitude < UInt64(StampTrust.fresh)
        }
        let times = instants(of: shown, by: learned)
        guard let taken = times.first, !times.contains(where: isFresh) else { return }
        let late = received.microseconds &- taken.microseconds
        // A late one is of its memory.
        guard
            late < 0 || late > StampTrust.maximumMemory || StampTrust.isDefaultDate(shown)
                || zone.offsets(at: shown).contains(where: { isFresh(shown.instant(at: $0)) })
        else { return }
        normaliser.learnedClock = nil
        isLearnedFromStamps = false
    }

    /// The known facts about a device's clock.
    struct ClockFacts: Equatable {
        /// Whether the clock was compared with ours.
        var isKnown = false
        /// The clock's error, if there is one.
        var learned: LearnedClock?
        var isLearnedFromStamps = false
        /// The boot whose unconfirmed clock it was compared with.
        var learnedIn: String?
    }

    /// The clock facts for a recording that begins in the middle.
    var clockFacts: ClockFacts {
        get {
            ClockFacts(
                isKnown: isClockKnown, learned: normaliser.learnedClock, isLearnedFromStamps: isLearnedFromStamps,
                learnedIn: learnedIn)
        }
        set {
            isClockKnown = newValue.isKnown
            normaliser.learnedClock = newValue.learned
            isLearnedFromStamps = newValue.isLearnedFromStamps
            learnedIn = newValue.learnedIn
        }
    }

    /// Restores the clock's error from before the hub's restart, once the device has identified itself. It was derived from
    /// timestamps because the clock cannot be read, and is valid until a timestamp contradicts it.
    func recallClock() {
        guard let lastComparison else { return }
        self.lastComparison = nil
        guard !hasRecords, !isClockKnown, normaliser.learnedClock == nil, let known = lastComparison(key), known.ahead != nil
        else { return }
        normaliser.learnedClock = LearnedClock(
            shown: WallTime(microseconds: known.shown), received: Instant(microseconds: known.received), zone: zone)
        isLearnedFromStamps = true
    }

    /// Notes a fresh timestamp. For a device without records it proves nothing about the next one.
    func prove(_ shown: WallTime, at received: Instant) {
        guard hasRecords else { return }
        if !isClockKnown {
            evidence = ClockComparison(
                device: key, shown: shown.microseconds, received: received.microseconds, ahead: nil, zone: zone,
                boot: unconfirmedBoot)
        }
        isClockKnown = true
    }

    /// How far the clock is ahead of the zone's local time, in microseconds, if it follows the zone and is off.
    var zoneError: Int64? {
        normaliser.learnedClock.flatMap { clock in clock.followsZone ? clock.points.last?.ahead : nil }
    }

    /// Returns the result of the clock comparison, once.
    func takeEvidence() -> ClockComparison? {
        defer { evidence = nil }
        return evidence
    }

    /// Starts reading the device's whole memory, until the next settling.
    package func beginRecords() { records = RecordOrdinals() }

    /// Settles the readings held for their time.
    func finishStream(into output: inout Normaliser.Output) {
        records = nil
        releaseMemory(into: &output)
        let first = output.samples.count
        path.finish(into: &output)
        for index in first..<output.samples.count where output.samples[index].rule == nil {
            if Self.isImpossible(output.samples[index].sample) { output.samples[index].rule = .clockUnknown }
        }
    }

    /// Sets the clock's error as read: how far it was ahead of our zone's time and of UTC, in microseconds. Returns the error in
    /// seconds, or `nil` if it is small enough to ignore.
    func learn(ahead: Int64, ofUTC: Int64, received: Instant, into output: inout Normaliser.Output) -> Int64? {
        // Earlier readings are timed by the clock as it was before.
        finishStream(into: &output)
        // A hub whose own clock is not set cannot compare.
        guard PlausibleClock.allows(received) else { return nil }
        // A clock of ours that nothing has confirmed is another one than before.
        if unconfirmedBoot != nil, learnedIn != unconfirmedBoot { normaliser.learnedClock = nil }
        isClockKnown = true
        isLearnedFromStamps = false
        learnedIn = unconfirmedBoot
        // A clock that agrees with ours is as wrong as ours, until ours is confirmed.
        guard ahead.magnitude > UInt64(Self.clockTolerance) || unconfirmedBoot != nil else {
            normaliser.learnedClock = nil
            return nil
        }
        let shown = WallTime(microseconds: received.microseconds &+ ofUTC)
        if normaliser.learnedClock == nil {
            normaliser.learnedClock = LearnedClock(shown: shown, received: received, zone: zone)
        } else {
            normaliser.learnedClock?.learn(shown: shown, received: received, zone: zone)
        }
        return ahead.magnitude > UInt64(Self.clockTolerance) ? ahead / 1_000_000 : nil
    }

    /// Moves all times after our own clock was set, by this many microseconds. Comparisons with our clock lose their value.
    ///
    /// - Parameter boot: the boot whose clock was set, or `nil` for the only one. An error that was learned before it is right.
    package func clockWasSet(by step: Int64, of boot: String? = nil) {
        for channel in adverts.keys { adverts[channel]?.clockWasSet(by: step) }
        joins.clockWasSet(by: step)
        repeats.clockWasSet(by: step)
        trust.clockWasSet(by: step)
        order.clockWasSet(by: step)
        lastReceived?.microseconds &+= step
        lastWeighing?.start.microseconds &+= step
        beats.clockWasSet(by: step)
        arrivals.clockWasSet()
        if boot == nil || learnedIn == boot { learnedWasSet(by: step) }
        if normaliser.learnedClock == nil { isClockKnown = false }
    }

    /// Moves the learned error after our own clock was set. Whether the clock follows the zone depends on its true error.
    private func learnedWasSet(by step: Int64) {
        guard let learned = normaliser.learnedClock, let last = learned.points.last else { return }
        let shown = WallTime(microseconds: last.shown)
        guard let received = instants(of: shown, by: learned).first else { return }
        let moved = LearnedClock(shown: shown, received: Instant(microseconds: received.microseconds &+ step), zone: zone)
        if moved.followsZone == learned.followsZone {
            normaliser.learnedClock?.hubWasSet(by: step)
        } else {
            normaliser.learnedClock = moved
        }
    }
}
