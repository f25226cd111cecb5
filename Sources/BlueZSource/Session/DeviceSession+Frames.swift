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

    /// Hands a frame on, or keeps it until the device has said what it is: its readings are of one device, from the first on.
    /// - Parameter continues: it belongs to the frame before it, and has its place.
    func deliver(_ channel: String, _ bytes: [UInt8], continues: Bool = false) {
        if machine.lacksBond { return }
        held.append(HeldFrame(channel: channel, bytes: bytes, continues: continues, heard: loop.clock.uptime))
        if !isUndescribed || held.count >= Self.mostHeld { handOnHeld() }
    }

    /// Hands on what was kept, under the device as far as it is known.
    func handOnHeld() {
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

    /// The device will say what it is, and has not yet.
    private var isUndescribed: Bool {
        guard memory.device == nil, machine.state != .live else { return false }
        // Of what came on a link that is gone, the next one tells.
        return held.count > 1 || table.characteristics.keys.contains { $0.service == ConnectionPlan.deviceInformation }
    }
}
