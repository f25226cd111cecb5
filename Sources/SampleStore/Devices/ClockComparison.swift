import HealthModel

/// A comparison of a device's clock with the hub's clock, as evidence for correcting the device's times.
public struct ClockComparison: Hashable, Sendable {
    /// The device's key.
    public var device: String
    /// The time that the device's clock showed, as wall clock time in microseconds.
    public var shown: Int64
    /// The hub's time at that moment, in microseconds since 1970.
    public var received: Int64
    /// The microseconds that the device's clock is ahead of UTC, or nil if it shows the correct local time.
    public var ahead: Int64?
    /// The microseconds that the device's clock is ahead of the zone's local time, if it is only a little off and follows the zone's rules
    /// when clocks go forward or back.
    public var ofZone: Int64?
    /// The zone of the device's local times, if it is known.
    public var zone: TimeZoneRules?
    /// The boot of the hub's machine while nothing has confirmed the hub's clock, or nil if it was right.
    public var boot: String?
    /// The samples that were stored before the error was known.
    public var moves: [Move] = []
    /// Which quarantined readings this comparison releases.
    public var releases = Releases.all

    /// The set of readings that a comparison releases.
    public enum Releases: Sendable {
        /// All readings of the device, because its clock was read.
        case all
        /// Only readings that were sent within five minutes after they were taken. In this case only timestamps were compared, and an older
        /// one may come from the device's memory or from a time when the clock had another error.
        case takenWhenSent
    }

    /// Samples of the device with its time that arrived at a moment, and by how much they are moved, in microseconds. Those that were moved
    /// already have another start, so they stay.
    public struct Move: Hashable, Sendable {
        /// The time of receipt.
        public var received: Int64
        /// The start that they were stored with.
        public var start: Int64
        /// The correction.
        public var step: Int64

        /// Creates a move.
        public init(received: Int64, start: Int64, step: Int64) {
            (self.received, self.start, self.step) = (received, start, step)
        }
    }

    /// Creates a comparison.
    public init(
        device: String, shown: Int64, received: Int64, ahead: Int64?, ofZone: Int64? = nil, zone: TimeZoneRules? = nil,
        boot: String? = nil, releases: Releases = .all
    ) {
        self.ofZone = ofZone
        self.zone = zone
        self.boot = boot
        self.releases = releases
        self.device = device
        self.shown = shown
        self.received = received
        self.ahead = ahead
    }

    /// Returns the comparison after the hub's clock was set, by a step in microseconds. Returns `nil` if the comparison had found the
    /// device's clock to be right, because that was wrong.
    public func moved(by step: Int64) -> ClockComparison? {
        guard let ahead else { return nil }
        var moved = self
        (moved.received, moved.ahead, moved.ofZone) = (received &+ step, ahead &- step, ofZone.map { $0 &- step })
        return moved
    }

    /// Returns the time of a reading of the device, in microseconds since 1970, or `nil` if it is not certain: its local time occurs twice
    /// or never, and its arrival does not show which time is meant.
    func start(of quarantined: QuarantinedTimes) -> Int64? {
        // A time with its own offset is not from a wall clock.
        if let zone, quarantined.start == quarantined.nominal, zone.offset(at: Instant(microseconds: quarantined.start)) != .utc {
            return quarantined.start
        }
        if let ahead, ofZone == nil { return isCertain(quarantined) ? quarantined.nominal &- ahead : nil }
        guard let zone else { return ofZone.map { quarantined.start &- $0 } ?? quarantined.start }
        let local = WallTime(microseconds: quarantined.nominal &- (ofZone ?? 0))
        let times = zone.offsets(at: local).map { local.instant(at: $0).microseconds }
        if times.count == 1 { return isCertain(quarantined) ? times[0] : nil }
        let fresh = times.filter { (quarantined.received &- $0).magnitude < SampleStore.Devices.justNow }
        return fresh.count == 1 ? fresh[0] : nil
    }

    /// Whether the error of the clock was the same at a reading. A hub's clock that nothing has confirmed may be off by hours, so the
    /// comparison does not show whether the device's clock has changed between summer and winter time since the reading.
    private func isCertain(_ quarantined: QuarantinedTimes) -> Bool {
        guard boot != nil, let zone,
            (quarantined.received &- (quarantined.nominal &- (ahead ?? 0))).magnitude >= SampleStore.Devices.justNow
        else { return true }
        return zone.haveSameOffset(WallTime(microseconds: quarantined.nominal), WallTime(microseconds: shown))
    }
}

