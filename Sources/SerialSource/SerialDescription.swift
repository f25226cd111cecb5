import HealthModel
import Wire

/// The description of a device on a serial line.
public struct SerialDescription: Hashable, Sendable {
    /// The path of the port, which stays the same, such as `/dev/serial/by-id/…`.
    public var path: String
    /// The name of the channel for its frames.
    public var channel: String
    /// The settings of the port.
    public var settings: SerialSettings
    /// The framing of the byte stream.
    public var framing: Framing
    /// Commands that are written when the line is open.
    public var opening: [[UInt8]] = []
    /// Bytes that are written repeatedly while the line is open, for devices that otherwise stop, or nil.
    public var keepAlive: (bytes: [UInt8], every: Duration)? {
        get { keepAliveBytes.isEmpty ? nil : (keepAliveBytes, keepAliveInterval) }
        set { (keepAliveBytes, keepAliveInterval) = newValue ?? ([], .zero) }
    }
    private var keepAliveBytes: [UInt8] = []
    private var keepAliveInterval = Duration.zero
    /// Commands that are written before the line is closed.
    public var closing: [[UInt8]] = []
    /// The protocol for reading its memory, or nil if it has none.
    public var meter: MeterKind?
    /// The device, as far as it is known.
    public var device: Device

    /// - Parameters:
    ///   - path: a path that stays the same each time the device is plugged in.
    ///   - channel: the name of the channel for its frames.
    public init(path: String, channel: String, settings: SerialSettings, framing: Framing, device: Device) {
        self.path = path
        self.channel = channel
        self.settings = settings
        self.framing = framing
        self.device = device
    }
}

/// The kinds of meters that send their memory on request.
public enum MeterKind: Hashable, Sendable {
    /// Meters, named by their protocol.
    case oneTouchUltra2, freeStyleOptium

    func dialogue() -> any MeterDialogue {
        switch self {
        case .oneTouchUltra2: OneTouchUltra2Dialogue()
        case .freeStyleOptium: FreeStyleOptiumDialogue()
        }
    }
}
