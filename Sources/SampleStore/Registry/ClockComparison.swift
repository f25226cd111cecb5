import HealthModel

/// A device's clock beside ours: the evidence by which its times are corrected.
public struct ClockComparison: Hashable, Sendable {
    /// The device's key.
    public var device: String
    /// What the clock showed, microseconds of a wall clock.
    public var shown: Int64
    /// When, by our clock, microseconds since 1970.
    public var received: Int64
    /// By how much it is ahead of UTC, in microseconds; nil where it shows what the zone's clocks show.
    public var ahead: Int64?
    /// Which held readings it explains.
    public var releases = Releases.all

    /// What is released by a comparison.
    public enum Releases: Sendable {
        /// Everything of the device: its clock was read.
        case all
        /// What then was taken when it was sent, within five minutes: only stamps were compared, and an older one may be of a memory, or
        /// of a time when the clock was wrong otherwise.
        case takenWhenSent
    }

    /// Puts a comparison together.
    public init(device: String, shown: Int64, received: Int64, ahead: Int64?, releases: Releases = .all) {
        self.releases = releases
        self.device = device
        self.shown = shown
        self.received = received
        self.ahead = ahead
    }

    /// What it says after our clock was set, by so many microseconds; `nil` where it said that the device's was right: it was not.
    public func moved(by step: Int64) -> ClockComparison? {
        guard let ahead else { return nil }
        return ClockComparison(
            device: device, shown: shown, received: received &+ step, ahead: ahead &- step, releases: releases)
    }
}

extension SampleStore {
    /// The rule by which readings of an unknown clock are held.
    static let clockUnknown = "clock-unknown"
    /// In microseconds.
    private static let justNow: UInt64 = 300_000_000

    /// Keeps a comparison, and releases what was held for want of one: with its time corrected where the clock is off.
    @discardableResult
    public func save(_ comparison: ClockComparison, description: IngestDescription) throws -> (ingest: Int64, count: Int) {
        try connection.transaction {
            try connection.run(
                "INSERT OR REPLACE INTO clock(device, received, shown, ahead) VALUES(?, ?, ?, ?)", .text(comparison.device),
                .integer(comparison.received), .integer(comparison.shown), .optional(comparison.ahead))
            let held = try heldByClock(of: comparison)
            guard !held.isEmpty else { return (0, 0) }
            return try change(description) { _, deletion in
                for id in held { try release(id, ahead: comparison.ahead, deletion) }
                return held.count
            }
        }
    }

    /// The comparisons of a device, oldest first.
    public func clockComparisons(of device: String) throws(StoreError) -> [ClockComparison] {
        try clockComparisons(of: device, "ORDER BY received")
    }

    /// The last comparison of a device; `nil` where there is none.
    public func lastClockComparison(of device: String) throws(StoreError) -> ClockComparison? {
        try clockComparisons(of: device, "ORDER BY received DESC LIMIT 1").first
    }

    private func clockComparisons(of device: String, _ order: String) throws(StoreError) -> [ClockComparison] {
        let statement = try connection.statement("SELECT received, shown, ahead FROM clock WHERE device = ? \(order)")
        defer { statement.reset() }
        try statement.bind([.text(device)])
        var found: [ClockComparison] = []
        while try statement.step() {
            found.append(
                ClockComparison(
                    device: device, shown: statement.integer(1), received: statement.integer(0),
                    ahead: statement.optionalInteger(2)))
        }
        return found
    }

