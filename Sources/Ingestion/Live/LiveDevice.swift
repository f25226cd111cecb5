import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// An adopted device on the way from frames to samples: its interpreters, one a channel, its clock, and what it has been doing.
public final class LiveDevice {
    /// What is known of it; the source that learns something changes it and calls ``LiveIngest/remember(_:)``.
    public var adopted: AdoptedDevice
    /// How often it delivers while it works, where its profile says so.
    public var expectedInterval: Duration?
    /// Who was weighed last, where it is shared, and when.
    var lastWeighing: (start: Instant, subject: String)?
    /// Where the last frame told a weight again: when that weight was taken, and when what else the frame told was received.
    private(set) var weightAgain: (taken: Instant, received: Instant)?
    /// When and how often it has delivered since this object was made, and its battery.
    public internal(set) var activity = DeviceActivity()
    private(set) var profiles: [Profile]
    private let registry: OriginRegistry
    let aliases: [String: String]
    /// Of local times.
    public let zone: TimeZoneRules
    private let path: ReadingPath
    private var normaliser: Normaliser { path.normaliser }
    /// Who the frames come from, as the source said last.
    private var device: Device?
    private var interpreters: [String: BinaryInterpreter] = [:]
    private var sessionStart: Timestamp?
    private var readings: [Reading] = []
    private var joins = FrameJoin()
    private var lastAdverts: [String: Advert] = [:]
    private var repeats = RepeatedReadings()
    /// Whether stamps are believed of a clock that nobody reads, and of one that is known.
    private var trust = StampTrust()
    private var order = RecordOrder()
    /// Of a whole memory, until its end is there: the order of its records says which stamps are wrong.
    private var memory: [GatedSample] = []
    /// What was known before a restart; asked once.
    var lastState: ((String) -> DeviceState?)?
    /// When the last frame was received.
    private(set) var heard: Instant?

    /// More samples of a memory are judged in parts.
    private static let maximumMemory = 100_000
    private var beats = HeartbeatMinutes()
    private var records: RecordOrdinals?
    private var seals = SealCount()
    private var flood = FloodCap(perSecond: FloodCap.usual)
    private var toldOfFlood = false
    /// Of what is refused, apart: whoever has no key of the device's takes nothing of what it may send itself.
    private var refusedFlood = FloodCap(perSecond: FloodCap.usual)

    /// A device repeats one advertisement many times; silence of this length ends the row.
    private static let advertRow: Int64 = 60_000_000
    /// How far a clock may be off, in microseconds, and still be called right: some have no seconds hand to set.
    private static let clockTolerance: Int64 = 10_000_000
    /// Whether it says the same to everybody, and so has nothing that it would deliver bit by bit.
    private(set) var isAdvertiser = false
    /// Whether it delivers records of its memory, whose times are worth nothing while nobody knows its clock.
    public var hasRecords = false
    /// By key: how its clock compared with ours when that was kept last; asked once.
    var lastComparison: ((String) -> ClockComparison?)?
    /// Whether it delivers all the time and keeps nothing: the next reading comes anyway, and no device waits to be told that one is safe.
    var isStream: Bool { expectedInterval != nil && !hasRecords }
    /// Whether its clock was compared with ours.
    private var isClockKnown = false
    private var evidence: ClockComparison?
    /// Of readings whose clock is not known, as far as they agree with one another.
    private var stamps: [(shown: WallTime, received: Instant)] = []
    /// Whether the clock's error is known from its stamps alone.
    private var isLearnedFromStamps = false
    /// Arrivals nearer than this, in microseconds, may be of one transfer of stored readings.
    private static let apart: Int64 = 30_000_000
    /// How many stamps have to agree.
    private static let agreeing = 3

    /// - Parameter profiles: those it was adopted with, as far as they are there.
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

    /// What it goes by, as it said last.
    package var key: String {
        let own = adopted.ownKey ?? device?.key ?? adopted.device?.key ?? adopted.key
        return aliases[own] ?? own
    }

    /// The same device in another zone, with all that is known of it. What was held back for its time has to be settled before.
    public func moved(to zone: TimeZoneRules) -> LiveDevice {
        let other = LiveDevice(adopted, profiles: profiles, aliases: aliases, zone: zone)
        (other.expectedInterval, other.hasRecords, other.activity) = (expectedInterval, hasRecords, activity)
        (other.readingsPerSecond, other.gathersHeartbeats) = (readingsPerSecond, gathersHeartbeats)
        // By how much a clock is ahead of UTC holds in every zone. A clock that was right in the old zone is compared again.
        if normaliser.learnedClock != nil { other.clockFacts = clockFacts }
        other.lastComparison = lastComparison
        other.lastState = { [state] _ in state }
        return other
    }

    /// Reads it by other profiles from the next frame on.
    public func read(by profiles: [Profile]) {
        self.profiles = profiles
        interpreters.removeAll()
    }

    enum Outcome {
        /// So many readings came in; they are samples, refusals, or held back until a time is settled. What else the frame told was told before.
        case readings(Int, leftOut: SkipKind? = nil)
        case skipped(SkipKind)
    }

