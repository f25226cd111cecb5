/// Decides when the retained messages are published again.
///
/// Anyone at the broker can publish a birth message, as often as they like. All birth messages that arrive while a repetition is under way,
/// or soon after one, lead to one more repetition. Nothing is queued for a broker that has not acknowledged the last one.
struct Repetition {
    enum Step: Equatable {
        /// Nothing: a repetition is under way or requested.
        case none
        /// Call ``Repetition/resume(at:)`` after ``Repetition/interval``.
        case wait
        /// Publish the messages now, and call ``Repetition/hasPublished(_:)``.
        case publish
    }

    /// The minimum time between two repetitions in seconds.
    static let interval = 5

    private var last: ContinuousClock.Instant?
    private var isPublishing = false
    private var isWaiting = false
    /// The messages that the broker has not acknowledged yet, and those that it acknowledged while others were still being published.
    private var open: Set<Int32> = []
    private var early: Set<Int32> = []

    /// A birth message has arrived, or the broker has come back.
    mutating func request(at now: ContinuousClock.Instant) -> Step {
        guard !isWaiting else { return .none }
        return next(at: now)
    }

    mutating func resume(at now: ContinuousClock.Instant) -> Step {
        isWaiting = false
        return next(at: now)
    }

    private mutating func next(at now: ContinuousClock.Instant) -> Step {
        let isRecent = last.map { $0.duration(to: now) < .seconds(Self.interval) } ?? false
        guard !isPublishing, open.isEmpty, !isRecent else {
            isWaiting = true
            return .wait
        }
        (last, isPublishing) = (now, true)
        early = []
        return .publish
    }

    mutating func hasPublished(_ ids: Set<Int32>) {
        open = ids.subtracting(early)
        (isPublishing, early) = (false, [])
    }

    /// The broker has acknowledged or rejected a message.
    mutating func acknowledge(_ id: Int32) {
        if isPublishing { early.insert(id) } else { open.remove(id) }
    }
}
