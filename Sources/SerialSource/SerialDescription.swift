import HealthModel
import Wire

/// What the source has to know of a device on a serial line.
public struct SerialDescription: Hashable, Sendable {
    /// Where it is plugged in: a path that stays the same, such as `/dev/serial/by-id/…`.
    public var path: String
    /// What its frames are called.
    public var channel: String
    /// How octets are sent.
    public var settings: SerialSettings
    /// How frames are found in them.
    public var framing: Framing
    /// Written when the line is open.
    public var opening: [[UInt8]] = []
    /// Written again and again while the line is open, for devices that stop without it; nil for all others.
    public var keepAlive: (octets: [UInt8], every: Duration)? {
        get { keepAliveOctets.isEmpty ? nil : (keepAliveOctets, keepAliveInterval) }
        set { (keepAliveOctets, keepAliveInterval) = newValue ?? ([], .zero) }
    }
    private var keepAliveOctets: [UInt8] = []
    private var keepAliveInterval = Duration.zero
    /// Written before it is closed.
    public var closing: [[UInt8]] = []
    /// How its memory is asked for, where it has one.
    public var meter: MeterKind?
    /// Who it is, as far as that is known.
    public var device: Device

    /// - Parameters:
    ///   - path: one that stays the same from plug to plug.
    ///   - channel: what its frames are called.
    public init(path: String, channel: String, settings: SerialSettings, framing: Framing, device: Device) {
        self.path = path
        self.channel = channel
        self.settings = settings
        self.framing = framing
        self.device = device
    }
}

/// Meters that tell their memory when they are asked.
public enum MeterKind: Hashable, Sendable {
    /// By the protocol that the meter speaks.
    case oneTouchUltra2, freeStyleOptium

    func dialogue() -> any MeterDialogue {
        switch self {
        case .oneTouchUltra2: OneTouchUltra2Dialogue()
        case .freeStyleOptium: FreeStyleOptiumDialogue()
        }
    }
}
