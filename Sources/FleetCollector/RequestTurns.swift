import HealthModel

/// The requests of hubs that wait for a collector. Hubs are served in turn, one request of each, so that a hub that sends many delays
/// no other one.
///
/// A hub has few requests under way, and gives up after a while. So only the newest requests of each hub wait, and none that its sender does
/// not wait for any more. The sum of their lengths has a bound.
struct RequestTurns<Request: Sendable>: Sendable {
    /// A request with its hub's store.
    struct Turn: Sendable {
        let store: String
        let request: Request
    }

    private struct Waiting: Sendable {
        let request: Request
        let bytes: Int
        let arrived: Instant
        /// Whether ``takeAhead()`` has returned it.
        var isAhead = false
    }

    /// The number of requests of a hub that wait: two of its delivery, and one of another process, such as a check.
    static var maximumPerHub: Int { 3 }

    private let timeout: Duration
    private let maximumBytes: Int
    private var waiting: [String: [Waiting]] = [:]
    /// The hubs with a request that waits, in the order in which they are served. Without those whose request is being carried out.
    private var queue: [String] = []
    private var busy: Set<String> = []
    private var bytes = 0

    /// - Parameters:
    ///   - timeout: How long a sender waits for its reply.
    ///   - maximumBytes: The bound of the sum of lengths, in bytes.
    init(timeout: Duration, maximumBytes: Int = 64 << 20) { (self.timeout, self.maximumBytes) = (timeout, maximumBytes) }

    /// Whether no request waits, also none of a hub that is being served.
    var isEmpty: Bool { waiting.isEmpty }

    /// Whether requests are being carried out.
    var isBusy: Bool { !busy.isEmpty }

    /// Adds a request that has arrived. If there are too many, the oldest of this hub goes, and then the oldest of the hub with the most
    /// bytes.
    mutating func add(_ request: Request, bytes length: Int, of store: String, at time: Instant) {
        if waiting[store] == nil, !busy.contains(store) { queue.append(store) }
        waiting[store, default: []].append(Waiting(request: request, bytes: length, arrived: time))
        bytes += length
        if let count = waiting[store]?.count, count > Self.maximumPerHub { dropOldest(of: store) }
        while bytes > maximumBytes, let largest = waiting.max(by: { Self.bytes($0.value) < Self.bytes($1.value) })?.key {
            dropOldest(of: largest)
        }
    }

    /// Returns the next requests, one for each hub, until ``finish(_:)``.
    ///
    /// - Parameter maximumBytes: The length in bytes after which no more are returned.
    mutating func take(maximum: Int, maximumBytes: Int, at time: Instant) -> [Turn] {
        var turns: [Turn] = []
        var (length, passed) = (0, 0)
        for store in queue {
            guard turns.count < maximum, length < maximumBytes else { break }
            passed += 1
            while let next = waiting[store]?.first {
                dropOldest(of: store, isPassed: true)
                // A clock that was set back makes no request old.
                guard time.microseconds - next.arrived.microseconds < timeout.microseconds else { continue }
                turns.append(Turn(store: store, request: next.request))
                length += next.bytes
                busy.insert(store)
                break
            }
        }
        queue.removeFirst(passed)
        return turns
    }

    /// Returns the next request of a hub whose last one is being carried out, so that a thread without work can prepare it. It stays in its
    /// place. One of them at a time is enough, because a busy center has other work, and a prepared request needs more memory.
    mutating func takeAhead() -> Request? {
        guard !waiting.values.contains(where: { $0.first?.isAhead == true }) else { return nil }
        guard let store = busy.first(where: { waiting[$0] != nil }) else { return nil }
        waiting[store]?[0].isAhead = true
        return waiting[store]?.first?.request
    }

    /// The requests of these hubs were carried out.
    mutating func finish(_ stores: [String]) {
        for store in stores where busy.remove(store) != nil && waiting[store] != nil { queue.append(store) }
    }

    private static func bytes(_ some: [Waiting]) -> Int { some.reduce(0) { $0 + $1.bytes } }

    /// - Parameter isPassed: Whether the caller removes the hub from the queue.
    private mutating func dropOldest(of store: String, isPassed: Bool = false) {
        guard var some = waiting[store], let oldest = some.first else { return }
        some.removeFirst()
        bytes -= oldest.bytes
        waiting[store] = some.isEmpty ? nil : some
        if some.isEmpty, !isPassed { queue.removeAll { $0 == store } }
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
