import HealthModel

/// Decides whether to trust the timestamps of a device whose clock cannot be read.
///
/// | timestamp | verdict |
/// |---|---|
/// | within five minutes of its arrival | believed; the clock is right again |
/// | sent before with the same values | the same measurement: the verdict of the first time |
/// | a maker's default date that was sent before with the same values, now alone, after another measurement came without it | another measurement: doubted, alone |
/// | ahead of its arrival, more than a year old, or a maker's default date | doubted, alone |
/// | before one of an earlier transfer of its user, or the same again with other values | doubted, and all new ones of the user until the clock is right |
/// | any other of the past year | believed: the device may have a memory |
///
/// Only a new measurement shows that a clock was reset, because devices send their memory again. A memory that is sent from its newest
/// record on runs backwards as well: a record that follows a believed one at once is not a sign, unless the transfer began with older
/// records. The users of a device have a memory each, so each has an order of its own.
///
/// A clock that begins at a default date whenever it is switched on shows the same times again and again. If such a device sent its memory,
/// the first measurement would have come with the later ones.
///
/// A measurement that is doubted is identified by its receipt. One that is sent again has the receipt of the first.
struct StampTrust: Equatable {
    enum Verdict: Equatable {
        case trusted(isFresh: Bool)
        /// The time when it first arrived.
        case untrusted(ClockDoubt, receipt: Instant)
    }

    /// A measurement as it was sent; times in microseconds.
    private struct Sent: Equatable {
        var user: Int64
        var shown: Int64
        var content: UInt64
        var first: Int64
        /// When it was last sent.
        var lastReceived: Int64
        /// By how much it was older than its first arrival.
        var late: Int64
        /// By how much the hub's clock was set since its first arrival. The receipt that identifies it stays the same.
        var moved: Int64 = 0
        var doubt: ClockDoubt?
        var receipt: Instant { Instant(microseconds: first &- moved) }
        var isFresh: Bool { late.magnitude < UInt64(StampTrust.fresh) }
    }

    /// The order of a user's measurements, with times in microseconds.
    private struct Order: Codable, Equatable {
        var user: Int64
        /// Whether the clock was reset and has not been right since.
        var isClockUntrusted = false
        /// The latest timestamp of earlier transfers, and of the one that goes on.
        var before: Int64?
        var latest: Int64?
        var lastReceived: Int64?
        /// The last timestamp, if it was believed.
        var last: Int64?
        /// Whether that one followed an earlier timestamp of its transfer.
        var isRising = false

        /// Whether a new measurement has a timestamp from before an earlier transfer.
        func runsBackwards(_ stamp: Int64, _ now: Int64) -> Bool {
            guard let lastReceived, let latest else { return false }
            let passed = now &- lastReceived
            guard let earlier = passed >= StampTrust.fresh ? max(latest, before ?? latest) : before, stamp < earlier else {
                return false
            }
            // The next older record of a memory that is sent from its newest record on.
            if passed < StampTrust.apart, let last, stamp < last, !isRising { return false }
            return true
        }

        mutating func note(_ stamp: Int64, _ now: Int64, isTrusted: Bool) {
            if let lastReceived, let latest, now &- lastReceived >= StampTrust.fresh {
                before = max(latest, before ?? latest)
                self.latest = nil
            }
            latest = max(stamp, latest ?? stamp)
            isRising = (lastReceived.map { now &- $0 < StampTrust.apart } ?? false) && (last.map { stamp > $0 } ?? false)
            lastReceived = now
            last = isTrusted ? stamp : nil
        }
    }

    /// The last measurements, oldest first.
    private var recent: [Sent] = []
    private var orders: [Order] = []

    /// A timestamp this close to its arrival is of a clock that is right, in microseconds.
    static let fresh: Int64 = 300_000_000
    /// Arrivals nearer than this may be of one transfer of stored measurements.
    static let apart: Int64 = 30_000_000
    /// The maximum age in microseconds of measurements that cuffs and scales send without a request.
    static let maximumMemory = 366 * Calendar.day
    /// More than the memory of a cuff with two users.
    private static let remembered = 320
    private static let users = 16
    /// A stream of this many current measurements keeps only the last ones, so that its state stays small.
    private static let stream = 16

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
    ///   - content: a digest of all values of the measurement.
    ///   - user: the device's number of the person, if it numbers them.
    mutating func evaluate(_ shown: WallTime, late: Int64, content: UInt64, user: Int64?, received: Instant) -> Verdict {
        let order = order(of: user ?? 0)
        let (stamp, now) = (shown.microseconds, received.microseconds)
        if let index = find(shown, content, user), !isAnother(index, now) {
            recent[index].lastReceived = now
            let sent = recent[index]
            orders[order].note(stamp, now, isTrusted: sent.doubt == nil)
            if let doubt = sent.doubt { return .untrusted(doubt, receipt: sent.receipt) }
            return .trusted(isFresh: late.magnitude < UInt64(Self.fresh))
        }
        var sent = Sent(user: user ?? 0, shown: stamp, content: content, first: now, lastReceived: now, late: late)
        if sent.isFresh {
            for index in orders.indices { orders[index].isClockUntrusted = false }
        } else if Self.isDefaultDate(shown) {
            sent.doubt = .defaultDate
        } else if late < 0 || late > Self.maximumMemory {
            sent.doubt = .unproven
        } else {
            if isTaken(stamp, now, of: user ?? 0) || orders[order].runsBackwards(stamp, now) {
                orders[order].isClockUntrusted = true
            }
            if orders[order].isClockUntrusted { sent.doubt = .unproven }
        }
        orders[order].note(stamp, now, isTrusted: sent.doubt == nil)
        remember(sent)
        return sent.doubt.map { .untrusted($0, receipt: received) } ?? .trusted(isFresh: sent.isFresh)
    }