    /// How many readings a second of its advertisements are taken, averaged over a minute.
    public var readingsPerSecond: Int {
        get { flood.perSecond }
        set {
            flood.perSecond = newValue
            refusedFlood.perSecond = newValue
        }
    }

    /// Whether the intervals between heartbeats are kept as one series a minute, in place of a sample each.
    public var gathersHeartbeats = false

    /// Whether beats wait for their minute to end, and since when.
    var heartbeatsHeard: Instant? { beats.isEmpty ? nil : beats.heard }

    /// Ends the series of heartbeats that is open. Returns how many readings that made.
    func closeHeartbeats(into output: inout Normaliser.Output) -> Int {
        var finished: [Reading] = []
        let heard = beats.heard
        beats.close(into: &finished)
        add(finished, received: heard, into: &output)
        return finished.count
    }

    /// Series of heartbeats have their times from our own clock.
    private func add(_ series: [Reading], received: Instant?, into output: inout Normaliser.Output) {
        guard let received, !series.isEmpty else { return }
        let first = output.samples.count
        path.process(series, received: received, into: &output)
        for index in first..<output.samples.count { output.samples[index].sample.timeOrigin = .receipt }
    }

    /// Gets to know who a frame comes from, before it is taken.
    func meet(_ frame: RawFrame) {
        if frame.device != device {
            // New firmware, or a device that has said who it is: what it says from now on comes from that.
            device = frame.device
            interpreters.removeAll()
        }
        recallState(before: frame.received)
        recallClock()
        heard = frame.received
    }

