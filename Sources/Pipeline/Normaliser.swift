import HealthModel

/// Converts readings into samples with canonical unit, instants and identity. Each stream of frames needs its own, since the order of
/// readings resolves ambiguous local times.
public final class Normaliser {
    /// The results so far, which the caller removes.
    public struct Output {
        /// The readings that became samples, with the gate's judgement.
        public var samples: [GatedSample] = []
        /// The readings whose time or unit is ambiguous.
        public var refusals: [Refusal] = []
        /// An empty output.
        public init() {}
    }

    /// Whether any time so far was a local one, so that the zone matters.
    public private(set) var readsLocalTimes = false

    private var clock: WallClock
    private let zone: TimeZoneRules
    private var latest: Int64
    private var received: Instant
    /// The source's clock, if it was compared with ours and differs from the zone.
    public var learnedClock: LearnedClock?
    /// The pass in which each reading of a repeated hour was first seen, and roughly when that hour was.
    private var passes: [SampleIdentity: ZoneOffset] = [:]
    private var passesNear: Int64?
    /// The last conversion of each type, since the unit rarely changes within a stream.
    private var units: [Unit?] = Array(repeating: nil, count: SampleType.all.count)
    private var conversions: [UnitConversion] = Array(repeating: .identity, count: SampleType.all.count)

    /// The earliest time of a measurement.
    public static let earliest = TimeBounds.earliest
    /// Whether the hub's clock cannot be right. Readings are then neither too early nor in the future, and the caller quarantines them.
    private var isHubLost = false
    /// Whether the readings are of a live device, which was already sent an acknowledgement and would never send them again. Unlikely times
    /// (before 1971, or more than a day ahead) are passed through for the caller to quarantine, and local times that can be two instants
    /// are quarantined.
    public var isLive = false

    /// - Parameters:
    ///   - zone: The zone of local times.
    ///   - received: The hub's time at which the readings arrived. Times more than a day later are refused.
    public init(zone: TimeZoneRules, received: Instant) {
        clock = WallClock(zone: zone)
        self.zone = zone
        self.received = received
        latest = TimeBounds.latest(received: received).microseconds
    }

    /// The maximum age, in microseconds, of a reading that was taken just now. It distinguishes the two passes of a repeated hour.
    private static let fresh: Int64 = 300_000_000

    /// Normalises the readings of one frame with its own time of receipt.
    public func normalise(_ frame: [Reading], received: Instant, into output: inout Output) {
        self.received = received
        isHubLost = !PlausibleClock.allows(received)
        latest = isHubLost || isLive ? .max : TimeBounds.latest(received: received).microseconds
        if isLive, case .wall(let shown, _, _)? = frame.first?.time, isBefore1970(shown) {
            holdUndated(frame, into: &output)
            return
        }
        if case .wall(let shown, _, nil)? = frame.first?.time, let start = local(shown) {
            let offsets = candidates(at: start)
            let fresh = offsets.filter { abs(start.instant(at: $0).microseconds - received.microseconds) < Self.fresh }
            if offsets.count == 2, fresh.count == 1 {
                readsLocalTimes = true
                append(disambiguated(frame, pass: fresh[0]), offset: fresh[0], into: &output)
                return
            }
        }
        normalise(frame, into: &output)
    }

    /// Whether a device's timestamp is before 1970, where identities start.
    private func isBefore1970(_ shown: WallTime) -> Bool {
        let first = Instant(microseconds: 0)
        return shown.microseconds < 0 || learnedClock == nil && shown < first.wallTime(at: zone.offset(at: first))
    }

    /// The local time of a device's timestamp, or `nil` if its clock does not follow the zone.
    private func local(_ shown: WallTime) -> WallTime? {
        guard let learnedClock else { return shown }
        return learnedClock.corrected(shown)
    }

