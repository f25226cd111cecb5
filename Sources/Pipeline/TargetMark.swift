import HealthModel

/// A store's file on one machine, by which a target tells it from a copy elsewhere.
public struct StoreHolder: Hashable, Sendable {
    /// Made of the machine and the file's path; empty where nobody can say.
    public var id: String
    /// For a person: the machine's name, and the file's path.
    public var name: String

    /// Nobody in particular, where nothing is given.
    public init(id: String = "", name: String = "") { (self.id, self.name) = (id, name) }
}

/// What a delivery writes at its target together with its changes: how far the target has come, and who feeds it.
///
/// A cursor of ours is valid only where the target has the mark that belongs to it. A target that was put back from a copy has an older mark, another
/// database under the same name has none, and a copy of the store meets the mark of another holder.
public struct TargetMark: Hashable, Sendable {
    /// The target's own identity, for targets that have none but this.
    public var identity: String
    /// The delivery's number: one more with each.
    public var count: Int64
    /// The anchor of a reader who has seen the delivery's last change.
    public var anchor: String
    /// Whose delivery it was.
    public var holder: StoreHolder
    /// When it was written; `nil` in marks of earlier versions.
    public var time: Instant?

    /// A mark by its parts.
    public init(identity: String, count: Int64, anchor: String, holder: StoreHolder, time: Instant? = nil) {
        (self.identity, self.count, self.anchor, self.holder, self.time) = (identity, count, anchor, holder, time)
    }
}

/// What a target says of itself, and of the last delivery of this store under this target's name.
public struct FoundMark: Hashable, Sendable {
    /// The target's own identity; `nil` where there is nothing of ours yet.
    public var identity: String?
    /// `nil` where nothing was delivered yet.
    public var mark: TargetMark?
    /// Whether the target may forget a mark without forgetting anything else, such as a broker whose memory ends with its process.
    public var mayForget: Bool

    /// What was found.
    public init(identity: String?, mark: TargetMark?, mayForget: Bool = false) {
        (self.identity, self.mark, self.mayForget) = (identity, mark, mayForget)
    }
}