    /// Whether a measurement was sent before.
    func knows(_ shown: WallTime, content: UInt64, user: Int64?) -> Bool { find(shown, content, user) != nil }

    /// The first receipt of a measurement that was sent before.
    func firstReceipt(_ shown: WallTime, content: UInt64, user: Int64?, received: Instant) -> Instant? {
        find(shown, content, user).flatMap { isAnother($0, received.microseconds) ? nil : recent[$0].receipt }
    }

    /// Whether a measurement with the timestamp and the values of an earlier one is another one.
    private func isAnother(_ index: Int, _ now: Int64) -> Bool {
        let sent = recent[index]
        guard Self.isDefaultDate(WallTime(microseconds: sent.shown)),
            recent.allSatisfy({ now &- $0.lastReceived >= Self.apart })
        else { return false }
        return recent.contains { $0.first &- sent.lastReceived >= Self.apart }
    }

    /// The hub's clock was set by this number of microseconds. A measurement that then agrees with its arrival is not doubted any more.
    mutating func clockWasSet(by step: Int64) {
        var isRight = false
        for index in recent.indices {
            recent[index].first &+= step
            recent[index].lastReceived &+= step
            recent[index].moved &+= step
            recent[index].late &+= step
            guard recent[index].isFresh, recent[index].doubt != nil else { continue }
            recent[index].doubt = nil
            isRight = true
        }
        for index in orders.indices {
            orders[index].lastReceived = orders[index].lastReceived.map { $0 &+ step }
            if isRight { orders[index].isClockUntrusted = false }
        }
    }

    private func find(_ shown: WallTime, _ content: UInt64, _ user: Int64?) -> Int? {
        recent.lastIndex { $0.shown == shown.microseconds && $0.content == content && $0.user == user ?? 0 }
    }

    /// Whether an earlier transfer had other values with the same timestamp.
    private func isTaken(_ stamp: Int64, _ now: Int64, of user: Int64) -> Bool {
        recent.contains { $0.shown == stamp && $0.user == user && now &- $0.first >= Self.apart }
    }

    private mutating func order(of user: Int64) -> Int {
        if let index = orders.firstIndex(where: { $0.user == user }) { return index }
        if orders.count == Self.users { orders.removeFirst() }
        orders.append(Order(user: user))
        return orders.count - 1
    }

    private mutating func remember(_ sent: Sent) {
        recent.append(sent)
        if recent.count > Self.remembered { recent.removeFirst() }
        let stream = recent.suffix(Self.stream + 1)
        guard stream.count > Self.stream, let first = stream.first, stream.allSatisfy(\.isFresh),
            sent.first &- first.first < Int64(Self.stream) * 60_000_000
        else { return }
        recent.remove(at: stream.startIndex)
    }
}

extension StampTrust: Codable {
    private enum Key: String, CodingKey { case recent, orders }

    /// The measurements are lists of numbers, because the state is stored with each commit.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        orders = try values.decode([Order].self, forKey: .orders)
        recent = try values.decode([[Int64]].self, forKey: .recent).filter { $0.count >= 7 }.map {
            Sent(
                user: $0[0], shown: $0[1], content: UInt64(bitPattern: $0[2]), first: $0[3], lastReceived: $0[3] &+ $0[5],
                late: $0[4], moved: $0[6],
                doubt: $0.count > 7 ? ClockDoubt.allCases.dropFirst(Int(clamping: max($0[7], 0))).first : nil)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(orders, forKey: .orders)
        try values.encode(
            recent.map { sent in
                [
                    sent.user, sent.shown, Int64(bitPattern: sent.content), sent.first, sent.late,
                    sent.lastReceived &- sent.first,
                    sent.moved,
                ]
                    + (sent.doubt.flatMap { ClockDoubt.allCases.firstIndex(of: $0) }.map { [Int64($0)] } ?? [])
            }, forKey: .recent)
    }
}
