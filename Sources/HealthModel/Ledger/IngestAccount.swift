/// The ledger's account of one ingest: every reading that came in, and where it ended.
public struct IngestAccount: Hashable, Sendable {
    /// Why what retention would have removed is refused.
    public static let tooOld = "it ended before the earliest date that the store keeps (retention)"

    /// Why the last row of a table that ends without a line break is held. A note has the line's number before it.
    public static let openEnd =
        "has no line break: the file may be cut there, so its readings are held until the line arrives whole; "
        + "if the file is whole, import it with --whole"
    /// The beginning of the note on a file that breaks off.
    public static let brokenOff = "it was not read to its end"

    /// The ingest's number.
    public var id: Int64
    /// What it did.
    public var kind: IngestKind
    /// What was read: the file's name.
    public var name: String?
    /// The profile that read the file.
    public var profile: String?
    /// In which zone local times were read.
    public var zone: String?
    /// When it began, microseconds since 1970.
    public var received: Int64
    /// When it ended, in microseconds since 1970; nothing while it runs.
    public var finished: Int64?
    /// `running`, `done`, `interrupted` or `failed`.
    public var state: String
    /// Readings that became samples.
    public var stored: Int = 0
    /// Readings that were there already.
    public var duplicate: Int = 0
    /// Readings that cannot be true and are held.
    public var quarantined: Int = 0
    /// Readings that could not be read.
    public var refused: Int = 0
    /// The process whose it is while it runs.
    public var owner: String?
    /// Samples that it deleted, and brought back.
    public var deleted: Int = 0
    public var restored: Int = 0
    /// Of the duplicates, those that another path brought first: the same measurement, told otherwise.
    public var witnesses: Int = 0
    /// Of the stored, those that agree with another device's sample.
    public var linked: Int = 0
    /// Rows and elements that hold no reading to keep, by kind.
    public var skipped: [String: Int] = [:]
    /// What was assumed, in sentences.
    public var notes: [String] = []

    /// An account of nothing so far.
    public init(
        id: Int64, kind: IngestKind, name: String? = nil, profile: String? = nil, zone: String? = nil, received: Int64,
        state: String
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.profile = profile
        self.zone = zone
        self.received = received
        self.state = state
    }

    /// Whether the file seems to be cut: its format says that more was to come, or it ends without a line break.
    public var isCut: Bool { notes.contains { $0.hasSuffix(Self.openEnd) || $0.hasPrefix(Self.brokenOff) } }

    /// Every reading that entered ended somewhere.
    public var read: Int { stored + duplicate + quarantined + refused }
}

/// A refusal that the ledger keeps.
public struct RefusalEntry: Hashable, Sendable {
    /// Why, without the value.
    public var reason: String
    /// `line`, `record` or `byte`.
    public var placeKind: String
    /// Which line, element or byte.
    public var place: Int64
    /// One, or, behind the first thousand of an ingest, how many more of this reason there were.
    public var count: Int

    /// A refusal by its parts.
    public init(reason: String, placeKind: String, place: Int64, count: Int) {
        self.reason = reason
        self.placeKind = placeKind
        self.place = place
        self.count = count
    }
}
