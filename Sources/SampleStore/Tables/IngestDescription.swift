import HealthModel

/// The description of a new ledger entry.
public struct IngestDescription: Sendable {
    /// The kind of the entry.
    public var kind: IngestKind
    /// The name of the file or of another input.
    public var name: String?
    /// The profile that read the file.
    public var profile: String?
    /// The time zone of local times.
    public var zone: String?
    /// The time in microseconds since 1970, by the hub's clock.
    public var received: Int64
    /// The assumptions that were made.
    public var notes: [String]
    /// The owning process, so that other processes can check whether it still runs.
    public var owner: String?
    /// Whether readings are compared with those of other paths. If not, only identical readings are duplicates.
    public var comparesPaths: Bool
    /// Whether a higher version of a record replaces a lower one of the same person, type and source even if another
    /// device measured it, as in HealthKit for apps that save samples. Imports keep devices apart, because an export
    /// names sources instead of apps, and two watches with the same name must not replace each other's samples.
    public var replacesAcrossDevices = false
    /// Whether readings are linked with the same measurements of other paths but not compared with them in any other
    /// way. This is used for samples that a client saves.
    public var linksCopies = false
    /// The source of the client that saves the readings, if any. Nothing else adds readings to the source of a client.
    public var client: String?
    /// Whether the readings return from a copy of this store's readings, so that those of its clients are accepted as well.
    public var isRecovery: Bool
    /// Whether a member of the household, a phone or another client brought the readings. They decide nothing about readings of others.
    public var isOfMember: Bool
    /// The only people whose samples may end, or `nil` if those of all may. The readings of a member also name the people.
    public var people: Set<String>?

    /// Creates a description.
    public init(
        kind: IngestKind, name: String? = nil, profile: String? = nil, zone: String? = nil, received: Int64, notes: [String] = [],
        owner: String? = nil, comparesPaths: Bool = true, isOfMember: Bool = false, isRecovery: Bool = false
    ) {
        self.isRecovery = isRecovery
        self.isOfMember = isOfMember
        self.comparesPaths = comparesPaths
        self.owner = owner
        self.kind = kind
        self.name = name
        self.profile = profile
        self.zone = zone
        self.received = received
        self.notes = notes
    }
}
