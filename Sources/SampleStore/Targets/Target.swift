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

    /// As the configuration has it.
    public var name: String
    /// What it has for good: everything up to there.
    public var anchor: Anchor
    /// Changes that it took, of all time.
    public var delivered: Int
    /// Changes that it has no place for, of all time.
    public var leftOut: Int
    /// Whether it takes anything.
    public var state: State
    /// What it said last where it did not.
    public var words: String?
    /// When state or cursor changed last.
    public var changed: Instant
    /// What is delivered to it, as the configuration had it when it began: another filter makes other contents.
    public var filter: String

    /// A target that has nothing yet.
    public init(name: String, filter: String, at time: Instant) {
        (self.name, self.filter) = (name, filter)
        (anchor, delivered, leftOut, state, words, changed) = (.beginning, 0, 0, .delivering, nil, time)
    }
}

/// A change that a target did not take.
public struct SetAside: Hashable, Sendable {
    /// The change's number.
    public var seq: Int64
    /// The sample's.
    public var uuid: SampleIdentity
    /// The target's.
    public var words: String
    /// When it was refused.
    public var time: Instant

    /// A change that was refused.
    public init(seq: Int64, uuid: SampleIdentity, words: String, time: Instant) {
        (self.seq, self.uuid, self.words, self.time) = (seq, uuid, words, time)
    }
}

extension SampleStore {
    /// All targets that were ever delivered to, by name.
    public func targets() throws(StoreError) -> [Target] {
        let statement = try connection.statement(
            "SELECT name, anchor, delivered, left_out, state, words, changed, filter FROM target ORDER BY name")
        defer { statement.reset() }
        var targets: [Target] = []
        while try statement.step() {
            guard let anchor = Anchor(statement.text(1)), let state = Target.State(rawValue: statement.text(4)) else {
                throw StoreError(.corrupt, "the cursor of the target '\(statement.text(0))' cannot be read")
            }
            var target = Target(
                name: statement.text(0), filter: statement.text(7), at: Instant(microseconds: statement.integer(6)))
            (target.anchor, target.state, target.words) = (anchor, state, statement.optionalText(5))
            (target.delivered, target.leftOut) = (Int(statement.integer(2)), Int(statement.integer(3)))
            targets.append(target)
        }
        return targets
    }

    /// Keeps how far a target has come, with what it did not take on the way, in one transaction.
    public func save(_ target: Target, setAside: [SetAside] = []) throws {
        try connection.transaction {
            try connection.run(
                "INSERT OR REPLACE INTO target VALUES(?, ?, ?, ?, ?, ?, ?, ?)", .text(target.name), .text("\(target.anchor)"),
                .integer(Int64(target.delivered)), .integer(Int64(target.leftOut)), .text(target.state.rawValue),
                target.words.map { .text($0) } ?? .null, .integer(target.changed.microseconds), .text(target.filter))
            for each in setAside {
                try connection.run(
                    "INSERT OR REPLACE INTO set_aside VALUES(?, ?, ?, ?, ?)", .text(target.name), .integer(each.seq),
                    .text(each.uuid.description), .text(each.words), .integer(each.time.microseconds))
            }
        }
    }

    /// What a target did not take, in the order of numbers.
    public func setAside(by target: String) throws(StoreError) -> [SetAside] {
        let statement = try connection.statement("SELECT seq, uuid, words, time FROM set_aside WHERE target = ? ORDER BY seq")
        defer { statement.reset() }
        try statement.bind([.text(target)])
        var found: [SetAside] = []
        while try statement.step() {
            guard let uuid = SampleIdentity(statement.text(1)) else {
                throw StoreError(.corrupt, "what the target '\(target)' did not take cannot be read")
            }
            found.append(
                SetAside(
                    seq: statement.integer(0), uuid: uuid, words: statement.text(2),
                    time: Instant(microseconds: statement.integer(3))))
        }
        return found
    }

    /// Forgets changes that were set aside: they were taken after all, or a person gives them up.
    public func forgetSetAside(_ seqs: [Int64], of target: String) throws {
        try connection.transaction {
            for seq in seqs {
                try connection.run("DELETE FROM set_aside WHERE target = ? AND seq = ?", .text(target), .integer(seq))
            }
        }
    }
}
