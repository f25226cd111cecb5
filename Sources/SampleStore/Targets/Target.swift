import HealthModel

/// How far another store has come with what this one has: its cursor in the change log, and what became of what it was given.
public struct Target: Hashable, Sendable {
    /// Whether anything is delivered to it, and if not, who has to act.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// It takes what it is given, or has all.
        case delivering
        /// It does not answer, and is asked again.
        case waiting
        /// It is not asked again before a person has looked: it lets us not in, or is not what it has to be.
        case stopped
    }

    /// What was there before the target began, which it is told beside what is new.
    public struct Backlog: Hashable, Sendable {
        /// The last of it that the target has.
        public var anchor: Anchor
        /// The number of its last change.
        public var end: Int64

        /// What lies between an anchor and a number.
        public init(anchor: Anchor, end: Int64) { (self.anchor, self.end) = (anchor, end) }
    }

    /// As the configuration has it.
    public var name: String
    /// What it has for good: everything up to there, but for the backlog.
    public var anchor: Anchor
    /// Nothing where it has all of that.
    public var backlog: Backlog?
    /// Changes that it took, of all time.
    public var delivered = 0
    /// Changes among them that it has no place for, of all time.
    public var leftOut = 0
    /// Whether it takes anything.
    public var state = State.delivering
    /// What it said last where it did not.
    public var words: String?
    /// When anything of this changed last.
    public var changed: Instant
    /// What is delivered to it, as the configuration had it when it began: another filter makes other contents.
    public var filter: String

    /// The target's own identity, as it was when it was met first; `nil` where it was never met.
    public var identity: String?
    /// The number of the last delivery that it acknowledged.
    public var count: Int64 = 0
    /// The settings that shaped what is there, as ``filter``; `nil` where an earlier version delivered last.
    public var shape: String?
    /// Whether what is there is written anew until it has everything.
    public var isRewriting = false

    /// A target that has everything up to an anchor, and nothing of the backlog.
    public init(name: String, after anchor: Anchor = .beginning, backlog: Backlog? = nil, filter: String, at time: Instant) {
        (self.name, self.anchor, self.backlog, self.filter, changed) = (name, anchor, backlog, filter, time)
    }
}

/// What a target did not take.
public struct SetAside: Hashable, Sendable {
    /// The change's number.
    public var seq: Int64
    /// The sample's.
    public var uuid: SampleIdentity
    /// The target's.
    public var words: String
    /// When it was refused.
    public var time: Instant
    /// Whether it is to be told again.
    public var isRetried: Bool

    /// A change that was refused.
    public init(seq: Int64, uuid: SampleIdentity, words: String, time: Instant, isRetried: Bool = false) {
        (self.seq, self.uuid, self.words, self.time, self.isRetried) = (seq, uuid, words, time, isRetried)
    }
}
