import EventLoopKit
import HealthModel
import Pipeline

extension DeviceSession {
    struct BufferedFrame {
        var channel: String
        var bytes: [UInt8]
        var continues: Bool
        /// The monotonic time of receipt.
        var received: Duration
    }

    /// More than an hour of one beat a second. Further frames are not dropped but passed on with the device known so far.
    private static let maximumBufferedFrames = 4096
    /// The time for which a stream's readings may wait for a commit (Decisions/0020), which limits the loss in a power cut.
    static let maximumBufferTime = Duration.seconds(30)

    /// Passes on a frame, or keeps it until the device has identified itself, so that all its readings belong to one device.
    /// - Parameters:
    ///   - continues: whether it belongs to the previous frame and shares its place.
    ///   - isAhead: whether it describes held frames and is passed on before them.
    ///   - received: the time of receipt, or nil for now.
    func deliver(_ channel: String, _ bytes: [UInt8], continues: Bool = false, isAhead: Bool = false, received: Duration? = nil) {
        if machine.lacksBond { return }
        var frame = BufferedFrame(channel: channel, bytes: bytes, continues: continues, received: received ?? loop.clock.uptime)
        if isAhead, let first = bufferedFrames.first {
            frame.received = min(frame.received, first.received)
            bufferedFrames.insert(frame, at: 0)
        } else {
            bufferedFrames.append(frame)
        }
        if !isAwaitingDescription || bufferedFrames.count >= Self.maximumBufferedFrames { return deliverBuffered() }
        guard bufferTimer == nil else { return }
        bufferTimer = loop.after(Self.maximumBufferTime) { [weak self] in
            guard let self else { return }
            isBufferingDisabled = true
            if memory.device == nil, !isKeyKnown { firstKey = device.key }
            deliverBuffered()
        }
    }

    /// Passes on the held frames if they have nothing more to wait for.
    func deliverBufferedIfReady() {
        guard !bufferedFrames.isEmpty else { return }
        switch machine.state {
        case .live, .working: if !isAwaitingDescription { deliverBuffered() }
        // Frames from an ended link belong to the device that identifies itself on the next one.
        case .stopped, .idle, .waiting, .queued, .connecting, .resolving, .leaving, .blocked:
            if memory.device != nil { deliverBuffered() }
        }
    }

    /// Passes on the held frames with the device as far as it is known.
    func deliverBuffered() {
        bufferTimer?.cancel()
        bufferTimer = nil
        let waiting = bufferedFrames
        bufferedFrames = []
        for frame in waiting { handOn(frame) }
    }

    private func handOn(_ frame: BufferedFrame) {
        if !frame.continues { frames += 1 }
        // The clock may have been set while the frame was held.
        let (seconds, attoseconds) = (loop.clock.uptime - frame.received).components
        let received = Instant(microseconds: loop.clock.now.microseconds - seconds * 1_000_000 - attoseconds / 1_000_000_000_000)
        frame.bytes.withUnsafeBytes { raw in
            host.delegate?.received(
                RawFrame(
                    payload: .bytes(raw), place: Place(.record, frames), received: received, channel: frame.channel,
                    device: device),
                of: address)
        }
    }

    /// Whether the device's identity, clock or sensor location is still to be read.
    private var isAwaitingDescription: Bool {
        if isBufferingDisabled { return false }
        switch machine.state {
        case .live: return false
        case .working(let step): return isAwaited(step) || machine.steps.contains(where: isAwaited)
        case .stopped, .idle, .waiting, .queued, .connecting, .resolving, .leaving, .blocked:
            // For frames from an ended link, the next link identifies the device.
            guard memory.device == nil else { return false }
            return bufferedFrames.count > 1
                || table.characteristics.keys.contains { $0.service == ConnectionPlan.deviceInformation }
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
