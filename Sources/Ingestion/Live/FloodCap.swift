/// How many readings are taken of what a device tells everybody: so many a second, averaged over a minute. Anybody can send under its
/// address, and what is sent without end must not fill the disk.
package struct FloodCap {
    /// At least 1.
    var perSecond: Int
    /// How long what was taken would have taken at that rate, less the time that went by.
    private var debt = Duration.zero
    private var last: Duration?
    private var wasTold = false
    /// Nobody was told yet that something was left out.
    private var hasNews = false

    /// More than any sensor that only advertises has been seen to bring.
    package static let usual = 10
    private static let averaged = Duration.seconds(60)

    init(perSecond: Int) { self.perSecond = perSecond }

    /// Whether so many more readings are taken.
    mutating func takes(_ count: Int, at uptime: Duration) -> Bool {
        debt = max(.zero, debt - (uptime - (last ?? uptime)))
        last = uptime
        guard debt < Self.averaged else {
            if !wasTold { (wasTold, hasNews) = (true, true) }
            return false
        }
        debt += .seconds(count) / max(1, perSecond)
        return true
    }

    /// Whether somebody is to be told that something was left out; true once.
    mutating func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }
}
