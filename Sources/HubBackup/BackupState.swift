import FoundationEssentials
import Glibc
import HealthModel
import Ingestion

/// The state of the backups at each location, in a file beside the store. It contains no readings and no keys.
package struct BackupState: Codable, Hashable, Sendable {
    package struct Place: Codable, Hashable, Sendable {
        /// When the last backup was tried, in microseconds since 1970.
        package var tried: Int64?
        /// When the last verified backup was made.
        package var made: Int64?
        /// The number of changes of the store in it.
        package var lastChange: Int64?
        package var samples: Int?
        /// The size of its store in bytes.
        package var bytes: Int?
        /// The bytes that were added at the location.
        package var added: Int?
        /// The number of erased persons that are in no backup at the location any more.
        package var erasures: Int64?
        /// When backups were last removed and their space freed.
        package var pruned: Int64?
        /// When a backup was last restored and checked.
        package var drilled: Int64?
        /// The time of the newest backup that was restored and checked.
        package var proven: Int64?
        package var drillTried: Int64?
        /// Why the last backup failed, or `nil` if it succeeded.
        package var failure: String?
        /// Why the last drill failed.
        package var drillFailure: String?
        /// How many backups failed one after another.
        package var failures: Int?
        /// Since when the folder has not been there.
        package var away: Int64?
        /// Whether the next backup may follow one of another copy of the store, because the user has moved the store.
        package var takesOver: Bool?
        /// When the first backup was made.
        package var began: Int64?
        /// What each receiver of alerts was told, by its name. Nothing for a receiver that knows of no trouble.
        package var reported: [String: String]?

        /// The state before the first backup, or the default schedule.
        package init() {}
    }

    /// The states by the names of the locations.
    package var places: [String: Place] = [:]

    /// The state before the first backup, or the default schedule.
    package init() {}

    /// The path of the state's folder, which has the keys as well.
    package static func folder(ofStore store: String) -> String { store + "-backup" }

    private static func path(_ store: String) -> String { folder(ofStore: store) + "/state.json" }

    /// Reads the state, which is empty if there is none.
    package init(ofStore store: String) {
        guard let bytes = SmallFile.read(Self.path(store), limit: 1 << 20),
            let state = try? JSONDecoder().decode(BackupState.self, from: Data(bytes))
        else { return }
        self = state
    }

    package static func change(_ name: String, ofStore store: String, _ body: (inout Place) -> Void) throws(BackupFailure) {
        try change(store) { body(&$0.places[name, default: Place()]) }
    }

    /// Lets the next backup at each known location follow one of another copy of the store.
    package static func takeOver(ofStore store: String) throws(BackupFailure) {
        guard !BackupState(ofStore: store).places.isEmpty else { return }
        try change(store) { state in
            for name in state.places.keys { state.places[name]?.takesOver = true }
        }
    }

    package static func remove(_ name: String, ofStore store: String) throws(BackupFailure) {
        try change(store) { $0.places[name] = nil }
    }

    /// Writes down that a backup or a drill could not be tried or did not succeed, so that it is tried again later and later.
    ///
    /// - Parameter start: When the attempt began.
    package static func note(
        _ failure: BackupFailure, of name: String, ofStore store: String, at start: Instant
    ) throws(BackupFailure) {
        // A run that was stopped is tried again at once, and another process writes down its own run.
        guard failure.kind != .stopped else { return }
        try change(name, ofStore: store) { place in
            guard failure.kind != .away else {
                place.away = place.away ?? start.microseconds
                return
            }
            place.away = nil
            place.tried = start.microseconds
            place.failure = failure.description
            place.failures = min((place.failures ?? 0) + 1, 1000)
        }
    }

    /// Changes the file. The hub, its backup and its alerts do so at any time, and wait for each other.
    private static func change(_ store: String, _ body: (inout BackupState) -> Void) throws(BackupFailure) {
        try makeFolder(ofStore: store)
        let folder = folder(ofStore: store)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw BackupFailure(.permission, "\(folder): \(String(cString: strerror(errno)))") }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0, errno == EINTR {}
        var state = BackupState(ofStore: store)
        body(&state)
        var status = stat()
        let isOfOther = geteuid() == 0 && fstat(lock, &status) == 0
        try state.write(store, owner: isOfOther ? (status.st_uid, status.st_gid) : nil)
    }

    private func write(_ store: String, owner: (user: uid_t, group: gid_t)?) throws(BackupFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(self) else { throw BackupFailure(.failed, "the state cannot be written") }
        do {
            try SmallFile.replace(
                Self.path(store), with: String(decoding: data, as: UTF8.self) + "\n", mode: 0o600, owner: owner)
        } catch {
            throw BackupFailure(.permission, "the state of the backups cannot be written: \(error)")
        }
    }

    static func makeFolder(ofStore store: String) throws(BackupFailure) {
        let folder = folder(ofStore: store)
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw BackupFailure(.permission, "\(folder): \(String(cString: strerror(errno)))")
        }
    }
}

