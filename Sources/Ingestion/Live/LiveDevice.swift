import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// An adopted device in the path from frames to samples: its interpreters, one for each channel, its clock and its activity.
public final class LiveDevice {
    /// The stored facts about the device. A source that learns something changes them and calls ``LiveIngest/remember(_:)``.
    public var adopted: AdoptedDevice
    /// The interval between its deliveries while it works, if its profile defines one.
    public var expectedInterval: Duration?
    /// The person who was weighed last, if the device is shared, and when.
    var lastWeighing: (start: Instant, subject: String)?
    /// If the last frame repeated a weight: the time of that weight, and the receive time of the frame's other readings.
    private(set) var weightAgain: (taken: Instant, received: Instant)?
    /// Its deliveries since this object was created, and its battery level.
    public internal(set) var activity = DeviceActivity()
    private(set) var profiles: [Profile]
    private let registry: OriginRegistry
    let aliases: [String: String]
    /// The zone of local times.
    public let zone: TimeZoneRules
    private let path: ReadingPath
    private var normaliser: Normaliser { path.normaliser }
    /// The frames' sender, as last reported by the source.
    private var device: Device?
    private var interpreters: [String: BinaryInterpreter] = [:]
    private var sessionStart: Timestamp?
    private var readings: [Reading] = []
    private var joins = FrameJoin()
    private var lastAdverts: [String: Advert] = [:]
    private var repeats = RepeatedReadings()
    /// Whether its timestamps are trusted if its clock cannot be read, and if its clock is known.
    private var trust = StampTrust()
    private var order = RecordOrder()
    /// The samples of a memory that is being read. The order of its records shows which timestamps are wrong.
    private var memory: [GatedSample] = []
    /// Returns the state before a restart. Called once.
    var lastState: ((String) -> DeviceState?)?
    /// The receive time of the last frame.
    private(set) var heard: Instant?

    /// The maximum number of samples of a memory that are judged together.
    private static let maximumMemory = 100_000
    private var beats = HeartbeatMinutes()
    private var records: RecordOrdinals?
    private var seals = SealCount()
    private var flood = FloodCap(perSecond: FloodCap.usual)
    private var toldOfFlood = false
    /// The limit for rejected readings. It is separate so that someone without the device's key cannot use up the device's own
    /// limit.
    private var refusedFlood = FloodCap(perSecond: FloodCap.usual)

    /// A device repeats an advertisement many times. A silence of this many microseconds ends the repetition.
    private static let advertRow: Int64 = 60_000_000
    /// The maximum error in microseconds of a clock that counts as right. Some devices have no seconds to set.
    private static let clockTolerance: Int64 = 10_000_000
    /// Whether it advertises, so that it has no stored readings to deliver one by one.
    private(set) var isAdvertiser = false
    /// Whether it delivers records of its memory, whose times cannot be trusted until its clock is known.
    public var hasRecords = false
    /// Returns the last stored comparison of its clock with ours, by device key. Called once.
    var lastComparison: ((String) -> ClockComparison?)?
    /// Whether it delivers continuously and stores nothing, so that it does not wait for an acknowledgement.
    var isStream: Bool { expectedInterval != nil && !hasRecords }
    /// Whether its clock was compared with ours.
    private var isClockKnown = false
    private var evidence: ClockComparison?
    /// Timestamps that agree with one another while the clock is not known.
    private var stamps: [(shown: WallTime, received: Instant)] = []
    /// Whether the clock's error was derived from its timestamps alone.
    private var isLearnedFromStamps = false
    /// Readings received within this many microseconds may be from one transfer of stored readings.
    private static let apart: Int64 = 30_000_000
    /// The number of timestamps that have to agree.
    private static let agreeing = 3

    /// - Parameter profiles: the profiles of the device that exist.
    public init(_ adopted: AdoptedDevice, profiles: [Profile], aliases: [String: String], zone: TimeZoneRules) {
        self.adopted = adopted
        self.profiles = profiles
        self.aliases = aliases
        self.zone = zone
        let own = adopted.ownKey
        registry = OriginRegistry(subject: adopted.subject) { key in aliases[own ?? key] ?? own ?? key }
        path = ReadingPath(zone: zone, received: Instant(seconds: 0))
        path.normaliser.leavesUnlikelyTimes = true
        device = adopted.device
    }

    /// The device's current key, as last reported and after aliases.
    package var key: String {
        let own = adopted.ownKey ?? device?.key ?? adopted.device?.key ?? adopted.key
        return aliases[own] ?? own
    }

