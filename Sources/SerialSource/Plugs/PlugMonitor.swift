import Pipeline

/// A serial port that is plugged in, as described by udev.
package struct SerialPlug: Hashable, Sendable {
    /// The device node, such as `/dev/ttyUSB0`, which changes each time it is plugged in.
    package var node: String
    /// Names that stay the same: `/dev/serial/by-id/…`, `/dev/serial/by-path/…`.
    package var links: [String] = []
    /// The USB vendor in four lowercase hexadecimal digits, or empty if the port is not a USB device.
    package var vendor = ""
    /// The USB product in four lowercase hexadecimal digits, or empty like `vendor`.
    package var product = ""
    /// The adapter's own serial number, if it has one.
    package var serial: String?
    /// The adapter's model name, or empty.
    package var model = ""

    /// - Parameter node: a device node such as `/dev/ttyUSB0`.
    package init(node: String) { self.node = node }

    /// The path under which to adopt the device: the adapter's own path if it has a serial number, otherwise the path of the USB socket.
    package var durablePath: String? {
        let byID = links.first { $0.hasPrefix("/dev/serial/by-id/") }
        // Some makers never set the number and leave the data sheet's default (CP2102: 0001).
        if let byID, let serial, !serial.isEmpty, serial != "0001" { return byID }
        return links.first { $0.hasPrefix("/dev/serial/by-path/") } ?? byID
    }
}

/// A change of a serial port.
package enum PlugChange: Sendable {
    /// The port can be opened from now on.
    case plugged(SerialPlug)
    /// The port's node was removed.
    case unplugged(SerialPlug)
}

/// Reports when serial ports are plugged in or removed.
package protocol PlugMonitor: AnyObject {
    /// - Throws: ``SourceError`` if changes cannot be monitored.
    func start(_ handler: @escaping (PlugChange) -> Void) throws(SourceError)
    /// Stops the reports. It may be started again.
    func stop()
}
