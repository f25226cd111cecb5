import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// The state that a restart of the hub keeps.
extension LiveDevice {
    /// The last advertisement of a channel, if it could be read.
    struct Advert: Codable {
        var bytes: [UInt8]
        /// The receive time in microseconds.
        var lastReceived: Int64
        var wasRead = true

        init?(_ adverts: ReceivedAdverts) {
            guard let last = adverts.runs.last, last.wasRead else { return nil }
            (bytes, lastReceived) = (last.bytes, last.last)
        }
    }

    /// The state of the stream that cannot be derived from stored samples.
    struct State: Codable {
        var trust: StampTrust
        var order: RecordOrder
        var repeats: RepeatedReadings
        var joins: FrameJoin
        var adverts: [String: Advert]
        var arrivals: ArrivalAgreement
        var isClockKnown: Bool
        /// The zone in which a compared clock is right.
        var zone: String
        var learned: [[Int64]]
        var followsZone: Bool
        var isLearnedFromStamps: Bool
        var weighed: Int64?
        var weigher: String?
        /// The boot whose clock was not confirmed when the state was stored, and the one with which the device's clock was compared.
        var boot: String?
        var learnedIn: String?
    }

    /// The state for a later run of the hub, or `nil` before the first frame.
    package var state: DeviceState? {
        guard let lastReceived else { return nil }
        let state = State(
            trust: trust, order: order, repeats: repeats, joins: joins, adverts: adverts.compactMapValues { Advert($0) },
            arrivals: arrivals,
            isClockKnown: isClockKnown, zone: zone.identifier,
            learned: (normaliser.learnedClock?.points ?? []).map { [$0.shown, $0.ahead] },
            followsZone: normaliser.learnedClock?.followsZone ?? false, isLearnedFromStamps: isLearnedFromStamps,
            weighed: lastWeighing?.start.microseconds, weigher: lastWeighing?.person, boot: unconfirmedBoot,
            learnedIn: unconfirmedBoot == nil ? nil : learnedIn)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let text = try? encoder.encode(state) else { return nil }
        return DeviceState(address: adopted.address, lastReceived: lastReceived, text: String(decoding: text, as: UTF8.self))
    }

    /// Restores the state from before a restart. A state newer than the frame belongs to other events, as in a replay.
    func recallState(before time: Instant) {
        guard let lastState else { return }
        self.lastState = nil
        guard let stored = lastState(adopted.address), stored.lastReceived < time,
            let state = try? JSONDecoder().decode(State.self, from: Data(stored.text.utf8))
        else { return }
        (trust, order, repeats, joins) = (state.trust, state.order, state.repeats, state.joins)
        adverts = state.adverts.mapValues { ReceivedAdverts(restored: $0.bytes, at: $0.lastReceived) }
        // Arrivals by another clock prove nothing.
        if state.boot == unconfirmedBoot { arrivals = state.arrivals }
        recallClock(state)
        if let weighed = state.weighed, let weigher = state.weigher {
            lastWeighing = (Instant(microseconds: weighed), weigher)
        }
    }

    /// Restores the clock's state unless a capture has set it. An error relative to UTC is valid in all zones, but a clock that
    /// is right, or nearly so, is so only in its own zone.
    func recallClock(_ state: State) {
        guard !isClockKnown, normaliser.learnedClock == nil else { return }
        lastComparison = nil
        // The power failed before our clock was set, so the error cannot be known.
        guard state.learnedIn == nil || state.learnedIn == unconfirmedBoot else { return }
        learnedIn = state.learnedIn
        let isValid = state.zone == zone.identifier
        let learned = state.followsZone && !isValid ? [] : state.learned
        let points = learned.filter { $0.count == 2 }.map { (shown: $0[0], ahead: $0[1]) }
        if !points.isEmpty { normaliser.learnedClock = LearnedClock(points: points, followsZone: state.followsZone) }
        isLearnedFromStamps = state.isLearnedFromStamps && !points.isEmpty
        isClockKnown = state.isClockKnown && (!points.isEmpty || isValid)
    }

    /// Returns the reason to skip an advertisement that this or another receiver has heard before, or `nil`.
    func alreadyReceived(_ frame: RawFrame) -> SkipKind? {
        guard frame.channel.hasPrefix("advert:"), case .bytes(let bytes) = frame.payload else { return nil }
        isAdvertiser = true
        let time = frame.received.microseconds
        if let replay = frame.hearing?.replay,
            adverts[frame.channel]?.knows(bytes, receivedAt: replay == .timed ? time : nil) == true
        {
            return Self.replayed
        }
        // Whether a receiver's memory is a reading is known after it was decoded.
        guard frame.hearing?.replay == nil else { return nil }
        switch adverts[frame.channel, default: ReceivedAdverts()].receive(bytes, by: frame.receiver, at: time) {
        case .new: return nil
        case .repeated: return SkipKind("repeated-advert")
        case .unknown: return SkipKind("late-advert")
        }
    }

    /// Whether a decoded frame is a measurement of its time. A receiver's memory is one only if the device counts or dates its readings.
    func canBeRead(_ frame: RawFrame, _ interpreter: BinaryInterpreter) -> Bool {
        guard let replay = frame.hearing?.replay, case .bytes(let bytes) = frame.payload else { return true }
        let isCounted = interpreter.packetNumber != nil || interpreter.frame.counter != nil
        let isDated = !readings.isEmpty && readings.allSatisfy { $0.time != .receipt }
        guard isDated || isCounted && replay == .timed else { return false }
        return adverts[frame.channel, default: ReceivedAdverts()].receive(
            bytes, by: frame.receiver, at: frame.received.microseconds)
            == .new
    }

    static let replayed = SkipKind("replayed-advert")

    static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}

extension RawFrame {
    /// The receiver's name, empty for the hub's own radio.
    var receiver: String { hearing?.receiver ?? "" }
}
