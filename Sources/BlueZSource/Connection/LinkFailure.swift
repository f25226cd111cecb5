import SystemdKit

/// The meaning of a failed operation for the link.
enum LinkFailure: Hashable, Sendable {
    /// No answer at all. BlueZ or the device is stuck.
    case noAnswer
    /// The device did not answer the connection attempt.
    case absent
    /// BlueZ is already doing this, or has not finished the last operation.
    case inProgress
    /// The adapter is off.
    case notReady
    case notConnected
    /// A bond is missing or no longer valid.
    case authentication
    /// D-Bus policy denies access. This is not the device's fault.
    case accessDenied
    /// The attribute is not at the place in the cached table (story 7).
    case stale
    /// A program receives the notifications already. BlueZ 5.66 also returns this error after the device refused to enable them: it never
    /// answers that request, and keeps its socket until it forgets the device.
    case acquired
    /// A record access procedure is already running (ATT 0xFE).
    case procedureRunning
    /// BlueZ does not know the object: the device was removed, or the daemon restarted.
    case unknownObject
    case other

    init(_ error: BusError) {
        self = Self.names[error.name] ?? .other
        let text = error.message.lowercased()
        switch error.name {
        case "org.bluez.Error.NotPermitted" where text.contains("not paired"):
            // src/gatt-client.c returns this for insufficient authentication and encryption (ATT 0x05, 0x0F, 0x0C).
            self = .authentication
        case "org.bluez.Error.NotPermitted" where text.contains("write not permitted"):
            // ATT 0x03. A descriptor that enables notifications can be written, so something else is at its handle now. BlueZ 5.66 keeps
            // such a table if Service Changed names only a part of what moved: it stores the new database hash with the old table.
            self = .stale
        case "org.bluez.Error.NotPermitted" where text.contains("notify acquired"): self = .acquired
        case "org.bluez.Error.Failed":
            if text.contains("att error: 0x01") || text.contains("att error: 0x0a") {
                // Invalid Handle or Attribute Not Found: the table differs from the cached one.
                self = .stale
            } else if text.contains("att error: 0x05") || text.contains("att error: 0x0f") {
                self = .authentication
            } else if text.contains("att error: 0xfe") {
                self = .procedureRunning
            } else if text.contains("abort") || text.contains("timeout") || text.contains("host is down")
                || text.contains("page-timeout")
            {
                self = .absent
            } else if text.contains("not connected") {
                self = .notConnected
            } else if text.contains("in progress") {
                self = .inProgress
            }
        default: break
        }
    }

    private static let names: [String: LinkFailure] = [
        "org.freedesktop.DBus.Error.NoReply": .noAnswer,
        "org.freedesktop.DBus.Error.Timeout": .noAnswer,
        "org.freedesktop.DBus.Error.AccessDenied": .accessDenied,
        "org.freedesktop.DBus.Error.UnknownObject": .unknownObject,
        "org.freedesktop.DBus.Error.UnknownMethod": .unknownObject,
        "org.freedesktop.DBus.Error.ServiceUnknown": .unknownObject,
        "org.freedesktop.DBus.Error.Disconnected": .unknownObject,
        "org.bluez.Error.DoesNotExist": .unknownObject,
        "org.bluez.Error.InProgress": .inProgress,
        "org.bluez.Error.NotReady": .notReady,
        "org.bluez.Error.NotConnected": .notConnected,
        "org.bluez.Error.AuthenticationFailed": .authentication,
        "org.bluez.Error.AuthenticationRejected": .authentication,
        "org.bluez.Error.AuthenticationCanceled": .authentication,
        "org.bluez.Error.AuthenticationTimeout": .authentication,
        "org.bluez.Error.NotAuthorized": .authentication,
        "org.bluez.Error.ConnectionAttemptFailed": .absent,
        "org.bluez.Error.NotSupported": .stale,
    ]
}
