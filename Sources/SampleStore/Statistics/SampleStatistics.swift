import HealthModel
import Pipeline

/// The statistics of samples that are in no store, such as those of a fleet's center. The samples are in a temporary store, which is removed
/// with this object, so the same readings count as in any store.
///
///     let statistics = try SampleStatistics()
///     try statistics.add(samples)
///     for day in try statistics.days(of: .stepCount, bySource: false) { print(day.start, day.sum) }
public final class SampleStatistics: DayComputing {
    private let folder: LockedFolder
    private let store: SampleStore
    private let ingest: Ingest

    /// Creates the temporary store.
    ///
    /// - Parameter key: The folder for it, or `nil` for that of the machine (``LockedFolder``).
    public init(in key: String? = nil) throws {
        folder = try LockedFolder("vitalgate-days-", in: key)
        store = try SampleStore(
            path: folder.path + "/store.db", access: .write, creation: .init(person: Origin.unassigned, time: 0))
        // Nothing of it has to survive.
        try store.connection.execute("PRAGMA synchronous = OFF")
        ingest = try store.beginIngest(IngestDescription(kind: .import, received: 0))
    }

    /// Sets the user's orders of sources, of which one applies to each moment as in any store.
    public func set(_ orders: [SourceOrder]) throws {
        for order in orders { try store.sources.set(order) }
    }

    /// Adds samples of one person.
    public func add(_ samples: [Sample]) throws {
        _ = try ingest.store(samples.map { GatedSample(sample: $0, rule: nil, repeats: nil, place: Place(.line, 1)) })
    }

    /// Returns the statistics of each local day with samples.
    public func days(of type: SampleType, bySource: Bool) throws -> [Statistics] {
        var query = StatisticsQuery(
            type: type, intervals: CalendarIntervals(.day, zone: TimeZoneRules(fixed: .utc)), bySource: bySource)
        query.usesSampleZones = true
        return try store.statistics(query)
    }
}
