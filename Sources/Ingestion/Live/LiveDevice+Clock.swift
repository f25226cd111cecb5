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
    func judgeTime(_ samples: inout [GatedSample], from first: Int, _ frame: RawFrame, received: Instant) {
        let isHubLost = frame.received < Normaliser.earliestHub
        let own = samples[first...].firstIndex { $0.place == frame.place }
        // A time with its zone is not from a wall clock and is not corrected.
        var evidence: StampEvidence?
        if let own, !isHubLost, case .wall(let shown, _, _)? = readings.first?.time {
            evidence = judge(shown, samples[own...], frame, received: received)
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
            let isHeld = samples[index].rule != nil
            if let doubt { samples[index].doubt(doubt) } else if !isHeld { samples[index].rule = .clockUnknown }
            if isOwn, !isHeld { samples[index].frame = FrameText(frame) }
        }
    }

    /// Judges all samples of the frame by the first one.
    func judge(
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
            let behind = normaliser.learnedClock.map { $0.ahead(at: shown) < -Calendar.day } ?? false
            evidence.doubt = order.doubt(
                shown: shown, start: sample.start, number: MeasurementIdentity.number(of: sample), isBehind: behind,
                received: frame.received)
        } else if keepsRecords {
            let isPossible = !hasRecords && late >= 0 && late <= StampTrust.longestMemory
            if !isFresh { evidence.doubt = StampTrust.isDefaultDate(shown) ? .defaultDate : isPossible ? nil : .notCompared }
        } else {
            let content = MeasurementIdentity.content(of: samples.lazy.map(\.sample))
            switch trust.judge(shown, late: late, isCorrected: isCorrected, content: content, received: received) {
            case .believed: break
            case .doubted(let doubt, let receipt):
                (evidence.doubt, evidence.receipt) = (doubt, receipt)
                if !isCorrected { compare(shown, at: frame.received) }
            }
        }
        if isFresh, !isCorrected { prove(shown, at: frame.received) }
        return evidence
    }

    /// Keeps the samples of a memory until its end.
    func keepMemory(_ output: inout Normaliser.Output, from first: Int) {
        guard records != nil else { return }
        memory += output.samples[first...]
        output.samples.removeSubrange(first...)
        if memory.count > Self.maximumMemory { releaseMemory(into: &output) }
    }

    func releaseMemory(into output: inout Normaliser.Output) {
        MemoryOrder.judge(&memory)
        output.samples += memory
        memory.removeAll()
    }

    /// Whether the time is before the first sensors or more than a day ahead.
    static func isImpossible(_ sample: Sample) -> Bool {
        sample.start < Normaliser.earliest || sample.start.microseconds &- sample.received.microseconds > Calendar.day
    }

    /// Learns the clock's error from timestamps. If their distances match those of their receive times three times in a row, the
    /// readings were sent when they were taken, and the difference from our clock is the error. Two could be from a memory that
    /// is sent quickly.
    func compare(_ shown: WallTime, at received: Instant) {
        if let last = stamps.last {
            let apart = received.microseconds &- last.received.microseconds
            // A repeated reading, or the next one of a memory, proves nothing.
            guard shown != last.shown, apart >= Self.apart else { return }
            let difference = (shown.microseconds &- last.shown.microseconds) &- apart
            if difference.magnitude >= UInt64(Self.clockTolerance) { stamps.removeAll() }
        }
        stamps.append((shown, received))
        guard stamps.count == Self.agreeing else { return }
        stamps.removeAll()
        normaliser.learnedClock = LearnedClock(shown: shown, received: received)
        isLearnedFromStamps = true
        evidence = ClockComparison(
            device: key, shown: shown.microseconds, received: received.microseconds,
            ahead: shown.microseconds &- received.microseconds, releases: .takenWhenSent)
    }

    /// Drops an error derived from timestamps when a timestamp contradicts it: the clock was set, or lost its battery.
    func forgetWhatStampsShowed(_ received: Instant) {
        guard isLearnedFromStamps, case .wall(let start, _, _)? = readings.first?.time, let learned = normaliser.learnedClock
        else { return }
        let taken = start.microseconds &- learned.ahead(at: start)
        guard (received.microseconds &- taken).magnitude >= UInt64(StampTrust.fresh) else { return }
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
    }

    /// The clock facts for a recording that begins in the middle.
    var clockFacts: ClockFacts {
        get {
            ClockFacts(
                isKnown: isClockKnown, learned: normaliser.learnedClock, isLearnedFromStamps: isLearnedFromStamps)
        }
        set {
            isClockKnown = newValue.isKnown
            normaliser.learnedClock = newValue.learned
            isLearnedFromStamps = newValue.isLearnedFromStamps
        }
    }

    /// Restores the clock's error from before the hub's restart, once the device has identified itself. It was derived from
    /// timestamps because the clock cannot be read, and is valid until a timestamp contradicts it.
    func recallClock() {
        guard let lastComparison else { return }
        self.lastComparison = nil
        guard !hasRecords, !isClockKnown, normaliser.learnedClock == nil, let ahead = lastComparison(key)?.ahead else { return }
        normaliser.learnedClock = LearnedClock(ahead: ahead)
        isLearnedFromStamps = true
    }

    /// Notes a fresh timestamp. For a device without records it proves nothing about the next one.
    func prove(_ shown: WallTime, at received: Instant) {
        guard hasRecords else { return stamps.removeAll() }
        if !isClockKnown {
            evidence = ClockComparison(
                device: key, shown: shown.microseconds, received: received.microseconds, ahead: nil)
        }
        isClockKnown = true
    }

    /// Returns the result of the clock comparison, once.
    func takeEvidence() -> ClockComparison? {
        defer { evidence = nil }
        return evidence
    }

    /// Starts reading the device's whole memory, until the next settling.
    public func beginRecords() { records = RecordOrdinals() }

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
        guard received >= Normaliser.earliestHub else { return nil }
        isClockKnown = true
        isLearnedFromStamps = false
        guard ahead.magnitude > UInt64(Self.clockTolerance) else {
            normaliser.learnedClock = nil
            return nil
        }
        let shown = WallTime(microseconds: received.microseconds &+ ofUTC)
        if normaliser.learnedClock == nil {
            normaliser.learnedClock = LearnedClock(shown: shown, received: received)
        } else {
            normaliser.learnedClock?.learn(shown: shown, received: received)
        }
        return ahead / 1_000_000
    }

    /// Moves all times after our own clock was set, by this many microseconds. Comparisons with our clock lose their value.
    package func clockWasSet(by step: Int64) {
        for channel in lastAdverts.keys { lastAdverts[channel]?.heard &+= step }
        joins.clockWasSet(by: step)
        repeats.clockWasSet(by: step)
        trust.clockWasSet(by: step)
        order.clockWasSet(by: step)
        heard?.microseconds &+= step
        lastWeighing?.start.microseconds &+= step
        beats.clockWasSet(by: step)
        stamps.removeAll()
        normaliser.learnedClock?.hubWasSet(by: step)
        if normaliser.learnedClock == nil { isClockKnown = false }
    }
}
