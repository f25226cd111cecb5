import HealthModel

/// Doubts about a pruning whose dates were computed from the present time. A clock that is wrong would remove everything, and nothing
/// brings it back.
extension SampleStore {
    /// How much further than the last pruning one may go, in microseconds: half the retention period, from two days to a month.
    private static func maximumAdvance(_ period: Int64) -> Int64 { min(max(period / 2, 2 * Calendar.day), 31 * Calendar.day) }

    /// Returns why a pruning by age is doubted, or `nil` if it is not.
    ///
    /// - Parameters:
    ///   - dates: The dates, computed from the present time.
    ///   - isConfirmed: Whether a person has confirmed that the dates are right. Then only a time that cannot be right is doubted.
    ///   - targets: The names of the targets to wait for, or `nil` for all targets that ever received data.
    public func pruningDoubt(
        _ dates: [SampleType: Instant], at now: Instant, isConfirmed: Bool = false, waitingFor targets: Set<String>? = nil
    ) throws -> String? {
        guard PlausibleClock.allows(now) else {
            return "the machine's clock shows \(now), which cannot be right: set the date and try again"
        }
        guard !isConfirmed else { return nil }
        let last = try connection.ledger.lastReceived() ?? now.microseconds
        let doubt =
            PlausibleClock.allows(step: max(0, now.microseconds &- last))
            ? try doubtOfAmount(dates, at: now, waitingFor: targets)
            : "the machine's clock shows \(now), more than a year after the last entry of the ledger"
        return doubt.map { $0 + ". Check the date and the retention periods, and then use --confirm" }
    }

    /// Returns why a pruning would remove more than those before it.
    private func doubtOfAmount(
        _ dates: [SampleType: Instant], at now: Instant, waitingFor targets: Set<String>?
    ) throws -> String? {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let untold = try firstUntold(targets)
        let earliest = try earliestPermittedDates()
        var (first, all) = (0, 0)
        for series in try allSeries() {
            guard let date = dates[series.type] else { continue }
            guard let before = earliest[series.type] else {
                first += try count(Ended(.live, of: series.id, before: date, untold: untold)).removable
                all += try liveCount(of: series.id)
                continue
            }
            let advance = date.microseconds &- before.microseconds
            guard advance > Self.maximumAdvance(now.microseconds &- date.microseconds),
                try count(Ended(.live, of: series.id, before: date, untold: untold)).removable > 0
            else { continue }
            return "it would remove samples of '\(series.type.id)' from \(advance / Calendar.day) more days than the last time"
        }
        guard first > 0 else { return nil }
        for series in try allSeries() where dates[series.type] != nil && earliest[series.type] != nil {
            all += try liveCount(of: series.id)
        }
        return first * 2 > all ? "it would remove \(first) of \(all) samples, and no removal has been made before" : nil
    }

    private func liveCount(of series: Int64) throws(StoreError) -> Int {
        let found = try count(Ended(.live, of: series, before: Instant(microseconds: .max), untold: .max))
        return found.removable + found.waiting + found.repaired
    }

    /// Sets earliest dates back, because a wrong clock or a shorter retention period had set them. Nothing is removed, and removed samples
    /// can be imported again.
    ///
    /// - Returns: The former dates of the types that were set back.
    public func setEarliestBack(_ dates: [SampleType: Instant]) throws -> [SampleType: Instant] {
        try connection.transaction {
            let later = try Self.earliestPermittedDates(connection).filter { type, set in dates[type].map { $0 < set } ?? false }
            for type in later.keys {
                guard let date = dates[type] else { continue }
                try connection.settings.set(Self.prefix + type.id, to: .integer(date.microseconds))
            }
            return later
        }
    }
}
