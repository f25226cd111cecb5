import EventLoopKit
import HealthModel
import Pipeline

/// Handing frames on, each under the device that it is of.
extension DeviceSession {
    struct HeldFrame {
        var channel: String
        var bytes: [UInt8]
        var continues: Bool
        /// By the clock that nobody sets.
        var heard: Duration
    }

    /// More than an hour of a beat a second. What is more is not thrown away: it is handed on under what is known.
    private static let mostHeld = 4096
    /// As long as a stream's readings may wait for a commit (Decisions/0020): a power cut takes no more than that.
    static let longestHold = Duration.seconds(30)

    /// Hands a frame on, or keeps it until the device has said what it is: its readings are of one device, from the first on.
    /// - Parameters:
    ///   - continues: it belongs to the frame before it, and has its place.
    ///   - isAhead: it says something of frames that are kept, and is handed on before them.
    ///   - heard: where that was not just now.
    func deliver(_ channel: String, _ bytes: [UInt8], continues: Bool = false, isAhead: Bool = false, heard: Duration? = nil) {
        if machine.lacksBond { return }
        var frame = HeldFrame(channel: channel, bytes: bytes, continues: continues, heard: heard ?? loop.clock.uptime)
        if isAhead, let first = held.first {
            frame.heard = min(frame.heard, first.heard)
            held.insert(frame, at: 0)
        } else {
            held.append(frame)
        }
        if !isHeldBack || held.count >= Self.mostHeld { return handOnHeld() }
        guard holdTimer == nil else { return }
        holdTimer = loop.after(Self.longestHold) { [weak self] in
            guard let self else { return }
            holdsNoMore = true
            if memory.device == nil, !isKeyKnown { firstKey = device.key }
            handOnHeld()
        }
    }

    /// Hands on what was kept, where nothing is waited for any more.
    func releaseHeld() {
        guard !held.isEmpty else { return }
        switch machine.state {
        case .live, .working: if !isHeldBack { handOnHeld() }
        // What came on a link that is gone is of the device that the next one describes.
        case .stopped, .idle, .waiting, .queued, .connecting, .resolving, .leaving, .blocked:
            if memory.device != nil { handOnHeld() }
        }
    }

    /// Hands on what was kept, under the device as far as it is known.
    func handOnHeld() {
        holdTimer?.cancel()
        holdTimer = nil
        let waiting = held
        held = []
        for frame in waiting { handOn(frame) }
    }

    private func handOn(_ frame: HeldFrame) {
        if !frame.continues { frames += 1 }
        // The time of day may have been set while the frame was kept.
        let (seconds, attoseconds) = (loop.clock.uptime - frame.heard).components
        let received = Instant(microseconds: loop.clock.now.microseconds - seconds * 1_000_000 - attoseconds / 1_000_000_000_000)
        frame.bytes.withUnsafeBytes { raw in
            host.delegate?.received(
                RawFrame(
                    payload: .bytes(raw), place: Place(.record, frames), received: received, channel: frame.channel,
                    device: device),
                of: address)
        }
    }

    /// Whether the device will say what it is, how its clock goes or where its sensor sits, and has not yet.
    private var isHeldBack: Bool {
        if holdsNoMore { return false }
        switch machine.state {
        case .live: return false
        case .working(let step): return isAwaited(step) || machine.steps.contains(where: isAwaited)
        case .stopped, .idle, .waiting, .queued, .connecting, .resolving, .leaving, .blocked:
            // Of what came on a link that is gone, the next one tells.
            guard memory.device == nil else { return false }
            return held.count > 1 || table.characteristics.keys.contains { $0.service == ConnectionPlan.deviceInformation }
        }
    }

    private func isAwaited(_ step: ConnectionMachine.Step) -> Bool {
        switch step {
        case .information: memory.device == nil
        case .readClock: true
        case .read(let name): description.descriptions.contains(name)
        default: false
        }
    }
}
