/// Distinguishes the echo of a read from values that a device sends. BlueZ writes a read value into its table and signals the change of
/// `Value` to all programs. The signal comes before the answer (src/gatt-client.c, `chrc_read_cb`) or, in other versions, after it.
struct ReadEchoes {
    /// The last signaled value for each pending read.
    private var reading: [CharacteristicName: [UInt8]?] = [:]
    /// Finished reads without an echo so far.
    private var expected: [CharacteristicName: (value: [UInt8], until: Duration)] = [:]

    /// The time limit for an echo, which comes with the answer.
    private static let timeout = Duration.seconds(2)

    mutating func begin(_ name: CharacteristicName) { reading[name] = .some(nil) }

    /// - Returns: the values that the device itself sent. The last change before an answer may be the read's echo, so it is held until
    ///   then.
    mutating func receive(_ name: CharacteristicName, _ value: [UInt8], at now: Duration) -> [[UInt8]] {
        if let last = reading[name] {
            reading[name] = .some(value)
            return last.map { [$0] } ?? []
        }
        if let echo = expected[name] {
            expected[name] = nil
            if echo.value == value, now <= echo.until { return [] }
        }
        return [value]
    }

    /// - Parameter answer: nil if the read failed.
    /// - Returns: the held value, if it was not an echo.
    mutating func end(_ name: CharacteristicName, _ answer: [UInt8]?, at now: Duration) -> [UInt8]? {
        guard let last = reading.removeValue(forKey: name) else { return nil }
        // Some versions signal it once more.
        if let answer { expected[name] = (answer, now + Self.timeout) }
        return last == answer ? nil : last
    }
}
