import HealthModel
import Wire

package struct SerialDescription: Hashable, Sendable {
    /// The path of the port, which stays the same, such as `/dev/serial/by-id/…`.
    package var path: String
    /// The name of the channel for its frames.
    package var channel: String
    package var settings: SerialSettings
    package var framing: Framing
    /// Commands that are written when the line is open.
    package var opening: [[UInt8]] = []
    /// Bytes that are written repeatedly while the line is open, for devices that otherwise stop, or nil.
    package var keepAlive: (bytes: [UInt8], every: Duration)? {
        get { keepAliveBytes.isEmpty ? nil : (keepAliveBytes, keepAliveInterval) }
        set { (keepAliveBytes, keepAliveInterval) = newValue ?? ([], .zero) }
    }
    private var keepAliveBytes: [UInt8] = []
    private var keepAliveInterval = Duration.zero
    /// Commands that are written before the line is closed.
    package var closing: [[UInt8]] = []
    /// The protocol for reading its memory, or nil if it has none.
    package var meter: MeterKind?
    /// The device, as far as it is known.
    package var device: Device

    /// - Parameters:
    ///   - path: a path that stays the same each time the device is plugged in.
    ///   - channel: the name of the channel for its frames.
    package init(path: String, channel: String, settings: SerialSettings, framing: Framing, device: Device) {
        self.path = path
        self.channel = channel
        self.settings = settings
        self.framing = framing
        self.device = device
    }
}

/// The kinds of meters that send their memory on request.
package enum MeterKind: Hashable, Sendable {
    /// Meters, named by their protocol.
    case oneTouchUltra2, freeStyleOptium

    func dialogue() -> any MeterDialogue {
        switch self {
        case .oneTouchUltra2: OneTouchUltra2Dialogue()
        case .freeStyleOptium: FreeStyleOptiumDialogue()
        }
    }
}