    /// Returns the same device in another zone with its state. Readings held for their time have to be settled before.
    public func moved(to zone: TimeZoneRules) -> LiveDevice {
        let other = LiveDevice(adopted, profiles: profiles, aliases: aliases, zone: zone)
        (other.expectedInterval, other.hasRecords, other.activity) = (expectedInterval, hasRecords, activity)
        (other.readingsPerSecond, other.gathersHeartbeats) = (readingsPerSecond, gathersHeartbeats)
        // The difference from UTC is the same in all zones. A clock that was right in the old zone is compared again.
        if normaliser.learnedClock != nil { other.clockFacts = clockFacts }
        other.lastComparison = lastComparison
        other.lastState = { [state] _ in state }
        return other
    }

    /// Replaces the profiles from the next frame on.
    public func read(by profiles: [Profile]) {
        self.profiles = profiles
        interpreters.removeAll()
    }

    enum Outcome {
        /// The number of readings that came in. They became samples or rejections, or are held until their time is settled.
        /// `leftOut` is the kind of the readings that were repeated.
        case readings(Int, leftOut: SkipKind? = nil)
        case skipped(SkipKind)
    }

    /// The maximum number of readings accepted per second from its advertisements, averaged over a minute.
    public var readingsPerSecond: Int {
        get { flood.perSecond }
        set {
            flood.perSecond = newValue
            refusedFlood.perSecond = newValue
        }
    }

    /// Whether the intervals between heartbeats are stored as one series a minute instead of single samples.
    public var gathersHeartbeats = false

    /// The receive time of the last beats if some wait for their minute to end.
    var heartbeatsHeard: Instant? { beats.isEmpty ? nil : beats.heard }

    /// Ends the open series of heartbeats. Returns the number of readings.
    func closeHeartbeats(into output: inout Normaliser.Output) -> Int {
        var finished: [Reading] = []
        let heard = beats.heard
        beats.close(into: &finished)
        add(finished, received: heard, into: &output)
        return finished.count
    }

    /// Adds series of heartbeats, whose times come from our own clock.
    private func add(_ series: [Reading], received: Instant?, into output: inout Normaliser.Output) {
        guard let received, !series.isEmpty else { return }
        let first = output.samples.count
        path.process(series, received: received, into: &output)
        for index in first..<output.samples.count { output.samples[index].sample.timeOrigin = .receipt }
    }

    /// Updates the sender of a frame before the frame is read.
    func meet(_ frame: RawFrame) {
        if frame.device != device {
            // The firmware changed or the device has identified itself. Its readings belong to that description from now on.
            device = frame.device
            interpreters.removeAll()
        }
        recallState(before: frame.received)
        recallClock()
        heard = frame.received
    }

    /// - Parameter uptime: the current uptime, which does not jump.
    func interpret(_ frame: RawFrame, at uptime: Duration, into output: inout Normaliser.Output) -> Outcome {
        if Self.isDoubtful(frame) { return interpretDoubtful(frame, at: uptime, into: &output) }
        if isRepeated(frame) { return .skipped(SkipKind("repeated-advert")) }
        guard let interpreter = interpreter(for: frame.channel) else { return .skipped(SkipKind("no-profile")) }
        readings.removeAll(keepingCapacity: true)
        // If the new session cannot be read, the old one is no longer valid.
        if interpreter.tellsSession { learnSession(nil) }
        do throws(Refusal) {
            let outcome = try interpreter.interpret(frame, into: &readings)
            if let kind = sentByOthers(frame, interpreter) { return .skipped(kind) }
            if let session = interpreter.toldSession() { learnSession(session.timestamp) }
            switch outcome {
            case .readings:
                let leftOut = repeats.leaveOut(
                    of: &readings, number: interpreter.packetNumber, within: interpreter.repeatsWithin, frame)
                lastAdverts[frame.channel]?.wasRead = true
                if let leftOut, readings.isEmpty { return .skipped(leftOut.kind) }
                if frame.channel.hasPrefix("advert:"), !flood.takes(readings.count, at: uptime) {
                    return .skipped(SkipKind("flood"))
                }
                records?.number(&readings)
                let received = joins.join(
                    &readings, isPart: interpreter.isPart, follows: interpreter.follows, frame)
                weightAgain = leftOut?.weightTaken.map { ($0, received) }
                forgetWhatStampsShowed(frame.received)
                let gathered = gatherHeartbeats(received, into: &output)
                let first = output.samples.count
                path.process(readings, of: frame, received: received, into: &output)
                judgeTime(&output.samples, from: first, frame, received: received)
                keepMemory(&output, from: first)
                return .readings(readings.count + gathered, leftOut: leftOut?.kind ?? Self.cutOff(interpreter))
            case .skipped(let kind):
                if let description = interpreter.frameDescription() { joins.learn(description, at: frame.place) }
                return .skipped(kind)
            case .characteristics, .notData: return .skipped(SkipKind("no-data"))
            }
        } catch {
            if isUnsealed(frame, interpreter) { return .skipped(Self.unsealed) }
            if frame.channel.hasPrefix("advert:"), !refusedFlood.takes(error.readings, at: uptime) {
                return .skipped(SkipKind("flood"))
            }
            output.refusals.append(error)
            return .readings(error.readings)
        }
    }

