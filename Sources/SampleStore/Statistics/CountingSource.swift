import HealthModel

/// A series as a source of statistics, with its display names.
public struct CountingSource: Hashable, Sendable {
    /// The series.
    public var series: SeriesDescription
    /// The source's name, or its id if it has none.
    public var sourceName: String
    /// The device's name, or `nil` if it has none.
    public var deviceName: String?
    /// The device's model, or `nil` if it is unknown.
    public var model: String?
    /// The start of the first sample.
    public var first: Instant
    /// The start of the last sample.
    public var last: Instant
}

extension SampleStore.Sources {
    /// Returns the sources of a query that have samples, in the order of their priority.
    ///
    /// - Parameter named: Additional sources and devices in order of priority, after those of the orders that the store contains.
    public func counting(matching query: SampleQuery, _ named: [String]) throws(StoreError) -> [CountingSource] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var found: [CountingSource] = []
        for series in try sorted(try self.store.samples.series(matching: query), by: named) {
            guard let (first, last) = try table.extent(of: series.id),
                let names = try connection.series.names(ofSeries: series.id)
            else { continue }
            found.append(
                CountingSource(
                    series: series, sourceName: names.source ?? series.source, deviceName: names.device, model: names.model,
                    first: Instant(microseconds: first), last: Instant(microseconds: last)))
        }
        return found
    }
}
