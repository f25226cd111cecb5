/// The reason why a device does not deliver, for users.
extension ConnectionMachine {
    /// Returns the reason, or `nil` while the device delivers or only its next advertisement is missing.
    func waitsFor(_ address: BluetoothAddress) -> String? {
        switch state {
        case .live: told.contains(.silent) ? ConnectionNotice.silent.text(for: address) : nil
        case .stopped: "BlueZ does not know it: it was not heard, or there is no adapter"
        case .idle where description.presence == .adverts: nil
        case .idle: "it is not heard: out of range, asleep, or connected with another program" + becauseOfLast
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
        if case .leave = description.presence, lastFailure == nil { return "its rest to end: it has delivered" }
        return "the next attempt to connect"
    }

    private var becauseOfLast: String { lastFailure.map { "; the last attempt failed: \($0.words)" } ?? "" }
}

extension LinkFailure {
    /// The text for users.
    var words: String {
        switch self {
        case .noAnswer: "no answer came"
        case .absent: "it did not answer the call"
        case .inProgress: "BlueZ is busy with it"
        case .notReady: "the adapter is off"
        case .notConnected: "the link was lost"
        case .authentication: "it wants a bond, or does not accept the bond"
        case .accessDenied: "D-Bus denies it"
        case .stale: "its services are not where BlueZ thinks"
        case .procedureRunning: "it is busy with another request for its records"
        case .unknownObject: "BlueZ does not know it any more"
        case .other: "nothing of its profile could be enabled, or BlueZ gave no reason"
        }
    }
}
