import HealthModel

/// Decides whether to trust the timestamps of a device whose clock cannot be read.
///
/// | timestamp | verdict |
/// |---|---|
/// | within five minutes of its arrival | believed; the clock is right again |
/// | ahead of its arrival, more than a year old, or a maker's default date | doubted, alone |
/// | before one of an earlier transfer, or the same again with other values or much later | doubted, and all that follow until the clock is right |
/// | any other of the past year | believed: the device may have a memory |
///
/// A measurement that is doubted is identified by its receipt. One that is sent again within five minutes has the receipt of the first.
struct StampTrust: Codable, Equatable {
    enum Verdict: Equatable {
        case believed(isFresh: Bool)
        /// The time when it first arrived.
        case doubted(ClockDoubt, receipt: Instant)
    }

    /// A measurement as it was sent; times in microseconds.
    private struct Sent: Codable, Equatable {
        var shown: Int64
        var content: UInt64
        var first: Int64
        var last: Int64
    }

    /// Whether the clock was reset and has not been right since.
    private(set) var isDoubted = false
    /// The last measurements, oldest first.
    private var recent: [Sent] = []
    /// The latest timestamp of earlier transfers, and of the one that goes on.
    private var before: Int64?
    private var latest: Int64?
    private var heard: Int64?
    /// Timestamps that were within five minutes of their arrival.
    private var proven: [Int64] = []

    /// A timestamp this close to its arrival is of a clock that is right, in microseconds.
    static let fresh: Int64 = 300_000_000
    /// Arrivals nearer than this may be of one transfer of stored measurements.
    private static let apart: Int64 = 30_000_000
    /// The maximum age in microseconds of measurements that cuffs and scales send without a request.
    static let longestMemory = 366 * Calendar.day
    private static let remembered = 32

    /// Whether a clock shows what a maker's default is: the first hour of a year. Real measurements of that hour are rare.
    static func isDefaultDate(_ shown: WallTime) -> Bool {
        let (days, time) = shown.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        guard time < 3_600_000_000 else { return false }
        let date = Calendar.date(days: Int(days))
        return date.month == 1 && date.day == 1
    }

    /// Judges the timestamp of a measurement.
    ///
    /// - Parameters:
    ///   - late: by how much it is older than its arrival, in microseconds.
    ///   - isCorrected: whether the clock is wrong, and its error known.
    ///   - content: a digest of all values of the measurement.
    mutating func judge(
        _ shown: WallTime, late: Int64, isCorrected: Bool, content: UInt64, received: Instant
    ) -> Verdict {
        let (stamp, now) = (shown.microseconds, received.microseconds)
        if late.magnitude < UInt64(Self.fresh) {
            isDoubted = false
            if !isCorrected {
                proven.append(stamp)
                if proven.count > Self.remembered { proven.removeFirst() }
            }
            note(stamp, content, now, receipt: now)
            return .believed(isFresh: true)
        }
        // It was fresh when it first arrived, and is a repetition.
        if proven.contains(stamp) { return .believed(isFresh: false) }
        if late < 0 || late > Self.longestMemory || Self.isDefaultDate(shown) {
            let doubt = Self.isDefaultDate(shown) ? ClockDoubt.defaultDate : .unproven
            return .doubted(doubt, receipt: receipt(stamp, content, now))
        }
        if hasBegunAnew(stamp, content, now) { isDoubted = true }
        let receipt = receipt(stamp, content, now)
        return isDoubted ? .doubted(.unproven, receipt: receipt) : .believed(isFresh: false)
    }

    /// The hub's clock was set by this number of microseconds.
    mutating func clockWasSet(by step: Int64) {
        for index in recent.indices {
            recent[index].first &+= step
            recent[index].last &+= step
        }
        if let heard { self.heard = heard &+ step }
    }

    private func hasBegunAnew(_ stamp: Int64, _ content: UInt64, _ now: Int64) -> Bool {
        for sent in recent where sent.shown == stamp {
            let passed = now &- sent.last
            if passed >= (sent.content == content ? Self.fresh : Self.apart) { return true }
        }
        guard let heard, let latest else { return false }
        let earlier = now &- heard >= Self.fresh ? max(latest, before ?? latest) : before
        return earlier.map { stamp < $0 } ?? false
    }

    /// When the measurement arrived first, as far as it is the one that was sent a moment ago.
    private mutating func receipt(_ stamp: Int64, _ content: UInt64, _ now: Int64) -> Instant {
        let last = recent.last {
            $0.shown == stamp && $0.content == content && (0..<Self.fresh).contains(now &- $0.last)
        }
        let receipt = last?.first ?? now
        note(stamp, content, now, receipt: receipt)
        return Instant(microseconds: receipt)
    }

    private mutating func note(_ stamp: Int64, _ content: UInt64, _ now: Int64, receipt: Int64) {
        if let heard, let latest, now &- heard >= Self.fresh {
            before = max(latest, before ?? latest)
            self.latest = nil
        }
        latest = max(stamp, latest ?? stamp)
        heard = now
        recent.removeAll { $0.shown == stamp && $0.content == content }
        recent.append(Sent(shown: stamp, content: content, first: receipt, last: now))
        if recent.count > Self.remembered { recent.removeFirst() }
    }
}