    /// Counts the incomplete value at a frame's end by its field.
    private static func cutOff(_ interpreter: BinaryInterpreter) -> SkipKind? {
        interpreter.frame.cutOff.map { SkipKind("cut-off-\($0.field)") }
    }

    /// Takes the beats out of a frame's readings and adds the series of a finished minute. Returns the number of these series.
    /// There are no minutes until our own clock is set.
    private func gatherHeartbeats(_ received: Instant, into output: inout Normaliser.Output) -> Int {
        guard gathersHeartbeats, received >= Normaliser.earliestHub else { return closeHeartbeats(into: &output) }
        var finished: [Reading] = []
        let heard = beats.heard
        beats.take(&readings, received: received, into: &finished)
        add(finished, received: heard, into: &output)
        return finished.count
    }

    /// Sets the start of the device's time count for all channels.
    private func learnSession(_ start: Timestamp?) {
        sessionStart = start
        for interpreter in interpreters.values { interpreter.sessionStart = start }
    }

    private static let unsealed = SkipKind("unsealed")

    /// Whether it is an unencrypted advertisement of a device that encrypts them. Anyone could send it.
    private func isUnsealed(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> Bool {
        adopted.bindKey != nil && frame.channel.hasPrefix("advert:") && !interpreter.frame.isSealed
    }

    /// Returns why a frame is ignored: another sender may have made or replayed it.
    private func sentByOthers(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> SkipKind? {
        if isUnsealed(frame, interpreter) { return Self.unsealed }
        guard let counter = interpreter.frame.counter else { return nil }
        return seals.takes(Int64(counter), after: &adopted.counter) ? nil : SkipKind("replayed")
    }

    /// Whether to report that its counter of encrypted frames seems to have restarted. True once.
    func takeCountingAnew() -> Bool { seals.takeNews() }

    /// Whether to report that it sends more than is accepted. True once.
    func takeFlood() -> Bool {
        let (one, other) = (flood.takeNews(), refusedFlood.takeNews())
        guard one || other, !toldOfFlood else { return false }
        toldOfFlood = true
        return true
    }

    /// Quarantines a whole measurement whose time cannot be trusted, and every measurement while our own clock is not set. All
    /// rules on timestamps of live devices are applied here. ``MeasurementIdentity`` defines how such a measurement is
    /// identified.
    private func judgeTime(_ samples: inout [GatedSample], from first: Int, _ frame: RawFrame, received: Instant) {
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
    private func judge(
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
    private func keepMemory(_ output: inout Normaliser.Output, from first: Int) {
        guard records != nil else { return }
        memory += output.samples[first...]
        output.samples.removeSubrange(first...)
        if memory.count > Self.maximumMemory { releaseMemory(into: &output) }
    }

    private func releaseMemory(into output: inout Normaliser.Output) {
        MemoryOrder.judge(&memory)
        output.samples += memory
        memory.removeAll()
    }

    /// Whether the time is before the first sensors or more than a day ahead.
    private static func isImpossible(_ sample: Sample) -> Bool {
        sample.start < Normaliser.earliest || sample.start.microseconds &- sample.received.microseconds > Calendar.day
    }

    /// Learns the clock's error from timestamps. If their distances match those of their receive times three times in a row, the
    /// readings were sent when they were taken, and the difference from our clock is the error. Two could be from a memory that
    /// is sent quickly.
    private func compare(_ shown: WallTime, at received: Instant) {
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
    private func forgetWhatStampsShowed(_ received: Instant) {
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
    private func recallClock() {
        guard let lastComparison else { return }
        self.lastComparison = nil
        guard !hasRecords, !isClockKnown, normaliser.learnedClock == nil, let ahead = lastComparison(key)?.ahead else { return }
        normaliser.learnedClock = LearnedClock(ahead: ahead)
        isLearnedFromStamps = true
    }

    /// Notes a fresh timestamp. For a device without records it proves nothing about the next one.
    private func prove(_ shown: WallTime, at received: Instant) {
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

    private func interpreter(for channel: String) -> BinaryInterpreter? {
        if let known = interpreters[channel] { return known }
        guard let match = profiles.lazy.compactMap({ $0.match(channel: channel) }).first else { return nil }
        var options = BinaryOptions(sessionStart: sessionStart)
        options.secrets.bindKey = adopted.bindKey.flatMap(Self.octets)
        options.secrets.address = adopted.bluetoothAddress.flatMap { Self.octets($0.filter { $0 != ":" }) }
        let interpreter = BinaryInterpreter(match, registry: registry, device: device, options: options)
        interpreters[channel] = interpreter
        return interpreter
    }

    /// The last advertisement of a channel.
    private struct Advert: Codable {
        var bytes: [UInt8]
        /// The receive time in microseconds.
        var heard: Int64
        /// Whether it could be read. A rejected one is read again once the device has another key or profile.
        var wasRead = false
    }

    // MARK: Restarts

    /// The state of the stream that cannot be derived from stored samples.
    private struct State: Codable {
        var trust: StampTrust
        var order: RecordOrder
        var repeats: RepeatedReadings
        var joins: FrameJoin
        var adverts: [String: Advert]
        var stamps: [[Int64]]
        var isClockKnown: Bool
        /// The zone in which a compared clock is right.
        var zone: String
        var learned: [[Int64]]
        var isLearnedFromStamps: Bool
        var weighed: Int64?
        var weigher: String?
    }

    /// The state for a later run of the hub, or `nil` before the first frame.
    public var state: DeviceState? {
        guard let heard else { return nil }
        let state = State(
            trust: trust, order: order, repeats: repeats, joins: joins, adverts: lastAdverts.filter(\.value.wasRead),
            stamps: stamps.map { [$0.shown.microseconds, $0.received.microseconds] },
            isClockKnown: isClockKnown, zone: zone.identifier,
            learned: (normaliser.learnedClock?.points ?? []).map { [$0.shown, $0.ahead] },
            isLearnedFromStamps: isLearnedFromStamps,
            weighed: lastWeighing?.start.microseconds, weigher: lastWeighing?.subject)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let text = try? encoder.encode(state) else { return nil }
        return DeviceState(address: adopted.address, heard: heard, text: String(decoding: text, as: UTF8.self))
    }

    /// Restores the state from before a restart. A state newer than the frame belongs to other events, as in a replay.
    private func recallState(before time: Instant) {
        guard let lastState else { return }
        self.lastState = nil
        guard let stored = lastState(adopted.address), stored.heard < time,
            let state = try? JSONDecoder().decode(State.self, from: Data(stored.text.utf8))
        else { return }
        (trust, order, repeats, joins, lastAdverts) = (state.trust, state.order, state.repeats, state.joins, state.adverts)
        stamps = state.stamps.filter { $0.count == 2 }.map {
            (WallTime(microseconds: $0[0]), Instant(microseconds: $0[1]))
        }
        recallClock(state)
        if let weighed = state.weighed, let weigher = state.weigher {
            lastWeighing = (Instant(microseconds: weighed), weigher)
        }
    }

    /// Restores the clock's state unless a capture has set it. An error relative to UTC is valid in all zones, but a clock that
    /// is right is right only in its own zone.
    private func recallClock(_ state: State) {
        guard !isClockKnown, normaliser.learnedClock == nil else { return }
        lastComparison = nil
        let points = state.learned.filter { $0.count == 2 }.map { (shown: $0[0], ahead: $0[1]) }
        if !points.isEmpty { normaliser.learnedClock = LearnedClock(points: points) }
        isLearnedFromStamps = state.isLearnedFromStamps && !points.isEmpty
        isClockKnown = state.isClockKnown && (!points.isEmpty || state.zone == zone.identifier)
    }

    /// Whether the frame repeats the bytes of the last advertisement within the same repetition.
    private func isRepeated(_ frame: RawFrame) -> Bool {
        guard frame.channel.hasPrefix("advert:"), case .bytes(let bytes) = frame.payload else { return false }
        isAdvertiser = true
        var advert = Advert(bytes: Array(bytes), heard: frame.received.microseconds)
        defer { lastAdverts[frame.channel] = advert }
        guard let last = lastAdverts[frame.channel], last.bytes.elementsEqual(bytes),
            abs(frame.received.microseconds - last.heard) < Self.advertRow
        else { return false }
        advert.wasRead = last.wasRead
        return true
    }

    private static func octets(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var octets: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let octet = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            octets.append(octet)
        }
        return octets
    }
}
