/// The conditions under which an equal reading is not a copy, because one of the two is part of a dense stream.
///
/// Many readings lie in the minute to which the other one's time was cut, or a continuous sensor has measured all around a value that a person
/// typed. Equal values mean little then, and it is not known which of them was copied.
public enum DenseStream {
    /// If an interval has more readings of one series than this, they are a stream.
    public static let streamThreshold = 6
    /// A continuous sensor has more than ``streamThreshold`` readings in this many microseconds before and after each.
    private static let around: Int64 = 3_600_000_000

    /// One of two readings that are compared.
    public enum Side: Sendable {
        case one, other
    }

    /// Whether one of two readings that agree is part of a stream in which the other one cannot be found.
    ///
    /// - Parameter count: Returns the number of readings of the series of a side that start in an interval (the end is excluded), or any number
    ///   above ``streamThreshold`` if there are more than that.
    public static func separates<Failure: Error>(
        _ one: ReadingTrace, _ other: ReadingTrace, _ agreement: Agreement, _ rule: DuplicateRule, of type: SampleType,
        count: (_ side: Side, _ low: Int64, _ high: Int64) throws(Failure) -> Int
    ) throws(Failure) -> Bool {
        guard rule != .unit else { return false }
        let (coarse, fine, side): (ReadingTrace, ReadingTrace, Side) =
            one.timeResolution > other.timeResolution ? (one, other, .other) : (other, one, .one)
        if coarse.timeResolution > fine.timeResolution {
            let end = coarse.start + Int64(coarse.timeResolution) * 1_000_000
            if try count(side, coarse.start, end) > streamThreshold { return true }
        }
        guard rule == .spot, DuplicateRule.mayBeStreamed(type), coarse.timeResolution > 1 || agreement.certainty > 1,
            !(one.method.isSensor && other.method.isSensor)
        else { return false }
        let isOneStreamed = try count(.one, one.start &- around, one.start &+ around) > streamThreshold
        return try isOneStreamed != (count(.other, other.start &- around, other.start &+ around) > streamThreshold)
    }
}
