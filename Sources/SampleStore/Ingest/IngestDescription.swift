import HealthModel

/// What a new ingest is told of itself.
public struct IngestDescription: Sendable {
    /// What it does.
    public var kind: IngestKind
    /// The file's name, or what else it works on.
    public var name: String?
    /// The profile that read the file.
    public var profile: String?
    /// The zone in which local times are read.
    public var zone: String?
    /// Microseconds since 1970, by the hub's clock.
    public var received: Int64
    /// What is assumed.
    public var notes: [String]
    /// Names the process that is at it, so that another can tell whether it still is.
    public var owner: String?
    /// Whether readings are compared with those of other paths; else only the very same ones are duplicates.
    public var comparesPaths: Bool
    /// Whether a higher version of a record replaces a lower one of the same person, type and source also where another device measured it,
    /// as HealthKit has it for apps that save. What imports tell stays apart by device: an export names sources, not apps, and two watches of
    /// one name must not replace each other's samples.
    public var replacesAcrossDevices = false
    /// Whether readings are linked with those of other paths that measured the same, and are otherwise compared with nothing: so it is with what
    /// a client saves.
    public var linksCopies = false

    /// Describes an ingest before it begins.
    public init(
        kind: IngestKind, name: String? = nil, profile: String? = nil, zone: String? = nil, received: Int64, notes: [String] = [],
        owner: String? = nil, comparesPaths: Bool = true
    ) {
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
