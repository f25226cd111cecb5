/// The ledger's report of one ingest, with the number of readings for each outcome.
public struct IngestAccount: Hashable, Sendable {
    /// The reason to refuse readings that a file or a client reports and that would be quarantined, if a person has too many of them.
    public static let quarantineFull = "too many readings of the person are in quarantine: accept or reject them first"

    /// The reason to refuse samples that retention would remove.
    public static let tooOld = "it ended before the earliest date that the store keeps (retention)"
    /// The reason why a reading is refused that has the source of a client but was not saved by it.
    public static let foreignClient =
        "its source is a client of this hub, and only the client itself can add readings: remove the source"

    /// The reason to quarantine the last row of a table that ends without a line break. In a note, the line's number comes first.
    public static let openEnd =
        "has no line break: the file may be cut there, so its readings are quarantined until the complete line arrives. "
        + "If the file is complete, import it with --whole"
    /// The beginning of the note about a file that breaks off.
    public static let brokenOff = "it was not read to its end"

    /// The note about a file that was not read to its end, because the disk has no room that it may use.
    public static let diskUsedUp =
        "the rest of it was not imported, because the disk is nearly full: free space and import it again"

    /// The ingest's number.
    public var id: Int64
    /// The operation that it records.
    public var kind: IngestKind
    /// The name of the file.
    public var name: String?
    /// The profile that read the file.
    public var profile: String?
    /// The time zone of local times.
    public var zone: String?
    /// The start, in microseconds since 1970.
    public var received: Int64
    /// The end, in microseconds since 1970, or `nil` while it runs.
    public var finished: Int64?
    /// `running`, `done`, `interrupted` or `failed`.
    public var state: String
    /// Readings that became samples.
    public var stored: Int = 0
    /// Readings that were already stored.
    public var duplicate: Int = 0
    /// Implausible readings that are quarantined.
    public var quarantined: Int = 0
    /// Readings that could not be read.
    public var refused: Int = 0
    /// The process that runs it, while it runs.
    public var owner: String?
    /// Samples that it deleted, and samples that it restored.
    public var deleted: Int = 0
    public var restored: Int = 0
    /// Duplicates of a reading that another path brought first, in another form.
    public var nearDuplicates: Int = 0
    /// Stored samples that agree with another device's sample.
    public var linked: Int = 0
    /// Rows and elements without a reading to store, by kind.
    public var skipped: [String: Int] = [:]
    /// The assumptions that were made, as sentences.
    public var notes: [String] = []

    /// A report without counts.
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

    /// Whether the file seems to be truncated, because its format promises more data or it ends without a line break.
    public var isCut: Bool { notes.contains { $0.hasSuffix(Self.openEnd) || $0.hasPrefix(Self.brokenOff) } }

    /// Whether the import stopped, because the disk had no room that it may use.
    public var isStoppedByDisk: Bool { notes.contains(Self.diskUsedUp) }

    /// The number of readings, which is the sum of all outcomes.
    public var read: Int { stored + duplicate + quarantined + refused }
}

/// A refusal in the ledger.
public struct RefusalEntry: Hashable, Sendable {
    /// The reason, without the value.
    public var reason: String
    /// `line`, `record` or `byte`.
    public var placeKind: String
    /// The number of the line, element or byte.
    public var place: Int64
    /// One, or the number of further refusals for this reason after the first thousand of an ingest.
    public var count: Int

    /// A refusal with its parts.
    public init(reason: String, placeKind: String, place: Int64, count: Int) {
        self.reason = reason
        self.placeKind = placeKind
        self.place = place
        self.count = count
    }
}