/// When backups are made, and how many are kept.
package struct BackupSchedule: Hashable, Sendable {
    /// Minutes after local midnight.
    package var times: [Int] = [210]
    /// The numbers of days, weeks, and months whose last backup is kept.
    package var (daily, weekly, monthly) = (7, 5, 12)
    /// Whether a drill restores into a scratch file. Otherwise it only reads the data and compares it.
    package var drillRestores = true

    /// The state before the first backup, or the default schedule.
    package init() {}

    private static let (minute, hour, day): (Int64, Int64, Int64) = (60_000_000, 3_600_000_000, 86_400_000_000)
    /// The longest time between drills.
    private static let drillEvery = 7 * day
    /// How often space is freed.
    static let pruneEvery = 7 * day

    /// The tasks of a location that are due.
    package struct Due: Hashable, Sendable {
        package var backup: Bool
        package var drill: Bool
        /// Creates the tasks of a location.
        package init(backup: Bool = false, drill: Bool = false) { (self.backup, self.drill) = (backup, drill) }

        /// Whether neither is due.
        package var isNothing: Bool { !backup && !drill }
    }

    /// - Parameter erasures: the number of erased persons in the store.
    package func due(_ place: BackupState.Place, erasures: Int64, zone: TimeZoneRules, now: Instant) -> Due {
        var due = Due()
        // 15 minutes after a failure, then 30 and so on, up to six hours. A clock that was set back does not delay it for longer.
        let delay = min(15 * Self.minute << Int64(min(max(0, (place.failures ?? 0) - 1), 5)), 6 * Self.hour)
        let isWaiting = (place.failures ?? 0) > 0 && abs(now.microseconds - (place.tried ?? 0)) < delay
        let isOld = place.made.map { $0 < lastTime(zone, now).microseconds || $0 > now.microseconds + Self.day } ?? true
        due.backup = !isWaiting && (isOld || (place.erasures ?? 0) < erasures)
        let isTried = place.drillTried.map {
            abs(now.microseconds - $0) < (place.drillFailure == nil ? Self.drillEvery : Self.day)
        }
        due.drill = place.made != nil && isTried != true && !isWaiting
        return due
    }

    /// The last of the daily times that has passed.
    private func lastTime(_ zone: TimeZoneRules, _ now: Instant) -> Instant {
        let offset = zone.offset(at: now)
        let wall = now.wallTime(at: offset).microseconds
        let midnight = wall - ((wall % Self.day) + Self.day) % Self.day
        let candidates = times.flatMap { [midnight + Int64($0) * Self.minute, midnight - Self.day + Int64($0) * Self.minute] }
        return WallTime(microseconds: candidates.filter { $0 <= wall }.max() ?? midnight - Self.day).instant(at: offset)
    }
}
