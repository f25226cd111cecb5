/// Detects replayed encrypted frames: the counter has to rise (BTHome v2, "Encryption").
struct SealCount {
    /// The last rejected counter, and how many times it rose in a row.
    private var refused: (counter: Int64, rises: Int)?
    private var didReport = false
    /// Whether a restarted counter has not been reported yet.
    private var hasUnreportedRestart = false

    /// The number of rises in a row that means that the device's counter restarted, or that someone replays a recording.
    private static let rises = 3

    /// Whether a frame with this counter is new. If so, `last` is updated.
    mutating func accepts(_ counter: Int64, after last: inout Int64?) -> Bool {
        guard let known = last, counter <= known else {
            last = counter
            refused = nil
            return true
        }
        guard counter < known else { return false }
        let rises = refused.map { counter > $0.counter ? $0.rises + 1 : counter == $0.counter ? $0.rises : 0 } ?? 0
        refused = (counter, rises)
        if rises >= Self.rises, !didReport { (didReport, hasUnreportedRestart) = (true, true) }
        return false
    }

    /// Whether to report that the device's counter seems to have restarted. True once.
    mutating func takeUnreportedRestart() -> Bool {
        defer { hasUnreportedRestart = false }
        return hasUnreportedRestart
    }
}