extension SampleStore.Devices {
    /// The quarantine rule for readings of a clock that was not compared.
    static let clockUnknown = "clock-unknown"
    /// The maximum age of a reading that was just taken, in microseconds.
    static let justNow: UInt64 = 300_000_000

    /// Stores a comparison and releases quarantined readings that it explains. Their times are corrected if the clock is off.
    @discardableResult
    public func save(_ comparison: ClockComparison, description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try connection.transaction {
            try connection.run(
                "INSERT OR REPLACE INTO clock(device, received, shown, ahead, boot) VALUES(?, ?, ?, ?, ?)",
                .text(comparison.device), .integer(comparison.received), .integer(comparison.shown),
                .optional(comparison.ahead), .optional(comparison.boot))
            for move in comparison.moves { try apply(move, of: comparison, description) }
            let quarantined = try quarantinedByClock(of: comparison)
            guard !quarantined.isEmpty else { return (0, 0) }
            return try store.samples.change(description) { _, deletion in
                let released = try quarantined.compactMap { id, start in
                    try release(id, at: start, isCorrected: comparison.ahead != nil, deletion)
                }
                try Regrouping(deletion).update(around: released)
                return quarantined.count
            }
        }
    }

    /// Corrects the samples that were stored before the error of the device's clock was known, in a repair.
    private func apply(_ move: ClockComparison.Move, of comparison: ClockComparison, _ description: IngestDescription) throws {
        var conditions = SampleConditions()
        conditions.device = comparison.device
        conditions.from = Instant(microseconds: move.start)
        conditions.to = Instant(microseconds: move.start &+ 1)
        // A former error may have corrected it.
        conditions.conditionText = "time.origin = device or time.origin = device-corrected"
        conditions.condition = try SamplePredicate(conditions.conditionText ?? "")
        var request = RepairRequest(
            .shift(move.step), of: conditions, takesAmbiguous: true, now: Instant(microseconds: description.received))
        request.received = move.received...move.received
        request.merging = .never
        _ = try store.repairs.apply(request, source: "clock", owner: description.owner)
    }

    /// Returns the comparisons of a device, oldest first.
    public func clockComparisons(of device: String) throws(StoreError) -> [ClockComparison] {
        try clockComparisons(of: device, "ORDER BY received")
    }

    /// Returns the last comparison of a device, or `nil` if there is none.
    public func lastClockComparison(of device: String) throws(StoreError) -> ClockComparison? {
        try clockComparisons(of: device, "ORDER BY received DESC LIMIT 1").first
    }

    /// Returns the keys of devices whose clocks are wrong by an error that was known before a boot of the hub's machine, and that no
    /// comparison of that boot has replaced.
    func clocksKnown(before boot: String) throws(StoreError) -> [String] {
        try connection.list(
            """
            SELECT device FROM clock GROUP BY device
            HAVING max(boot IS ?) = 0 AND max(CASE WHEN boot IS NULL THEN ahead END) IS NOT NULL ORDER BY device
            """, [.text(boot)]
        ) { $0.text(0) }
    }

    /// Corrects the comparisons of a boot after the hub's clock was set by a step in microseconds. Those that found a device's clock to be
    /// right were wrong.
    func moveComparisons(of boot: String, by step: Int64) throws(StoreError) {
        try connection.run("DELETE FROM clock WHERE boot = ? AND ahead IS NULL", .text(boot))
        let moved = try connection.list("SELECT device, received, shown, ahead FROM clock WHERE boot = ?", [.text(boot)]) {
            ClockComparison(
                device: $0.text(0), shown: $0.integer(2), received: $0.integer(1) &+ step, ahead: $0.integer(3) &- step)
        }
        try connection.run("DELETE FROM clock WHERE boot = ?", .text(boot))
        for comparison in moved {
            try connection.run(
                "INSERT OR REPLACE INTO clock(device, received, shown, ahead, boot) VALUES(?, ?, ?, ?, ?)",
                .text(comparison.device), .integer(comparison.received), .integer(comparison.shown),
                .optional(comparison.ahead), .text(boot))
        }
    }

    /// Records that the hub's clock was right since a boot.
    func confirmComparisons(of boot: String) throws(StoreError) {
        try connection.run("UPDATE clock SET boot = NULL WHERE boot = ?", .text(boot))
    }

    /// Removes the comparisons with a clock of the hub whose error nobody knows.
    func removeComparisons(of boot: String) throws(StoreError) {
        try connection.run("DELETE FROM clock WHERE boot = ?", .text(boot))
    }

