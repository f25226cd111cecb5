/// The reason why a device does not deliver, for users.
extension ConnectionMachine {
    /// Returns the reason, or `nil` while the device delivers or only its next advertisement is missing.
    func waitsFor(_ address: BluetoothAddress) -> String? {
        switch state {
        case .live: reportedNotices.contains(.silent) ? ConnectionNotice.silent.text(for: address) : nil
        case .stopped: "BlueZ does not know the device: it was not in range, or there is no adapter"
        case .idle where description.presence == .adverts: nil
        case .idle: "the device is out of range, asleep, or connected to another program" + becauseOfLast
        case .waiting: waiting + becauseOfLast
        case .queued: "its turn to connect"
        case .connecting: "the connection"
        case .resolving: "its services"
        case .working(let step): step.waitedFor
        case .leaving: "the end of the connection"
        case .blocked(let notice): notice.text(for: address)
        }
    }

    private var waiting: String {
        if case .leave = description.presence, lastFailure == nil { return "a pause after its last readings" }
        return "the next attempt to connect"
    }

    private var becauseOfLast: String { lastFailure.map { " (the last attempt failed: \($0.words))" } ?? "" }
}

extension LinkFailure {
    var words: String {
        switch self {
        case .noAnswer: "no response"
        case .absent: "the device did not respond"
        case .inProgress: "BlueZ is busy with the device"
        case .notReady: "the adapter is off"
        case .notConnected: "the link was lost"
        case .authentication: "the device requires pairing, or rejects the bond"
        case .accessDenied: "D-Bus denies access"
        case .stale: "BlueZ's cached services are out of date"
        case .acquired: "another program receives the notifications"
        case .procedureRunning: "the device is busy with another request for its records"
        case .unknownObject: "BlueZ no longer knows the device"
        case .other: "no characteristic of its profile could be enabled, or BlueZ gave no reason"
        }
    }
}
