/// A stored sample with its numbers in ledger and change log.
public struct StoredSample: Sendable {
    /// The sample itself.
    public var sample: Sample
    /// The ingest that brought it.
    public var ingest: Int64
    /// Its number in the change log.
    public var seq: Int64

    /// A sample with its place.
    @inlinable public init(sample: Sample, ingest: Int64, seq: Int64) {
        self.sample = sample
        self.ingest = ingest
        self.seq = seq
    }

    /// The sample's UUID.
    public var uuid: SampleIdentity { sample.identity }
}

/// One entry of the change log, as a reader sees it.
public enum SampleChange: Sendable {
    case added(StoredSample)
    case deleted(StoredDeletion)

    /// The number of the change. A reader that keeps it as its anchor sees the following changes.
    public var seq: Int64 {
        switch self {
        case .added(let stored): stored.seq
        case .deleted(let deletion): deletion.seq
        }
    }

    /// The added sample, or the deleted one in its last form.
    public var sample: Sample {
        switch self {
        case .added(let stored): stored.sample
        case .deleted(let deletion): deletion.sample
        }
    }

    /// The origin of the sample, without a copy of the sample.
    public var origin: Origin {
        switch self {
        case .added(let stored): stored.sample.origin
        case .deleted(let deletion): deletion.sample.origin
        }
    }

    /// The size of the sample's body in bytes, without a copy of the sample.
    public var bodySize: Int {
        switch self {
        case .added(let stored): stored.sample.body?.size ?? 0
        case .deleted(let deletion): deletion.sample.body?.size ?? 0
        }
    }

    /// The UUID of the sample that came or went.
    public var uuid: SampleIdentity {
        switch self {
        case .added(let stored): stored.uuid
        case .deleted(let deletion): deletion.uuid
        }
    }
}

/// A deleted sample, as an entry of the change log.
public struct StoredDeletion: Sendable {
    /// The deleted sample. Readers that passed it on need its person, type, source, time and value.
    public var sample: Sample
    /// The sample that a correction put in its place.
    public var replacedBy: String?
    /// The ingest that deleted it.
    public var ingest: Int64
    /// The deletion's place in the change log.
    public var seq: Int64

    /// A deletion by its parts.
    public init(sample: Sample, replacedBy: String?, ingest: Int64, seq: Int64) {
        self.sample = sample
        self.replacedBy = replacedBy
        self.ingest = ingest
        self.seq = seq
    }

    /// The sample's UUID.
    public var uuid: SampleIdentity { sample.identity }
    /// The sample's type.
    public var type: SampleType { sample.origin.type }
}

/// The samples that retention removed permanently from a series, as an entry of the change log.
///
/// A reader removes the samples of this person, type, source and device that started at or after ``from`` and ended before ``before``,
/// except those in ``retained``. Then it has the samples of the store (``removes(_:)``).
public struct Pruning: Hashable, Sendable {
    /// The person of the samples.
    public var person: String
    /// The type of the samples.
    public var type: SampleType
    /// The source's id.
    public var source: String
    /// The device's key, or empty if the samples have no device.
    public var device: String
    /// The start of the first removed sample.
    public var from: Instant
    /// All removed samples ended before this time.
    public var before: Instant
    /// The samples within these bounds that are not removed, such as those that a repair created.
    public var retained: [SampleIdentity]
    /// The entry of the ledger.
    public var ingest: Int64
    /// Its number in the change log.
    public var seq: Int64

    /// Samples of a series that were removed.
    public init(
        of series: (person: String, type: SampleType, source: String, device: String), from: Instant, before: Instant,
        retained: [SampleIdentity] = [], ingest: Int64, seq: Int64
    ) {
        (person, type, source, device) = series
        (self.from, self.before, self.retained, self.ingest, self.seq) = (from, before, retained, ingest, seq)
    }

    /// Whether a sample that a reader has is removed.
    public func removes(_ stored: StoredSample) -> Bool {
        let sample = stored.sample
        return stored.seq < seq && sample.start >= from && sample.end < before && sample.origin.type == type
            && sample.origin.person == person
            && sample.origin.source.id == source && (sample.origin.device?.key ?? "") == device
            && !retained.contains(sample.identity)
    }
}
