/// Tells a read's echo from what a device sends: BlueZ writes a value that was read into its table, and signals the change of `Value` to all
/// programs, in front of the answer (src/gatt-client.c, `chrc_read_cb`) or, in other versions, after it.
struct ReadEchoes {
    /// Of reads that are under way: what was signaled last.
    private var reading: [CharacteristicName: [UInt8]?] = [:]
    /// Of reads that are over and had no echo yet.
    private var expected: [CharacteristicName: (value: [UInt8], until: Duration)] = [:]

    /// An echo comes with the answer.
    private static let patience = Duration.seconds(2)

    mutating func begin(_ name: CharacteristicName) { reading[name] = .some(nil) }

    /// - Returns: What the device sent by itself: the echo of a read is the last change in front of its answer, and waits for that.
    mutating func heard(_ name: CharacteristicName, _ value: [UInt8], at now: Duration) -> [[UInt8]] {
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

    /// - Parameter answer: nil where the read failed.
    /// - Returns: What was no echo.
    mutating func end(_ name: CharacteristicName, _ answer: [UInt8]?, at now: Duration) -> [UInt8]? {
        guard let last = reading.removeValue(forKey: name) else { return nil }
        // Some signal it once more.
        if let answer { expected[name] = (answer, now + Self.patience) }
        return last == answer ? nil : last
    }
}
