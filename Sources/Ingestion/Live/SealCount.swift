/// Which encrypted frames of a device were sent before: their counter has to rise (BTHome v2, "Encryption").
struct SealCount {
    /// Of the frames that count lower than the last one taken: the last, and how many rose one after another.
    private var refused: (counter: Int64, rises: Int)?
    private var wasTold = false
    /// It seems to count anew, of which nobody was told yet.
    private var isAnew = false

    /// So many rise one after another only where the device counts anew, or somebody sends a whole record of old ones.
    private static let rises = 3

    /// Whether a frame with this counter is a new one; then `last` is it.
    mutating func takes(_ counter: Int64, after last: inout Int64?) -> Bool {
        guard let known = last, counter <= known else {
            last = counter
            refused = nil
            return true
        }
        guard counter < known else { return false }
        let rises = refused.map { counter > $0.counter ? $0.rises + 1 : counter == $0.counter ? $0.rises : 0 } ?? 0
        refused = (counter, rises)
        if rises >= Self.rises, !wasTold { (wasTold, isAnew) = (true, true) }
        return false
    }

    /// Whether somebody is to be told that the device seems to count anew; true once.
    mutating func takeNews() -> Bool {
        defer { isAnew = false }
        return isAnew
    }
}