    private func clockComparisons(of device: String, _ order: String) throws(StoreError) -> [ClockComparison] {
        try connection.list("SELECT received, shown, ahead FROM clock WHERE device = ? \(order)", [.text(device)]) {
            ClockComparison(
                device: device, shown: $0.integer(1), received: $0.integer(0),
                ahead: $0.optionalInteger(2))
        }
    }

    /// The readings that a comparison releases, each with its time in microseconds.
    private func quarantinedByClock(of comparison: ClockComparison) throws(StoreError) -> [(id: Int64, start: Int64)] {
        // Readings that arrived before the hub's clock was set have no device time that could be corrected.
        var released: [(id: Int64, start: Int64)] = []
        for quarantined in try connection.quarantine.times(quarantinedBy: Self.clockUnknown, device: comparison.device) {
            guard let start = comparison.start(of: quarantined) else { continue }
            let doubt = try Self.doubt(quarantined.metadata)
            let agrees = (quarantined.received &- start).magnitude < Self.justNow && doubt != .hubClock
            let isReleased =
                switch doubt {
                case .notCompared?, nil: comparison.releases == .all
                // The clock is still running from its default date.
                case .defaultDate?: comparison.releases == .all && comparison.ahead.map { $0 < -Calendar.day } ?? false
                case .unproven?, .order?, .ambiguous?, .hubClock?: false
                }
            if agrees || isReleased { released.append((quarantined.id, start)) }
        }
        return released
    }

    static func doubt(_ json: String?) throws(StoreError) -> ClockDoubt? {
        guard case .string(let name)? = try doubtful(json)?[ClockDoubt.key] else { return nil }
        return ClockDoubt(rawValue: name)
    }

    /// Returns the times of a reading whose local time occurs twice or never.
    static func possibleTimes(_ json: String?) throws(StoreError) -> [Int64] {
        guard case .string(let text)? = try doubtful(json)?[ClockDoubt.timesKey] else { return [] }
        return text.split(separator: ",").compactMap {
            Instant(iso8601: String($0), zone: TimeZoneRules(fixed: .utc))?.microseconds
        }
    }

    /// Returns the metadata if they contain the reason why a timestamp is doubted, otherwise `nil`.
    private static func doubtful(_ json: String?) throws(StoreError) -> Metadata? {
        guard let json, json.contains(ClockDoubt.key) else { return nil }
        do throws(MetadataError) {
            return try Metadata(json: json)
        } catch {
            throw StoreError(.corrupt, "the metadata of a quarantined reading cannot be read: \(error)")
        }
    }

    /// Turns one quarantined reading into a sample. Its UUID stays the same, because it is based on the time that the clock showed.
    ///
    /// - Parameters:
    ///   - time: The time of the sample, in microseconds.
    ///   - isCorrected: Whether the time comes from a comparison of clocks.
    ///   - isReceipt: Whether it comes from the hub's clock, so that the reading arrived when it was taken.
    /// - Returns: The sample, which other sources may have reported, too.
    func release(
        _ id: Int64, at time: Int64, isCorrected: Bool, isReceipt: Bool = false, _ deletion: Deletion
    ) throws(StoreError) -> SampleKey? {
        let ingest = deletion.ingest
        guard let quarantined = try connection.quarantine.row(id) else { return nil }
        let nominal = quarantined.key.start &+ quarantined.skew
        let arrived = isReceipt ? time : quarantined.key.start &+ quarantined.received
        let context = try store.interner.context(like: quarantined.context) { row in
            // Without an error, the time stays what it is.
            if isCorrected { row.timeOrigin = Int64(TimeOrigin.deviceCorrected.rawValue) }
            row.skew = nominal &- time
        }
        var metadata = quarantined.metadata?.id
        if let doubtful = try Self.doubtful(quarantined.metadata?.json) {
            // The doubt is resolved, so its metadata are removed.
            let rest = doubtful.entries.filter { ![ClockDoubt.key, ClockDoubt.timesKey].contains($0.key) }
                .map { ($0.key, $0.value) }
            metadata = rest.isEmpty ? nil : try store.interner.id(of: Metadata(rest))
        }
        try connection.quarantine.decide([id], "released", by: ingest)
        var key = quarantined.key
        key.start = time
        if try connection.samples.contains(key, among: .tombstones) {
            return try store.quarantine.restoreAfterUndoneAcceptance(key, deletion) ? key : nil
        }
        let isNew = try connection.quarantine.addSample(
            id, start: time, context: context, received: arrived &- time, metadata: metadata, by: ingest)
        return isNew ? key : nil
    }
}
