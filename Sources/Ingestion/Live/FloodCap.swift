/// A limit on the readings accepted from a device's advertisements: a number per second, averaged over a minute. Anyone can
/// advertise under its address, and endless advertisements must not fill the disk.
package struct FloodCap {
    /// The limit in readings per second, at least 1.
    var perSecond: Int
    /// The time that the accepted readings would take at that rate, minus the time that has passed.
    private var debt = Duration.zero
    private var last: Duration?
    private var didReport = false
    /// Whether the first rejection has not been reported yet.
    private var hasUnreportedRejection = false

    /// The default limit, above the rate of all known sensors that only advertise.
    package static let defaultLimit = 10
    private static let averaged = Duration.seconds(60)

    init(perSecond: Int) { self.perSecond = perSecond }

    /// Whether this number of additional readings is accepted.
    mutating func accepts(_ count: Int, at uptime: Duration) -> Bool {
        debt = max(.zero, debt - (uptime - (last ?? uptime)))
        last = uptime
        guard debt < Self.averaged else {
            if !didReport { (didReport, hasUnreportedRejection) = (true, true) }
            return false
        }
        debt += .seconds(count) / max(1, perSecond)
        return true
    }

    /// Whether a rejection has to be reported. True once.
    mutating func takeUnreportedRejection() -> Bool {
        defer { hasUnreportedRejection = false }
        return hasUnreportedRejection
    }
}