    private func heldByClock(of comparison: ClockComparison) throws(StoreError) -> [Int64] {
        // What arrived while our own clock was not set has no time of the device's that could be corrected.
        let statement = try connection.statement(
            """
            SELECT quarantine.id, start + skew, start + coalesce(received, (SELECT ingest.received FROM ingest
                WHERE ingest.id = quarantine.ingest) - start),
                (SELECT json FROM metadata WHERE metadata.id = quarantine.metadata), start
            FROM quarantine JOIN series ON series.id = series JOIN context ON context.id = context
            WHERE rule = ? AND state = 'held' AND device = ? AND time_origin <> ? ORDER BY quarantine.id
            """)
        defer { statement.reset() }
        try statement.bind([.text(Self.clockUnknown), .text(comparison.device), .integer(Int64(TimeOrigin.receipt.rawValue))])
        var ids: [Int64] = []
        while try statement.step() {
            let start = comparison.ahead.map { statement.integer(1) &- $0 } ?? statement.integer(4)
            let late = statement.integer(2) &- start
            let agrees = late.magnitude < Self.justNow
            let isReleased =
                switch try Self.doubt(statement.optionalText(3)) {
                case .notCompared?, nil: comparison.releases == .all
                // The clock still runs from that date.
                case .defaultDate?: comparison.releases == .all && comparison.ahead.map { $0 < -Calendar.day } ?? false
                case .unproven?, .order?: false
                }
            if agrees || isReleased { ids.append(statement.integer(0)) }
        }
        return ids
    }

    private static func doubt(_ json: String?) throws(StoreError) -> ClockDoubt? {
        guard case .string(let name)? = try doubtful(json)?[ClockDoubt.key] else { return nil }
        return ClockDoubt(rawValue: name)
    }

    /// Metadata that say why a timestamp is doubted; `nil` for others.
    private static func doubtful(_ json: String?) throws(StoreError) -> Metadata? {
        guard let json, json.contains(ClockDoubt.key) else { return nil }
        do throws(MetadataError) {
            return try Metadata(json: json)
        } catch {
            throw StoreError(.corrupt, "the metadata of a quarantined reading cannot be read: \(error)")
        }
    }

    /// Makes one held reading a sample; its UUID, made of the time as the clock showed it, stays what it is.
    ///
    /// - Parameters:
    ///   - ahead: by how much that clock was ahead of UTC; nil where it was right.
    ///   - isReceipt: whether the clock was ours, so that the reading arrived when it was taken.
    func release(_ id: Int64, ahead: Int64?, isReceipt: Bool = false, _ deletion: Deletion) throws(StoreError) {
        let ingest = deletion.ingest
        let held = try connection.statement(
            """
            SELECT start, skew, context, coalesce(received, (SELECT ingest.received FROM ingest
                WHERE ingest.id = quarantine.ingest) - start), metadata,
                (SELECT json FROM metadata WHERE metadata.id = quarantine.metadata) FROM quarantine JOIN context ON context.id = context WHERE quarantine.id = ?
            """)
        defer { held.reset() }
        try held.bind([.integer(id)])
        guard try held.step() else { return }
        let (oldStart, skew) = (held.integer(0), held.integer(1))
        let nominal = oldStart &+ skew
        let start = ahead.map { nominal &- $0 } ?? oldStart
        let arrived = isReceipt ? start : oldStart &+ held.integer(3)
        let context = try interner.context(like: held.integer(2)) { row in
            row.timeOrigin = Int64((ahead == nil ? TimeOrigin.device : .deviceCorrected).rawValue)
            row.skew = nominal &- start
        }
        var metadata = held.optionalInteger(4)
        if let doubtful = try Self.doubtful(held.optionalText(5)) {
            // The doubt is over.
            let rest = doubtful.entries.filter { $0.key != ClockDoubt.key }.map { ($0.key, $0.value) }
            metadata = rest.isEmpty ? nil : try interner.id(of: Metadata(rest))
        }
        held.reset()
        try Judgements(connection: connection).judge([id], "released", by: ingest)
        let place = try connection.statement("SELECT series, hash FROM quarantine WHERE id = ?")
        try place.bind([.integer(id)])
        guard try place.step() else { return }
        let key = try SampleKey(series: place.integer(0), start: start, hash: place.blob(1))
        place.reset()
        if try SampleTable(connection: connection).contains(key, among: .tombstones) {
            _ = try restoreJudged(key, deletion)
            return
        }
        let isNew = try SampleTable(connection: connection).add(
            "SELECT series, ?, hash, value, numeral, ?, duration, ?, grp, ? FROM quarantine WHERE id = ?",
            [
                .integer(start), .integer(context), .integer(arrived &- start), .optional(metadata), .integer(id),
            ], broughtBy: ingest, cause: ingest)
        if isNew { try countAccepted() }
    }
}
