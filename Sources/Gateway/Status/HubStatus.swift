import HealthModel
import SampleStore

/// How the hub is doing at one moment: what runs, what delivers, what came in. It holds no values of readings.
public struct HubStatus: Codable, Hashable, Sendable {
    /// When it was taken.
    public var time: Instant
    /// The process; nothing where no hub runs, and the store alone was asked.
    public var hub: Process?
    /// The store that the hub writes to, or that was asked.
    public var store: Store
    /// What came in since local midnight.
    public var today: Today
    /// In the order of their start; empty where no hub runs.
    public var sources: [Source] = []
    /// Adopted devices, at most ``maximumDevices``.
    public var devices: [Device] = []
    /// Devices beyond ``maximumDevices``.
    public var devicesLeftOut = 0

    /// More than a machine of this size reads.
    public static let maximumDevices = 256

    /// The process of the hub that runs.
    public struct Process: Codable, Hashable, Sendable {
        /// Its number (pid).
        public var process: Int32
        /// When it started, to the second; reckoned from its uptime.
        public var started: Instant
        /// Whole seconds.
        public var uptime: Int
    }

    /// The store, and whether it can be written.
    public struct Store: Codable, Hashable, Sendable {
        /// Without symbolic links, as far as they can be followed.
        public var path: String
        /// Of the database and its write-ahead log.
        public var bytes: Int
        /// Why nothing can be committed, while that is so.
        public var failure: String?
    }

    /// The ledger's sums of the calendar's day.
    public struct Today: Codable, Hashable, Sendable {
        /// When the day began.
        public var since: Instant
        /// All readings that came in: stored, duplicate, quarantined and refused together.
        public var read = 0
        /// Readings that became samples.
        public var stored = 0
        /// Readings that were there already.
        public var duplicate = 0
        /// Readings that are held.
        public var quarantined = 0
        /// Readings that could not be read.
        public var refused = 0
        /// Frames, rows and elements that hold no reading to keep.
        public var skipped = 0
        /// Readings that came in and are not durable yet: they are in none of the counts. Nothing where no hub runs.
        public var waiting: Int?
    }

    /// A source of the hub, and how it is doing.
    public struct Source: Codable, Hashable, Sendable {
        /// What people call it: `radio`, `serial`, `inbox`, `simulation`.
        public var name: String
        /// `running`, `waiting`, `ignored` or `stopped`.
        public var state: String
        /// When it started last.
        public var started: Instant?
        /// When it is tried again, where it waits.
        public var retry: Instant?
        /// Why it does not run.
        public var reason: String?
        /// Of the source that serves others: how often somebody asked with a token that nobody has, since it started.
        public var wrongTokens: Int?
    }

    /// An adopted device, and how it delivers.
    public struct Device: Codable, Hashable, Sendable {
        /// As the store has it, `bluetooth:C0:01:02:03:04:01`; cut to 200 characters.
        public var address: String
        /// What its person calls it, else what it calls itself.
        public var name: String
        /// Which source reads it; nothing where no hub runs.
        public var source: String?
        /// `live`, or what it waits for.
        public var state: String?
        /// Why it waits, in words for a person; cut to 400 characters.
        public var reason: String?
        /// When its last reading came; from before this run of the hub, when it was taken.
        public var last: Instant?
        /// Readings a minute.
        public var rate: Double?
        /// Seconds between readings while it works, where its profile says so.
        public var expectedInterval: Double?
        /// The time of its last reading, where the next is long due.
        public var silentSince: Instant?
        /// In percent.
        public var battery: Double?
    }

    /// Whether nothing differs that a person would look for: the time that goes by makes no news.
    func saysTheSame(as other: HubStatus) -> Bool {
        var other = other
        other.time = time
        // It is one process, whose start is reckoned from its uptime.
        other.hub = hub
        return self == other
    }
}

extension HubStatus.Today {
    init(since: Instant, _ counts: ReadingCounts) {
        self.since = since
        read = counts.read
        stored = counts.stored
        duplicate = counts.duplicate
        quarantined = counts.quarantined
        refused = counts.refused
        skipped = counts.skipped
    }
}

/// As in all lines that Vitalgate prints: `2026-11-20T06:31:00.000000Z`.
extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let instant = try? Timestamp(iso8601: try container.decode(String.self)).instant else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time with a zone")
        }
        self = instant
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
