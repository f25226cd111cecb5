/// Finds out how long ago an advertisement was heard, from Home Assistant's times.
///
/// Home Assistant's time has a constant difference from our own clock, and each message is delayed. The message with the least delay shows the
/// difference, so neither clock has to be right. Only messages of the last minutes count, because clocks drift.
struct HearingClock {
    /// Our uptime minus the time, in seconds, of the least delayed message since a time, and of the one before.
    private var least: (difference: Double, since: Double)?
    private var before: Double?
    /// The difference if both machines have the right time.
    private let assumed: Double

    private static let window = 300.0
    /// Home Assistant rounds its clock to 0.01 s.
    private static let resolution = 0.05

    /// - Parameter assumed: our uptime minus our time of day in seconds, which is used until a message has arrived.
    init(assuming assumed: Double) { self.assumed = assumed }

    /// Returns the age in seconds of an advertisement that has just arrived.
    mutating func age(of time: Double, at uptime: Double) -> Double {
        let difference = uptime - time
        let known = [least?.difference, before].compactMap { $0 }.min() ?? min(assumed, difference)
        if let old = least, uptime - old.since < Self.window {
            least = (min(old.difference, difference), old.since)
        } else {
            before = least?.difference
            least = (difference, uptime)
        }
        let age = difference - min(known, difference)
        return age < Self.resolution ? 0 : age
    }
}
