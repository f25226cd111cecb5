import HealthModel

/// Finds the error of a clock that cannot be read: two live measurements in a row that arrive the same time after their timestamps, or
/// before them.
///
/// One proves nothing, because it may be from a memory. Neither does a measurement that was sent before, nor one that arrives together
/// with others: that is a memory, which some owners transfer at the same hour each evening. The newest record of a memory counts if it is
/// an hour off, because a clock that is not changed twice a year is.
struct ArrivalAgreement: Codable, Equatable {
    /// A measurement, with times in microseconds.
    struct Arrival: Codable, Equatable {
        var shown: Int64
        var received: Int64
        /// By how much its time, without a correction, is older than its arrival.
        var late: Int64
    }

    /// Those that agree, oldest first.
    private(set) var agreeing: [Arrival] = []
    private var last: Arrival?

    private static let needed = 2
    /// The maximum difference in microseconds. Some devices have no seconds to set.
    private static let tolerance: UInt64 = 10_000_000
    private static let hour: Int64 = 3_600_000_000

    /// Adds a measurement.
    ///
    /// - Parameter isNew: whether it was never sent before.
    /// - Returns: the measurements that show the clock's error, or `nil` if it is not known yet.
    mutating func add(_ arrival: Arrival, isNew: Bool) -> [Arrival]? {
        let before = last
        let follows = before.map { arrival.received &- $0.received < StampTrust.apart } ?? false
        if follows, before?.shown == arrival.shown { return nil }
        last = arrival
        if arrival.late.magnitude < UInt64(StampTrust.fresh) {
            agreeing.removeAll()
            return nil
        }
        let isHourOff = abs(Int64(clamping: arrival.late.magnitude) - Self.hour) < StampTrust.fresh
        if follows, !isHourOff {
            // Both are of a memory.
            if agreeing.last == before { agreeing.removeLast() }
            return nil
        }
        guard isNew else { return nil }
        if let one = agreeing.last {
            let apart = arrival.received &- one.received
            guard apart >= StampTrust.apart else { return nil }
            if ((arrival.shown &- one.shown) &- apart).magnitude >= Self.tolerance { agreeing.removeAll() }
        }
        agreeing.append(arrival)
        guard agreeing.count == Self.needed else { return nil }
        defer { agreeing.removeAll() }
        return agreeing
    }

    /// The hub's clock was set: what was compared with it proves nothing.
    mutating func clockWasSet() { (agreeing, last) = ([], nil) }
}
