import HealthModel

/// The state of a target: its position in the change log and the results of its deliveries.
public struct Target: Hashable, Sendable {
    /// Whether changes are delivered to a target.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The target accepts changes or has all of them.
        case delivering
        /// The target does not answer and is tried again.
        case waiting
        /// The target refused access or is not the expected one. It is not tried again until a person has fixed it.
        case stopped
    }

    /// The changes from before the target was added, which are sent alongside new ones.
    public struct Backlog: Hashable, Sendable {
        /// The last change of the backlog that the target has.
        public var anchor: Anchor
        /// The number of the backlog's last change.
        public var end: Int64

        /// Creates a backlog from an anchor and the number of its last change.
        public init(anchor: Anchor, end: Int64) { (self.anchor, self.end) = (anchor, end) }
    }

    /// The target's name in the configuration.
    public var name: String
    /// The anchor up to which the target has all changes except the backlog.
    public var anchor: Anchor
    /// The remaining backlog, or `nil` if the target has all of it.
    public var backlog: Backlog?
    /// The total number of changes that the target accepted.
    public var delivered = 0
    /// The total number of accepted changes that the target cannot represent.
    public var leftOut = 0
    /// Whether changes are delivered.
    public var state = State.delivering
    /// The target's last error message.
    public var words: String?
    /// When this state last changed.
    public var changed: Instant
    /// The filter from the configuration when the target was added. Another filter results in other contents.
    public var filter: String

    /// The target's own identity at the first connection, or `nil` before that.
    public var identity: String?
    /// The number of the last delivery that the target acknowledged.
    public var count: Int64 = 0
    /// The settings under which the target's contents were written, in the form of ``filter``. `nil` before the first delivery.
    public var shape: String?
    /// Whether existing contents are being rewritten until the target has everything.
    public var isRewriting = false

    /// Creates the state of a target that has everything up to an anchor and nothing of the backlog.
    public init(name: String, after anchor: Anchor = .beginning, backlog: Backlog? = nil, filter: String, at time: Instant) {
        (self.name, self.anchor, self.backlog, self.filter, changed) = (name, anchor, backlog, filter, time)
    }
}

/// A sample that a target rejected.
public struct SetAside: Hashable, Sendable {
    /// The number of the change.
    public var seq: Int64
    /// The sample's UUID.
    public var uuid: SampleIdentity
    /// The target's message.
    public var words: String
    /// When the target rejected it.
    public var time: Instant
    /// Whether it is to be sent again.
    public var isRetried: Bool

    /// Creates a rejected change.
    public init(seq: Int64, uuid: SampleIdentity, words: String, time: Instant, isRetried: Bool = false) {
        (self.seq, self.uuid, self.words, self.time, self.isRetried) = (seq, uuid, words, time, isRetried)
    }
}