    /// The offsets that a local time can have. A live device whose clock nobody has set forward shows times of the hour that is left out.
    private func candidates(at wall: WallTime) -> [ZoneOffset] {
        let offsets = zone.offsets(at: wall)
        guard offsets.isEmpty, isLive else { return offsets }
        return [-Calendar.day, Calendar.day].map { zone.offset(at: Instant(microseconds: wall.microseconds &+ $0)) }
    }

    /// Normalises the readings of one frame. All of them become samples, or one refusal gives the reason.
    public func normalise(_ frame: [Reading], into output: inout Output) {
        guard !frame.isEmpty else { return }
        if case .wall(let shown, _, let ticks) = frame[0].time {
            readsLocalTimes = true
            guard let start = local(shown) else {
                // The offset is only shown with the sample. Its instant comes from the learned clock.
                let instant = Instant(microseconds: shown.microseconds &- (learnedClock?.ahead(at: shown) ?? 0))
                append(frame, offset: zone.offset(at: instant), into: &output)
                return
            }
            if !clock.pending.isEmpty, !clock.continuesPending(start) { release(next: start, into: &output) }
            if let near = passesNear, abs(near - start.microseconds) > Calendar.day { forgetPasses() }
            switch clock.answer(for: frame[0], wall: start, ticks: ticks) {
            case .offset(let offset):
                append(frame, offset: offset, into: &output)
            case .oneOfTwo(let offset):
                append(disambiguated(frame, pass: offset), offset: offset, into: &output)
            case .deferred:
                for reading in frame.dropFirst() { clock.hold(reading) }
            case .refused where isLive: hold(frame, at: start, into: &output)
            case .refused(let reason):
                output.refusals.append(Refusal(reason, at: frame[0].place, readings: frame.count))
            }
        } else {
            append(frame, offset: .utc, into: &output)
        }
    }

    /// Releases the readings that waited. Call it once at the end of the stream.
    public func finish(into output: inout Output) { release(next: nil, into: &output) }

    private func release(next: WallTime?, into output: inout Output) {
        guard !clock.pending.isEmpty else { return }
        let (readings, offsets) = clock.resolve(next: next)
        var index = 0
        while index < readings.count {
            let end = readings[index...].firstIndex { $0.place != readings[index].place } ?? readings.count
            let frame = Array(readings[index..<end])
            if let offsets {
                append(disambiguated(frame, pass: offsets[index]), offset: offsets[index], into: &output)
            } else if isLive, case .wall(let shown, _, _) = frame[0].time {
                hold(frame, at: local(shown) ?? shown, into: &output)
            } else {
                output.refusals.append(
                    Refusal(
                        "this local time occurs twice in \(zone.identifier), and the order of the file does not show which one is meant: "
                            + "use a fixed offset such as --time-zone +01:00",
                        at: frame[0].place, readings: frame.count))
            }
            index = end
        }
    }

    /// Quarantines readings whose local time can be two instants, with both of them.
    private func hold(_ frame: [Reading], at wall: WallTime, into output: inout Output) {
        let first = output.samples.count
        let offsets = candidates(at: wall)
        append(frame, offset: offsets.first ?? zone.offset(at: received), into: &output)
        let times = offsets.map { wall.instant(at: $0) }.sorted().map(\.description).joined(separator: ",")
        quarantine(from: first, .ambiguous, [(ClockDoubt.timesKey, .string(times))], in: &output)
    }

    /// Quarantines readings with a timestamp before 1970. Their time is that of their arrival.
    private func holdUndated(_ frame: [Reading], into output: inout Output) {
        let first = output.samples.count
        var frame = frame
        for index in frame.indices { frame[index].time = .receipt }
        append(frame, offset: .utc, into: &output)
        quarantine(from: first, .unproven, in: &output)
    }

