import FoundationEssentials
import HealthModel

/// The identity of a store's file on one machine. It lets a target distinguish the store from a copy elsewhere.
public struct StoreHolder: Hashable, Sendable {
    /// An id derived from the machine and the file's path, or empty if unknown.
    public var id: String
    /// The machine's name and the file's path, for display.
    public var name: String

    /// A holder, unknown by default.
    public init(id: String = "", name: String = "") { (self.id, self.name) = (id, name) }
}

/// The mark that a delivery writes at its target together with its changes. It records the target's progress and the store that feeds it.
///
/// A cursor is valid only if the target has the matching mark. A target restored from a backup has an older mark, another database under
/// the same name has none, and a copy of the store finds the mark of another holder.
public struct TargetMark: Hashable, Sendable {
    /// The target's identity, for targets that have no other.
    public var identity: String
    /// The number of the delivery, one higher each time.
    public var count: Int64
    /// The anchor after the delivery's last change.
    public var anchor: String
    /// The anchor of the mark that has to be there before, if this delivery was sent before the one before was acknowledged.
    public var after: String?
    /// The store that made the delivery.
    public var holder: StoreHolder
    /// The time at which it was written, or `nil` if the machine's clock was not set.
    public var time: Instant?

    /// A mark with its parts.
    public init(identity: String, count: Int64, anchor: String, holder: StoreHolder, time: Instant? = nil) {
        (self.identity, self.count, self.anchor, self.holder, self.time) = (identity, count, anchor, holder, time)
    }
}

extension TargetMark: Codable {
    /// The mark as JSON, for targets that store it as text.
    public var json: [UInt8] {
        let encoder = JSONEncoder()
        // Equal marks have equal bytes.
        encoder.outputFormatting = .sortedKeys
        // Numbers and text can always be encoded.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// Reads a mark from JSON, or returns `nil` if it is none.
    public init?(json: some Sequence<UInt8>) {
        guard let mark = try? JSONDecoder().decode(TargetMark.self, from: Data(json)) else { return nil }
        self = mark
    }

    private enum Key: String, CodingKey {
        case identity, count, anchor, after, holder, holderName
        case reported = "told"
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            identity: try members.decodeIfPresent(String.self, forKey: .identity) ?? "",
            count: try members.decode(Int64.self, forKey: .count), anchor: try members.decode(String.self, forKey: .anchor),
            holder: StoreHolder(
                id: try members.decode(String.self, forKey: .holder), name: try members.decode(String.self, forKey: .holderName)),
            time: try members.decodeIfPresent(Int64.self, forKey: .reported).map { Instant(microseconds: $0) })
        after = try members.decodeIfPresent(String.self, forKey: .after)
    }

    /// Writes `reported` as microseconds since 1970.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        if !identity.isEmpty { try members.encode(identity, forKey: .identity) }
        try members.encode(count, forKey: .count)
        try members.encode(anchor, forKey: .anchor)
        try members.encodeIfPresent(after, forKey: .after)
        try members.encode(holder.id, forKey: .holder)
        try members.encode(holder.name, forKey: .holderName)
        try members.encodeIfPresent(time?.microseconds, forKey: .reported)
    }
}

/// The target's identity and its mark of the last delivery by this store under this target's name.
public struct FoundMark: Hashable, Sendable {
    /// The target's own identity, or `nil` if it has none of our data yet.
    public var identity: String?
    /// The mark, or `nil` if nothing was delivered yet.
    public var mark: TargetMark?
    /// Whether the target may lose a mark and keep its data, as a broker does that keeps marks only in memory.
    public var mayForget: Bool
    /// Why a target without any of our data may be away, such as a disk that is not mounted. `nil` if it is then another target.
    public var absence: String?

    /// The identity and mark that were found.
    public init(identity: String?, mark: TargetMark?, mayForget: Bool = false, absence: String? = nil) {
        (self.identity, self.mark, self.mayForget, self.absence) = (identity, mark, mayForget, absence)
    }
}
