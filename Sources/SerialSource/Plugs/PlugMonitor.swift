import Pipeline

/// A serial port that is plugged in, as udev describes it.
public struct SerialPlug: Hashable, Sendable {
    /// `/dev/ttyUSB0`: changes from plug to plug.
    public var node: String
    /// Names that stay: `/dev/serial/by-id/…`, `/dev/serial/by-path/…`.
    public var links: [String] = []
    /// USB vendor and product, four small hexadecimal digits; empty for a port that is no USB device.
    public var vendor = ""
    /// Four small hexadecimal digits, as `vendor`.
    public var product = ""
    /// The plug's own serial number, where it has one.
    public var serial: String?
    /// What the plug calls itself; empty where it says nothing.
    public var model = ""

    /// - Parameter node: such as `/dev/ttyUSB0`.
    public init(node: String) { self.node = node }

    /// The name to adopt it by: that of this very plug where it has a serial number, else that of the socket it is in.
    public var durablePath: String? {
        let byID = links.first { $0.hasPrefix("/dev/serial/by-id/") }
        // Makers that never set it leave the one of the data sheet (CP2102: 0001).
        if let byID, let serial, !serial.isEmpty, serial != "0001" { return byID }
        return links.first { $0.hasPrefix("/dev/serial/by-path/") } ?? byID
    }
}

/// A port came or went.
public enum PlugChange: Sendable {
    /// It can be opened from now on.
    case plugged(SerialPlug)
    /// Its node is gone.
    case unplugged(SerialPlug)
}

/// Tells which serial ports come and go.
public protocol PlugMonitor: AnyObject {
    /// - Throws: ``SourceError`` where it cannot be known.
    func start(_ handler: @escaping (PlugChange) -> Void) throws(SourceError)
    /// Tells no more; may be started again.
    func stop()
}
