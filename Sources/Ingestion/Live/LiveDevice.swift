import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// An adopted device in the path from frames to samples: its interpreters, one for each channel, its clock and its activity.
package final class LiveDevice {
    /// The stored facts about the device. A source that learns something changes them and calls ``LiveIngest/remember(_:)``.
    package var adopted: AdoptedDevice
    /// The interval between its deliveries while it works, if its profile defines one.
    package var expectedInterval: Duration?
    /// The person who was weighed last, if the device is shared, and when.
    var lastWeighing: (start: Instant, person: String)?
    /// If the last frame repeated a weight: the time of that weight, and the receive time of the frame's other readings.
    var weightAgain: (taken: Instant, received: Instant)?
    /// Its deliveries since this object was created, and its battery level.
    package internal(set) var activity = DeviceActivity()
    var profiles: [Profile]
    let registry: OriginRegistry
    let aliases: [String: String]
    package let zone: TimeZoneRules
    let path: ReadingPath
    var normaliser: Normaliser { path.normaliser }
    /// The frames' sender, as last reported by the source.
    var device: Device?
    var interpreters: [String: BinaryInterpreter] = [:]
    var sessionStart: Timestamp?
    var readings: [Reading] = []
    var joins = FrameJoin()
    var adverts: [String: ReceivedAdverts] = [:]
    var repeats = RepeatedReadings()
    /// Whether its timestamps are trusted if its clock cannot be read, and if its clock is known.
    var trust = StampTrust()
    var order = RecordOrder()
    /// The samples of a memory that is being read. The order of its records shows which timestamps are wrong.
    var memory: [GatedSample] = []
    /// Returns the state before a restart. Called once.
    var lastState: ((String) -> DeviceState?)?
    /// The receive time of the last frame.
    var lastReceived: Instant?

    /// The maximum number of samples of a memory that are judged together.
    static let maximumMemory = 100_000
    var beats = HeartbeatMinutes()
    var records: RecordOrdinals?
    var seals = SealCount()
    var flood = FloodCap(perSecond: FloodCap.defaultLimit)
    var didReportFlood = false
    /// The limit for rejected readings. It is separate so that someone without the device's key cannot use up the device's own
    /// limit.
    var refusedFlood = FloodCap(perSecond: FloodCap.defaultLimit)

    /// The maximum error in microseconds of a clock that counts as right. Some devices have no seconds to set.
    static let clockTolerance: Int64 = 10_000_000
    /// Whether it advertises, so that it has no stored readings to deliver one by one.
    var isAdvertiser = false
    /// Whether it delivers records of its memory, whose times cannot be trusted until its clock is known.
    package var hasRecords = false
    /// Returns the last stored comparison of its clock with ours, by device key. Called once.
    var lastComparison: ((String) -> ClockComparison?)?
    /// Whether it delivers continuously and stores nothing, so that it does not wait for an acknowledgement.
    var isStream: Bool { expectedInterval != nil && !hasRecords }
    /// Whether BlueZ has confirmed its last frame to it, as it does with each indication. The device may then forget the measurement.
    var isConfirmedAtOnce: Bool { receivedByGATT && !isStream && records == nil }
    var receivedByGATT = false
    /// The boot of our machine, while nothing has confirmed its clock.
    var unconfirmedBoot: String?
    /// The boot whose unconfirmed clock the device's clock was compared with, or `nil` if our clock was right.
    var learnedIn: String?
    /// Whether a comparison with our clock replaces what is known. One with an unconfirmed clock does not replace an error from before.
    var canCompare: Bool { unconfirmedBoot == nil || unconfirmedBoot == learnedIn }
    /// Whether its clock was compared with ours.
    var isClockKnown = false
    var evidence: ClockComparison?
    /// Arrivals that agree with one another while the clock is not known.
    var arrivals = ArrivalAgreement()
    /// Whether the clock's error was derived from its timestamps alone.
    var isLearnedFromStamps = false

    /// - Parameter profiles: the profiles of the device that exist.
    package init(_ adopted: AdoptedDevice, profiles: [Profile], aliases: [String: String], zone: TimeZoneRules) {
        self.adopted = adopted
        self.profiles = profiles
        self.aliases = aliases
        self.zone = zone
        let own = adopted.ownKey
        registry = OriginRegistry(person: adopted.person) { key in aliases[own ?? key] ?? own ?? key }
        path = ReadingPath(zone: zone, received: Instant(seconds: 0))
        path.normaliser.isLive = true
        device = adopted.device
    }

    /// The device's current key, as last reported and after aliases.
    package var key: String {
        let own = adopted.ownKey ?? device?.key ?? adopted.device?.key ?? adopted.key
        return aliases[own] ?? own
    }

    /// Returns the same device in another zone with its state. Readings held for their time have to be settled before.
    package func moved(to zone: TimeZoneRules) -> LiveDevice {
        let other = LiveDevice(adopted, profiles: profiles, aliases: aliases, zone: zone)
        (other.expectedInterval, other.hasRecords, other.activity) = (expectedInterval, hasRecords, activity)
        (other.readingsPerSecond, other.gathersHeartbeats) = (readingsPerSecond, gathersHeartbeats)
        // The difference from UTC is the same in all zones. A clock that was right in the old zone, or nearly so, is compared again.
        if normaliser.learnedClock?.followsZone == false { other.clockFacts = clockFacts }
        (other.unconfirmedBoot, other.learnedIn) = (unconfirmedBoot, learnedIn)
        other.lastComparison = lastComparison
        other.lastState = { [state] _ in state }
        return other
    }

    /// Replaces the profiles from the next frame on.
    package func read(by profiles: [Profile]) {
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
    package var readingsPerSecond: Int {
        get { flood.perSecond }
        set {
            flood.perSecond = newValue
            refusedFlood.perSecond = newValue
        }
    }

    /// Whether the intervals between heartbeats are stored as one series a minute instead of single samples.
    package var gathersHeartbeats = false

    /// The receive time of the last beats if some wait for their minute to end.
    var lastHeartbeatReceived: Instant? { beats.isEmpty ? nil : beats.lastReceived }

    /// Ends the open series of heartbeats. Returns the number of readings.
    func closeHeartbeats(into output: inout Normaliser.Output) -> Int {
        var finished: [Reading] = []
        let lastReceived = beats.lastReceived
        beats.close(into: &finished)
        add(finished, received: lastReceived, into: &output)
        return finished.count
    }

    /// Adds series of heartbeats, whose times come from our own clock.
    func add(_ series: [Reading], received: Instant?, into output: inout Normaliser.Output) {
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
        receivedByGATT = frame.channel.hasPrefix("gatt:")
        let arrived = frame.hearing?.arrived ?? frame.received
        recallState(before: arrived)
        recallClock()
        lastReceived = arrived
    }

    /// The frames' sender, as last reported by the source.
    package var sender: Device? { device }

    /// - Parameter uptime: the current uptime, which does not jump.
    func interpret(_ frame: RawFrame, at uptime: Duration, into output: inout Normaliser.Output) -> Outcome {
        if Self.isDoubtful(frame) { return interpretDoubtful(frame, at: uptime, into: &output) }
        if let kind = alreadyReceived(frame) { return .skipped(kind) }
        guard let interpreter = interpreter(for: frame.channel) else { return .skipped(SkipKind("no-profile")) }
        readings.removeAll(keepingCapacity: true)
        // If the new session cannot be read, the old one is no longer valid.
        if interpreter.containsSessionStart { learnSession(nil) }
        do throws(Refusal) {
            let outcome = try interpreter.interpret(frame, into: &readings)
            guard canBeRead(frame, interpreter) else { return .skipped(Self.replayed) }
            if let kind = sentByOthers(frame, interpreter) { return .skipped(kind) }
            if let session = interpreter.decodedSessionStart() { learnSession(session.timestamp) }
            switch outcome {
            case .readings:
                let leftOut = repeats.leaveOut(
                    of: &readings, number: interpreter.packetNumber, within: interpreter.repeatsWithin, frame)
                adverts[frame.channel]?.markRead(by: frame.receiver)
                if let leftOut, readings.isEmpty { return .skipped(leftOut.kind) }
                if frame.channel.hasPrefix("advert:"), !flood.accepts(readings.count, at: uptime) {
                    return .skipped(SkipKind("flood"))
                }
                records?.number(&readings)
                let received = joins.join(
                    &readings, isPart: interpreter.isPart, follows: interpreter.follows, frame)
                weightAgain = leftOut?.weightTaken.map { ($0, received) }
                dropContradictedClockError(frame.received)
                let gathered = gatherHeartbeats(received, into: &output)
                let first = output.samples.count
                path.process(readings, of: frame, received: received, into: &output)
                if learnsFromArrival(output.samples[first...], frame) {
                    // Now its time can be corrected.
                    output.samples.removeSubrange(first...)
                    path.process(readings, of: frame, received: received, into: &output)
                }
                quarantineUntrustedTimes(&output.samples, from: first, frame, received: received)
                bufferMemoryRecords(&output, from: first)
                return .readings(readings.count + gathered, leftOut: leftOut?.kind ?? Self.cutOff(interpreter))
            case .skipped(let kind):
                if let description = interpreter.frameDescription() { joins.learn(description, at: frame.place) }
                return .skipped(kind)
            case .characteristics, .notData: return .skipped(SkipKind("no-data"))
            }
        } catch {
            if frame.hearing?.replay != nil { return .skipped(Self.replayed) }
            if isUnsealed(frame, interpreter) { return .skipped(Self.unsealed) }
            if frame.channel.hasPrefix("advert:"), !refusedFlood.accepts(error.readings, at: uptime) {
                return .skipped(SkipKind("flood"))
            }
            output.refusals.append(error)
            return .readings(error.readings)
        }
    }

    /// Counts the incomplete value at a frame's end by its field.
    static func cutOff(_ interpreter: BinaryInterpreter) -> SkipKind? {
        interpreter.frame.cutOff.map { SkipKind("cut-off-\($0.field)") }
    }

    /// Takes the beats out of a frame's readings and adds the series of a finished minute. Returns the number of these series.
    /// There are no minutes until our own clock is set.
    func gatherHeartbeats(_ received: Instant, into output: inout Normaliser.Output) -> Int {
        guard gathersHeartbeats, PlausibleClock.allows(received) else { return closeHeartbeats(into: &output) }
        var finished: [Reading] = []
        let lastReceived = beats.lastReceived
        beats.take(&readings, received: received, into: &finished)
        add(finished, received: lastReceived, into: &output)
        return finished.count
    }

    /// Sets the start of the device's time count for all channels.
    func learnSession(_ start: Timestamp?) {
        sessionStart = start
        for interpreter in interpreters.values { interpreter.sessionStart = start }
    }

    static let unsealed = SkipKind("unsealed")

    /// Whether it is an unencrypted advertisement of a device that encrypts them. Anyone could send it.
    func isUnsealed(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> Bool {
        adopted.bindKey != nil && frame.channel.hasPrefix("advert:") && !interpreter.frame.isSealed
    }

    /// Returns why a frame is ignored: another sender may have made or replayed it.
    func sentByOthers(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> SkipKind? {
        if isUnsealed(frame, interpreter) { return Self.unsealed }
        guard let counter = interpreter.frame.counter else { return nil }
        return seals.accepts(Int64(counter), after: &adopted.counter) ? nil : SkipKind("replayed")
    }

    /// Whether to report that its counter of encrypted frames seems to have restarted. True once.
    func takeCounterRestartNotice() -> Bool { seals.takeUnreportedRestart() }

    /// Whether to report that it sends more than is accepted. True once.
    func takeFloodNotice() -> Bool {
        let (one, other) = (flood.takeUnreportedRejection(), refusedFlood.takeUnreportedRejection())
        guard one || other, !didReportFlood else { return false }
        didReportFlood = true
        return true
    }

    func interpreter(for channel: String) -> BinaryInterpreter? {
        if let known = interpreters[channel] { return known }
        guard let match = profiles.lazy.compactMap({ $0.match(channel: channel) }).first else { return nil }
        var options = BinaryOptions(sessionStart: sessionStart)
        options.secrets.bindKey = adopted.bindKey.flatMap(Self.bytes)
        options.secrets.address = adopted.bluetoothAddress.flatMap { Self.bytes($0.filter { $0 != ":" }) }
        let interpreter = BinaryInterpreter(match, registry: registry, device: device, options: options)
        interpreters[channel] = interpreter
        return interpreter
    }
}
