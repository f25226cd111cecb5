/// Why a call failed: D-Bus's name of the error, and its text for a person.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// D-Bus's name, such as `org.bluez.Error.Failed`; `System.Error.` and a number where a C function failed.
    public var name: String
    /// For a person; may be empty.
    public var message: String

    /// - Parameters:
    ///   - name: D-Bus's name of the error.
    ///   - message: for a person.
    public init(_ name: String, _ message: String = "") {
        self.name = name
        self.message = message
    }

    public var description: String { message.isEmpty ? name : "\(name): \(message)" }

    /// No answer within the time given; the peer may be stuck (story 1).
    public static let timeout = BusError("org.freedesktop.DBus.Error.NoReply", "no answer in time")
    /// The connection to the bus went away.
    public static let disconnected = BusError("org.freedesktop.DBus.Error.Disconnected", "the connection to D-Bus is gone")
    /// The message did not hold what its sender's documentation says.
    public static let unexpected = BusError("org.freedesktop.DBus.Error.InvalidArgs", "the answer has another form")

    /// The message holds more than anything that is documented.
    public static let tooLarge = BusError("org.freedesktop.DBus.Error.LimitsExceeded", "the answer is too large")

    /// A C function's negative error number.
    static func system(_ code: Int32, _ what: String) -> BusError {
        BusError("System.Error.\(-code)", "\(what): \(errorText(-code))")
    }
}