    private func quarantine(
        from first: Int, _ doubt: ClockDoubt, _ details: [(String, MetadataValue)] = [], in output: inout Output
    ) {
        for index in first..<output.samples.count {
            output.samples[index].rule = .clockUnknown
            let entries = output.samples[index].sample.metadata?.entries.map { ($0.key, $0.value) } ?? []
            output.samples[index].sample.metadata = Metadata(entries + [(ClockDoubt.key, .string(doubt.rawValue))] + details)
        }
    }

    /// Distinguishes readings with the same value and local time in the two passes of a repeated hour.
    private func disambiguated(_ frame: [Reading], pass: ZoneOffset) -> [Reading] {
        var frame = frame
        for position in frame.indices where frame[position].record == nil {
            let reading = frame[position]
            guard case .wall(let start, let end, _) = reading.time else { continue }
            let identity = SampleIdentity(
                series: reading.origin.seriesKey, start: start.microseconds, end: end.microseconds, numeral: reading.numeral,
                unit: reading.unit, ordinal: reading.ordinal, method: reading.metadata?.method ?? [])
            passesNear = start.microseconds
            if let earlier = passes[identity], earlier != pass {
                frame[position].ordinal |= 0x8000_0000
            } else {
                passes[identity] = pass
            }
        }
        return frame
    }

    private func forgetPasses() {
        passes.removeAll()
        passesNear = nil
    }

    private func append(_ frame: [Reading], offset: ZoneOffset, into output: inout Output) {
        let first = output.samples.count
        do throws(Refusal) {
            // By pointer, because a copy of a reading would retain every reference in it.
            let refusal = frame.withUnsafeBufferPointer { readings -> Refusal? in
                do throws(Refusal) {
                    for index in readings.indices {
                        guard let reading = readings.baseAddress.map({ $0 + index }) else { break }
                        output.samples.append(try sample(reading, wallOffset: offset))
                    }
                    return nil
                } catch {
                    return error
                }
            }
            if let refusal { throw refusal }
        } catch {
            output.samples.removeSubrange(first...)
            output.refusals.append(Refusal(error.reason, at: error.place, readings: frame.count))
            return
        }
        guard frame.count > 1 else { return }
        // The group's number is made of its members' identities, so it is the same on every hub and in every order.
        var group: UInt64 = 0
        for (index, reading) in frame.enumerated() where reading.group == .frame {
            group ^= output.samples[first + index].sample.identity.low
        }
        for (index, reading) in frame.enumerated() where reading.group == .frame {
            output.samples[first + index].sample.group = max(group, 1)
        }
    }