    /// - Parameter uptime: now, by the clock that nobody sets.
    func interpret(_ frame: RawFrame, at uptime: Duration, into output: inout Normaliser.Output) -> Outcome {
        if Self.isDoubtful(frame) { return interpretDoubtful(frame, at: uptime, into: &output) }
        if isRepeated(frame) { return .skipped(SkipKind("repeated-advert")) }
        guard let interpreter = interpreter(for: frame.channel) else { return .skipped(SkipKind("no-profile")) }
        readings.removeAll(keepingCapacity: true)
        // Where the new one cannot be read, the old one does not hold any more.
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

    /// The incomplete value at a frame's end is counted by its field.
    private static func cutOff(_ interpreter: BinaryInterpreter) -> SkipKind? {
        interpreter.frame.cutOff.map { SkipKind("cut-off-\($0.field)") }
    }

    /// Takes the beats of a frame out of its readings, and adds the series of a minute that is over. Returns how many those are. While our own
    /// clock is not set, there are no minutes.
    private func gatherHeartbeats(_ received: Instant, into output: inout Normaliser.Output) -> Int {
        guard gathersHeartbeats, received >= Normaliser.earliestHub else { return closeHeartbeats(into: &output) }
        var finished: [Reading] = []
        let heard = beats.heard
        beats.take(&readings, received: received, into: &finished)
        add(finished, received: heard, into: &output)
        return finished.count
    }

    /// From when the device counts, for all its channels.
    private func learnSession(_ start: Timestamp?) {
        sessionStart = start
        for interpreter in interpreters.values { interpreter.sessionStart = start }
    }

    private static let unsealed = SkipKind("unsealed")

    /// Whether it is an advertisement in plain, which anybody may send, of a device that encrypts them.
    private func isUnsealed(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> Bool {
        adopted.bindKey != nil && frame.channel.hasPrefix("advert:") && !interpreter.frame.isSealed
    }

    /// Why a frame does not count that the device itself has not sent, or not now.
    private func sentByOthers(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> SkipKind? {
        if isUnsealed(frame, interpreter) { return Self.unsealed }
        guard let counter = interpreter.frame.counter else { return nil }
        return seals.takes(Int64(counter), after: &adopted.counter) ? nil : SkipKind("replayed")
    }

    /// Whether somebody is to be told that it seems to count its encrypted frames anew; true once.
    func takeCountingAnew() -> Bool { seals.takeNews() }

    /// Whether somebody is to be told that it sends more than is taken; true once.
    func takeFlood() -> Bool {
        let (one, other) = (flood.takeNews(), refusedFlood.takeNews())
        guard one || other, !toldOfFlood else { return false }
        toldOfFlood = true
        return true
    }

    /// Holds back a measurement as a whole whose time cannot be trusted, and whatever arrives while our own clock is not set. All rules on
    /// timestamps of live devices meet here; ``MeasurementIdentity`` says by what such a measurement is known.
    private func judgeTime(_ samples: inout [GatedSample], from first: Int, _ frame: RawFrame, received: Instant) {
        let isHubLost = frame.received < Normaliser.earliestHub
        let own = samples[first...].firstIndex { $0.place == frame.place }
        // A time with its zone is no wall clock's, and is not corrected.
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

    /// For all samples of the frame alike, whatever the first of them shows.
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

    /// What comes of a whole memory waits for its end.
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

    /// Before every sensor, or more than a day ahead.
    private static func isImpossible(_ sample: Sample) -> Bool {
        sample.start < Normaliser.earliest || sample.start.microseconds &- sample.received.microseconds > Calendar.day
    }

    /// Stamps that lie as far apart as their arrivals, three times in a row, are of readings that were sent when they were taken: what the
    /// clock shows otherwise than ours is its error. Two could be of a memory that is sent in a hurry.
    private func compare(_ shown: WallTime, at received: Instant) {
        if let last = stamps.last {
            let apart = received.microseconds &- last.received.microseconds
            // The same reading once more, or the next of a memory, tells nothing.
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

    /// What three stamps have shown holds as long as the stamps say so: a clock that somebody sets, or that loses its battery, is another.
    private func forgetWhatStampsShowed(_ received: Instant) {
        guard isLearnedFromStamps, case .wall(let start, _, _)? = readings.first?.time, let learned = normaliser.learnedClock
        else { return }
        let taken = start.microseconds &- learned.ahead(at: start)
        guard (received.microseconds &- taken).magnitude >= UInt64(StampTrust.fresh) else { return }
        normaliser.learnedClock = nil
        isLearnedFromStamps = false
    }

    /// What is known of a device's clock.
    struct ClockFacts: Equatable {
        /// Whether it was compared with ours.
        var isKnown = false
        /// Where it is off.
        var learned: LearnedClock?
        var isLearnedFromStamps = false
    }

    /// What a recording that begins in the middle has to know.
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

    /// Takes up what was known of its clock before the hub was started, once it has said who it is. That was learned from stamps, where nobody
    /// can read the clock, and holds as long as the next ones say so.
    private func recallClock() {
        guard let lastComparison else { return }
        self.lastComparison = nil
        guard !hasRecords, !isClockKnown, normaliser.learnedClock == nil, let ahead = lastComparison(key)?.ahead else { return }
        normaliser.learnedClock = LearnedClock(ahead: ahead)
        isLearnedFromStamps = true
    }

    /// A stamp of just now. Of a device without records it says nothing of its next one.
    private func prove(_ shown: WallTime, at received: Instant) {
        guard hasRecords else { return stamps.removeAll() }
        if !isClockKnown {
            evidence = ClockComparison(
                device: key, shown: shown.microseconds, received: received.microseconds, ahead: nil)
        }
        isClockKnown = true
    }

    /// What a fresh reading has shown of its clock, once.
    func takeEvidence() -> ClockComparison? {
        defer { evidence = nil }
        return evidence
    }

    /// What comes from now on, up to the next settling, is the device's whole memory.
    public func beginRecords() { records = RecordOrdinals() }

    /// Settles what was held back for its time.
    func finishStream(into output: inout Normaliser.Output) {
        records = nil
        releaseMemory(into: &output)
        let first = output.samples.count
        path.finish(into: &output)
        for index in first..<output.samples.count where output.samples[index].rule == nil {
            if Self.isImpossible(output.samples[index].sample) { output.samples[index].rule = .clockUnknown }
        }
    }

    /// Its clock was so far ahead of a right one in our zone, and so far ahead of UTC, in microseconds, when we read it. Returns by how many
    /// seconds it is off, where that counts.
    func learn(ahead: Int64, ofUTC: Int64, received: Instant, into output: inout Normaliser.Output) -> Int64? {
        // What came before goes by the clock of before.
        finishStream(into: &output)
        // A hub whose own clock is not set has nothing to compare with.
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

    /// Our own clock was set, by so many microseconds: what was learned by comparing it is worth that much less.
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

    /// What a channel advertised last.
    private struct Advert: Codable {
        var bytes: [UInt8]
        /// In microseconds.
        var heard: Int64
        /// What was refused is read again once the device has another key or profile.
        var wasRead = false
    }

    // MARK: Restarts

    /// All that is known of the stream and does not follow from what is stored.
    private struct State: Codable {
        var trust: StampTrust
        var order: RecordOrder
        var repeats: RepeatedReadings
        var joins: FrameJoin
        var adverts: [String: Advert]
        var stamps: [[Int64]]
        var isClockKnown: Bool
        /// Where a clock is right that was compared.
        var zone: String
        var learned: [[Int64]]
        var isLearnedFromStamps: Bool
        var weighed: Int64?
        var weigher: String?
    }

    /// What a later run of the hub has to know; `nil` before the first frame.
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

    /// Takes up what was known before a restart. A state of a later time than the frame is of another run of events, as in a replay.
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

    /// What a capture says of the clock counts first. By how much a clock is ahead of UTC holds in every zone, that it is right only in its own.
    private func recallClock(_ state: State) {
        guard !isClockKnown, normaliser.learnedClock == nil else { return }
        lastComparison = nil
        let points = state.learned.filter { $0.count == 2 }.map { (shown: $0[0], ahead: $0[1]) }
        if !points.isEmpty { normaliser.learnedClock = LearnedClock(points: points) }
        isLearnedFromStamps = state.isLearnedFromStamps && !points.isEmpty
        isClockKnown = state.isClockKnown && (!points.isEmpty || state.zone == zone.identifier)
    }

    /// The same octets again in the same row of advertisements are the same measurement.
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
