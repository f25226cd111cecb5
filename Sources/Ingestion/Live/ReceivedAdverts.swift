/// The advertisements of one channel of a device, as all receivers heard them. Each is one reading, at its first hearing.
///
/// A device repeats an advertisement until its data changes, so it sends a sequence of runs. Each receiver hears this sequence in its
/// order, with gaps and with a delay of its own. Data that equals a run which another receiver has heard, and this one not yet, is therefore
/// the same advertisement. If this receiver has heard a later run, or if the run ended before, the device sent the data again.
struct ReceivedAdverts: Equatable {
    /// Equal advertisements without other data in between.
    struct Run: Equatable {
        var bytes: [UInt8]
        /// The times of the first and the last hearing, in microseconds.
        var first: Int64
        var last: Int64
        /// Whether it could be read. A rejected one is read again once the device has another key or profile.
        var wasRead = false
        /// Rises with each run that is added.
        fileprivate var number: Int
        fileprivate var receivers: Set<String> = []
    }

    /// The meaning of a hearing.
    enum Outcome: Equatable {
        case new
        case repeated
        /// It was heard before the oldest known run, so it may have been read already.
        case unknown
    }

    /// The runs by the time of their first hearing. Never empty after the first hearing.
    private(set) var runs: [Run] = []
    /// The number of the last run that each receiver heard.
    private var latest: [String: Int] = [:]
    private var added = 0
    /// Whether older runs were forgotten.
    private var isCut = false

    /// A silence of this many microseconds ends a run.
    static let silence: Int64 = 60_000_000
    /// The delay of the slowest receiver in microseconds. ESPHome's proxies collect advertisements for 0.1 s.
    private static let delay: Int64 = 2_000_000
    /// A connection to a receiver that is interrupted for longer is closed.
    private static let maximumLateness: Int64 = 600_000_000
    /// More than a device sends while a connection to its receiver is interrupted and not yet closed.
    private static let maximumRuns = 128
    /// More receivers than a house has.
    private static let maximumReceivers = 64

    /// No advertisement yet.
    init() {}

    /// The newest run that was read, from before a restart.
    init(restored bytes: [UInt8], at time: Int64) {
        runs = [Run(bytes: bytes, first: time, last: time, wasRead: true, number: 0)]
        (added, isCut) = (1, true)
    }

    /// Adds a hearing.
    ///
    /// - Parameter time: When it was heard, in microseconds. It may be earlier than that of the previous hearing.
    mutating func receive(_ bytes: some Collection<UInt8>, by receiver: String, at time: Int64) -> Outcome {
        let last = latest[receiver].flatMap { number in runs.firstIndex { $0.number == number } }
        // The newest first: a device that sends the same again within the delay is heard again.
        for index in runs.indices.reversed() where canBeReceived(index, by: receiver, after: last) {
            guard runs[index].bytes.elementsEqual(bytes), isWithin(time, index, index == last ? Self.silence : Self.delay) else {
                continue
            }
            runs[index].last = max(runs[index].last, time)
            note(receiver, index)
            return .repeated
        }
        // A clock that was set back by more is not a delay.
        if isCut, !receiver.isEmpty, let oldest = runs.first, 1..<Self.maximumLateness ~= oldest.first &- time { return .unknown }
        let place = receiver.isEmpty ? runs.endIndex : runs.lastIndex { $0.first <= time }.map { $0 + 1 } ?? 0
        runs.insert(Run(bytes: Array(bytes), first: time, last: time, number: added), at: place)
        added += 1
        note(receiver, place)
        if runs.count > Self.maximumRuns {
            runs.removeFirst(runs.count - Self.maximumRuns)
            isCut = true
        }
        return .new
    }

    /// Whether a receiver's memory repeats a known advertisement, or one from before the newest known. If its time is unknown,
    /// only equal data is known.
    func knows(_ bytes: some Collection<UInt8>, receivedAt time: Int64?) -> Bool {
        guard let newest = runs.last else { return false }
        return runs.contains { $0.bytes.elementsEqual(bytes) } || time.map { $0 <= newest.last } ?? false
    }

    /// Marks the run that a receiver heard last as read.
    mutating func markRead(by receiver: String) {
        guard let number = latest[receiver], let index = runs.firstIndex(where: { $0.number == number }) else { return }
        runs[index].wasRead = true
    }

    /// Moves all times after our own clock was set, by this many microseconds.
    mutating func clockWasSet(by step: Int64) {
        for index in runs.indices {
            runs[index].first &+= step
            runs[index].last &+= step
        }
    }

    /// Whether a time lies in a run, or so shortly before or after it that another receiver may have heard the run.
    private func isWithin(_ time: Int64, _ index: Int, _ earlier: Int64) -> Bool {
        let run = runs[index]
        guard time &- run.first > -earlier, time &- run.last < Self.silence else { return false }
        return index + 1 == runs.endIndex || time &- runs[index + 1].first < Self.delay
    }

    /// Whether a receiver that heard the run `last` may hear another one now. Runs that begin at nearly the same time may be in the wrong order,
    /// because the receivers are not equally slow.
    private func canBeReceived(_ index: Int, by receiver: String, after last: Int?) -> Bool {
        guard let last, index != last else { return true }
        guard !runs[index].receivers.contains(receiver) else { return false }
        return index > last || runs[last].first &- runs[index].first < Self.delay
    }

    private mutating func note(_ receiver: String, _ index: Int) {
        if latest[receiver] == nil, latest.count >= Self.maximumReceivers {
            latest.removeAll()
            for each in runs.indices { runs[each].receivers.removeAll() }
        }
        latest[receiver] = runs[index].number
        runs[index].receivers.insert(receiver)
    }
}