    private func sample(_ reading: UnsafePointer<Reading>, wallOffset: ZoneOffset) throws(Refusal) -> GatedSample {
        let start: Instant
        let end: Instant
        let nominalStart: Int64
        let nominalEnd: Int64
        let zone: ZoneOffset?
        var timeOrigin = TimeOrigin.device
        switch reading.pointee.time {
        case .instants(let first, let last, let offset):
            (start, end, zone) = (first, last, offset)
            (nominalStart, nominalEnd) = (first.microseconds, last.microseconds)
        case .wall(let first, let last, _) where learnedClock?.followsZone == false:
            let ahead = learnedClock?.ahead(at: first) ?? 0
            start = Instant(microseconds: first.microseconds &- ahead)
            end = Instant(microseconds: last.microseconds &- ahead)
            zone = wallOffset
            (nominalStart, nominalEnd) = (first.microseconds, last.microseconds)
            timeOrigin = .deviceCorrected
        case .wall(let first, let last, _):
            let (began, ended) = (local(first) ?? first, local(last) ?? last)
            (start, zone) = (began.instant(at: wallOffset), wallOffset)
            end = last == first ? start : ended.instant(at: offset(ofEnd: ended, start: start, wallOffset))
            (nominalStart, nominalEnd) = (first.microseconds, last.microseconds)
            if learnedClock != nil { timeOrigin = .deviceCorrected }
        case .added(let added, let nominal):
            (start, end, zone) = (added, added, nil)
            (nominalStart, nominalEnd) = (nominal.microseconds, nominal.microseconds)
            timeOrigin = .receipt
        case .complete(let reported):
            (start, end, zone) = (reported.start, reported.end, reported.zone)
            (nominalStart, nominalEnd) = (reported.nominal.lowerBound, reported.nominal.upperBound)
            timeOrigin = reported.origin
        case .receipt:
            (start, end, zone) = (received, received, nil)
            (nominalStart, nominalEnd) = (received.microseconds, received.microseconds)
            timeOrigin = .receipt
        }
        // Identities start at 1970.
        guard start >= Self.earliest || isHubLost || isLive && start.microseconds >= 0 && nominalStart >= 0 else {
            throw Refusal(TimeBounds.tooEarly, at: reading.pointee.place)
        }
        guard start.microseconds <= latest, end.microseconds <= latest else {
            throw Refusal(TimeBounds.tooLate, at: reading.pointee.place)
        }
        guard end >= start else { throw Refusal("it ends before it starts", at: reading.pointee.place) }
        let value = try conversion(of: reading).convert(reading.pointee.numeral)
        guard value.isFinite else { throw Refusal("the number is out of range", at: reading.pointee.place) }
        let identity =
            if let record = reading.pointee.record {
                SampleIdentity(
                    series: reading.pointee.origin.seriesKey, start: nominalStart, record: record,
                    numeral: reading.pointee.numeral, unit: reading.pointee.unit)
            } else {
                SampleIdentity(
                    series: reading.pointee.origin.seriesKey, start: nominalStart, end: nominalEnd,
                    numeral: reading.pointee.numeral,
                    unit: reading.pointee.unit, ordinal: reading.pointee.ordinal,
                    method: reading.pointee.metadata?.method ?? [])
            }
        var sample = Sample(
            origin: reading.pointee.origin, identity: identity, nominalStart: nominalStart, start: start, end: end, value: value,
            numeral: reading.pointee.numeral, unit: reading.pointee.unit, zone: zone, timeOrigin: timeOrigin, received: received,
            metadata: reading.pointee.metadata, record: reading.pointee.record, timeResolution: reading.pointee.timeResolution,
            ordinal: reading.pointee.record == nil ? reading.pointee.ordinal : nil, body: reading.pointee.body)
        if case .shared(let number) = reading.pointee.group { sample.group = number }
        return GatedSample(sample: consume sample, rule: nil, repeats: reading.pointee.repeats, place: reading.pointee.place)
    }

    /// The end's offset. If clocks change between start and end, the end uses the offset in force then, if it is unambiguous.
    private func offset(ofEnd end: WallTime, start: Instant, _ startOffset: ZoneOffset) -> ZoneOffset {
        let period = zone.period(at: start)
        // A clock that was not adjusted continues with its offset.
        guard period.offset == startOffset else { return startOffset }
        let offsets = zone.offsets(at: end)
        // An end before the start belongs to the second pass of a repeated hour.
        if end.instant(at: startOffset) < start, let later = offsets.first(where: { end.instant(at: $0) >= start }) {
            return later
        }
        guard end.instant(at: startOffset) >= period.until else { return startOffset }
        return offsets.count == 1 ? offsets[0] : startOffset
    }

    private func conversion(of reading: UnsafePointer<Reading>) throws(Refusal) -> UnitConversion {
        let type = reading.pointee.origin.type
        // Only conversions of catalogue types are cached. Values of other types are not converted.
        let slot = type.isKnown ? Int(type.index) : nil
        if let slot, let unit = units[slot], unit == reading.pointee.unit { return conversions[slot] }
        do throws(UnitError) {
            let conversion = try type.conversion(from: reading.pointee.unit)
            if let slot {
                units[slot] = reading.pointee.unit
                conversions[slot] = conversion
            }
            return conversion
        } catch {
            throw Refusal("\(type.id): \(error)", at: reading.pointee.place)
        }
    }
}
