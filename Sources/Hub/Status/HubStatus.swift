import HealthModel
import SampleStore

/// The status of the hub at one moment: its sources, devices and counts, without measured values.
public struct HubStatus: Codable, Hashable, Sendable {
    /// The time of the status.
    public var time: Instant
    /// The hub's process, or `nil` if no hub runs and only the store was read.
    public var hub: Process?
    /// The store of the hub, or the store that was read.
    public var store: Store
    /// The counts since local midnight.
    public var today: Today
    /// The readings in quarantine by rule, at most ``maximumRules``. `nil` if they could not be counted.
    public var quarantine: [Quarantined]?
    /// The sources in the order of their start. Empty if no hub runs.
    public var sources: [Source] = []
    /// The adopted devices, at most ``maximumDevices``.
    public var devices: [Device] = []
    /// The number of devices beyond ``maximumDevices``.
    public var devicesLeftOut = 0

    /// The backups by location, or `nil` if none were ever made.
    public var backups: [Backup]?

    /// The maximum number of devices in a status.
    public static let maximumDevices = 256

    /// The maximum number of rules in a status.
    public static let maximumRules = 20

    /// The readings that a rule quarantined and that are not judged yet.
    public struct Quarantined: Codable, Hashable, Sendable {
        /// The rule, truncated to 200 characters.
        public var rule: String
        /// The number of readings.
        public var count: Int
        /// When the first of them arrived.
        public var since: Instant
    }

    /// The process of a running hub.
    public struct Process: Codable, Hashable, Sendable {
        /// The process id.
        public var process: Int32
        /// The start time, in whole seconds, derived from the uptime.
        public var started: Instant
        /// The uptime in whole seconds.
        public var uptime: Int
    }

    /// The store, and whether it can be written.
    public struct Store: Codable, Hashable, Sendable {
        /// The path, with symbolic links resolved as far as possible.
        public var path: String
        /// The size in bytes of the database and its write-ahead log.
        public var bytes: Int
        /// The reason why nothing can be committed, if so.
        public var failure: String?
        /// The duration of the hub's last commit in seconds. `nil` if no hub runs or it has not committed yet.
        public var commitSeconds: Double?
    }

    /// The ledger's totals for the calendar day.
    public struct Today: Codable, Hashable, Sendable {
        /// The start of the day.
        public var since: Instant
        /// Why the readings could not be counted, so that all counts are 0. `nil` if they were counted.
        public var failure: String?
        /// All readings that came in: the sum of stored, duplicate, quarantined and rejected.
        public var read = 0
        /// Readings that became samples.
        public var stored = 0
        /// Readings that already existed.
        public var duplicate = 0
        /// Quarantined readings.
        public var quarantined = 0
        /// Readings that could not be read.
        public var refused = 0
        /// Frames, rows and elements without a reading to store.
        public var skipped = 0
        /// Readings that are not durable yet and not in the other counts. `nil` if no hub runs.
        public var waiting: Int?
    }

    /// The status of a source of the hub.
    public struct Source: Codable, Hashable, Sendable {
        /// The name: `radio`, `serial`, `inbox`, `simulation`.
        public var name: String
        /// `running`, `waiting`, `ignored` or `stopped`.
        public var state: String
        /// The time of the last start.
        public var started: Instant?
        /// The time of the next attempt if it waits.
        public var retry: Instant?
        /// The reason why it does not run.
        public var reason: String?
        /// The number of requests with an invalid token since the start, for the API server.
        public var wrongTokens: Int?
        /// The number of requests that were refused since the start because a share or everything was in use, for the API server.
        public var refusedForLoad: Int?
        /// These requests by bound, or `nil` if there are none.
        public var refusals: [LoadRefusals]?
    }

    /// The status of an adopted device.
    public struct Device: Codable, Hashable, Sendable {
        /// The address as in the store, `bluetooth:C0:01:02:03:04:01`, truncated to 200 characters.
        public var address: String
        /// The name given by the user, or else the device's own.
        public var name: String
        /// The name of its source, or `nil` if no hub runs.
        public var source: String?
        /// `live`, or the event that it waits for.
        public var state: String?
        /// The reason for waiting, for the user, truncated to 400 characters.
        public var reason: String?
        /// The receive time of the last reading. From before this run of the hub, it is the time of the measurement.
        public var last: Instant?
        /// Readings per minute.
        public var rate: Double?
        /// The seconds between readings while it works, if its profile defines them.
        public var expectedInterval: Double?
        /// The time of the last reading, if the next one is long overdue.
        public var silentSince: Instant?
        /// The battery level in percent.
        public var battery: Double?
    }

    /// Whether the statuses are equal except for the passage of time.
    func hasSameContent(as other: HubStatus) -> Bool {
        var other = other
        other.time = time
        // The process is the same, but its derived start may differ.
        other.hub = hub
        // Each commit takes another time.
        other.store.commitSeconds = store.commitSeconds
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

/// Encodes times as in all printed lines: `2026-11-20T06:31:00.000000Z`.
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
