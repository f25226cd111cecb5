import EventLoopKit

/// The error of a failed call: its D-Bus name and its text.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The D-Bus name, such as `org.bluez.Error.Failed`, or `System.Error.` and a number if a C function failed.
    package var name: String
    /// The text for users, possibly empty.
    package var message: String

    /// - Parameters:
    ///   - name: the D-Bus name of the error.
    ///   - message: the text for users.
    package init(_ name: String, _ message: String = "") {
        self.name = name
        self.message = message
    }

    package var description: String { message.isEmpty ? name : "\(name): \(message)" }

    /// No answer arrived in time. The peer may be stuck (story 1).
    package static let timeout = BusError("org.freedesktop.DBus.Error.NoReply", "no answer in time")
    package static let disconnected = BusError("org.freedesktop.DBus.Error.Disconnected", "the connection to D-Bus was lost")
    /// The message does not have the documented form.
    package static let unexpected = BusError("org.freedesktop.DBus.Error.InvalidArgs", "the response has an unexpected form")

    /// The message contains more than any documented message.
    package static let tooLarge = BusError("org.freedesktop.DBus.Error.LimitsExceeded", "the response is too large")

    /// Returns the error for a C function's negative error number.
    static func system(_ code: Int32, _ action: String) -> BusError {
        BusError("System.Error.\(-code)", SystemFailure(action, -code).description)
    }
}
