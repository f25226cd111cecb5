import HealthModel

/// The start of the sensor's session, from which other frames count their minutes.
package struct SessionStart: Sendable {
    /// The start, or `nil` if the device does not know it.
    package var timestamp: Timestamp?
}

extension BinaryInterpreter {
    /// Whether the channel's frames contain the start of a session.
    package var containsSessionStart: Bool { channel.session != nil }

    /// Returns the session's start from the last decoded frame, or `nil` if its channel contains none. If the time zone is not known, the
    /// time is a local one. An offset of more than 18 hours from UTC yields no start, because the bytes are damaged and the date may be
    /// too.
    package func decodedSessionStart() -> SessionStart? {
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
