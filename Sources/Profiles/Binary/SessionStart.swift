import HealthModel

/// What a frame says of when the sensor's session began, from which other frames count their minutes.
public struct SessionStart: Sendable {
    /// `nil` where the device does not know it.
    public var timestamp: Timestamp?
}

extension BinaryInterpreter {
    /// Whether the channel's frames say when the session began.
    public var tellsSession: Bool { channel.session != nil }

    /// What the frame that was decoded last says of the session's start; `nil` where its channel says nothing of that. A zone that is not known
    /// leaves the time a local one; what is more than 18 hours from UTC is no start: octets that say so are damaged, and so may be the date.
    public func toldSession() -> SessionStart? {
        guard let rule = channel.session else { return nil }
        guard let start = frame.last(rule.start, record: -1), let wall = DeviceDateTime(packed: start.raw).wallTime else {
            return SessionStart(timestamp: nil)
        }
        guard let zone = quarters(rule.zone), let summer = quarters(rule.summerTime) else {
            return SessionStart(timestamp: Timestamp(wall: wall, offset: nil))
        }
        let offset = (zone + summer) * 900
        guard abs(offset) <= 18 * 3600 else { return SessionStart(timestamp: nil) }
        return SessionStart(timestamp: Timestamp(wall: wall, offset: ZoneOffset(seconds: Int32(offset))))
    }

    private func quarters(_ field: Int32) -> Int64? {
        frame.last(field, record: -1).flatMap { $0.kind == .number ? $0.raw : nil }
    }
}
