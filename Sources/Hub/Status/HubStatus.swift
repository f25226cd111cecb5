import HealthModel
import HomeAssistantSource
import SampleStore

/// The status of the hub at one moment: its sources, devices and counts, without measured values.
package struct HubStatus: Codable, Hashable, Sendable {
    package var time: Instant
    /// The hub's process, or `nil` if no hub runs and only the store was read.
    package var hub: Process?
    /// The store of the hub, or the store that was read.
    package var store: Store
    /// The counts since local midnight.
    package var today: Today
    /// The readings in quarantine by rule, at most ``maximumRules``. `nil` if they could not be counted.
    package var quarantine: [Quarantined]?
    /// The sources in the order of their start. Empty if no hub runs.
    package var sources: [Source] = []
    /// The adopted devices, at most ``maximumDevices``.
    package var devices: [Device] = []
    /// The number of devices beyond ``maximumDevices``.
    package var devicesLeftOut = 0

    /// The backups by location, or `nil` if none were ever made.
    package var backups: [Backup]?

    /// The state of updates of the package, or `nil` before the first check.
    package var update: UpdateState?

    package static let maximumDevices = 256

    /// The maximum number of radios of a source in a status.
    package static let maximumRadios = 32

    package static let maximumRules = 20

    /// The readings that a rule quarantined and that are not judged yet.
    package struct Quarantined: Codable, Hashable, Sendable {
        /// The rule, truncated to 200 characters.
        package var rule: String
        package var count: Int
        /// When the first of them arrived.
        package var since: Instant
    }

    package struct Process: Codable, Hashable, Sendable {
        /// The process id.
        package var process: Int32
        /// The start time, in whole seconds, derived from the uptime.
        package var started: Instant
        /// The uptime in whole seconds.
        package var uptime: Int
    }

    /// The store, and whether it can be written.
    package struct Store: Codable, Hashable, Sendable {
        /// The path, with symbolic links resolved as far as possible.
        package var path: String
        /// The size in bytes of the database and its write-ahead log.
        package var bytes: Int
        /// The reason why nothing can be committed, if so.
        package var failure: String?
        /// The duration of the hub's last commit in seconds. `nil` if no hub runs or it has not committed yet.
        package var commitSeconds: Double?
    }

    /// The ledger's totals for the calendar day.
    package struct Today: Codable, Hashable, Sendable {
        package var since: Instant
        /// Why the readings could not be counted, so that all counts are 0. `nil` if they were counted.
        package var failure: String?
        /// All readings that came in: the sum of stored, duplicate, quarantined and rejected.
        package var read = 0
        /// Readings that became samples.
        package var stored = 0
        /// Readings that already existed.
        package var duplicate = 0
        package var quarantined = 0
        /// Readings that could not be read.
        package var refused = 0
        /// Frames, rows and elements without a reading to store.
        package var skipped = 0
        /// Readings that are not durable yet and not in the other counts. `nil` if no hub runs.
        package var waiting: Int?
    }

    /// The state of a process beside the hub that reports it, such as the one that evaluates alerts.
    package struct ProcessState {
        package var name: String
        /// The uptime at its start, or `nil` if it does not run.
        package var started: Duration?
        /// The uptime of the next start, if it does not run.
        package var retriesAt: Duration?
        /// Why it does not work, or `nil` if it does.
        package var failure: String?
    }

    package struct Source: Codable, Hashable, Sendable {
        /// The name: `radio`, `serial`, `inbox`, `api`, `simulation`, or `alerts`.
        package var name: String
        /// `running`, `waiting`, `ignored` or `stopped`.
        package var state: String
        /// The time of the last start.
        package var started: Instant?
        /// The time of the next attempt if it waits.
        package var retry: Instant?
        /// The reason why it does not run.
        package var reason: String?
        /// The number of requests with an invalid token since the start, for the API server.
        package var wrongTokens: Int?
        /// The number of requests that were refused since the start because a share or everything was in use, for the API server.
        package var refusedForLoad: Int?
        /// These requests by bound, or `nil` if there are none.
        package var refusals: [LoadRefusals]?
        /// The counts of other receivers, or `nil` for other sources.
        package var adverts: AdvertCounts?
        /// The names of their radios, at most ``maximumRadios``, or `nil` for other sources.
        package var radios: [String]?
    }

    package struct Device: Codable, Hashable, Sendable {
        /// The address as in the store, `bluetooth:C0:01:02:03:04:01`, truncated to 200 characters.
        package var address: String
        /// The name given by the user, or else the device's own.
        package var name: String
        /// The name of its source, or `nil` if no hub runs.
        package var source: String?
        /// `live`, or the event that it waits for.
        package var state: String?
        /// The reason for waiting, for the user, truncated to 400 characters.
        package var reason: String?
        /// The receive time of the last reading. From before this run of the hub, it is the time of the measurement.
        package var last: Instant?
        /// Readings per minute.
        package var rate: Double?
        /// The seconds between readings while it works, if its profile defines them.
        package var expectedInterval: Double?
        /// The time of the last reading, if the next one is long overdue.
        package var silentSince: Instant?
        /// The battery level in percent.
        package var battery: Double?
        /// The receivers that hear its advertisements, the best first, at most ``Reception/maximumShown``. `nil` if there are none.
        package var receivers: [Reception]?
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
