import HealthModel

extension SampleStore {
    /// Returns the spans of a query's intervals whose statistics may change if samples are added or deleted, sorted and disjoint.
    ///
    /// - Parameters:
    ///   - query: A query for one type.
    ///   - changed: The added and deleted samples. They may be of other types and people, and then count for nothing.
    public func intervals(of query: StatisticsQuery, affectedBy changed: [Sample]) throws(StoreError) -> [Range<Instant>] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let all = try samples.series(matching: query.samples)
        var maximumDuration: Int64 = 0
        for series in all { maximumDuration = max(maximumDuration, series.maximumDuration) }
        var intervals: [StatisticsWindow] = []
        for series in all {
            let own = changed.filter { series.describes($0.origin) }
            guard !own.isEmpty else { continue }
            let spans = own.map { StatisticsWindow(from: $0.start.microseconds, to: max($0.start, $0.end).microseconds) }
            for sample in own {
                maximumDuration = max(maximumDuration, sample.end.microseconds &- sample.start.microseconds)
            }
            // Neighbors in one query for their linked samples.
            for var span in StatisticsReach.joined(spans, gap: Self.joinedGap) {
                let (low, high) = (span.from, span.to)
                for linked in try connection.duplicates.linked(with: series.id, from: low, through: high) {
                    span.from = min(span.from, linked.first)
                    span.to = max(span.to, linked.last + maximumDuration)
                }
                intervals.append(span)
            }
        }
        let plan = StatisticsPlan(query)
        return StatisticsReach(query, maximumDuration: maximumDuration).windows(of: intervals, plan.grid).map {
            Instant(microseconds: $0.from)..<Instant(microseconds: $0.to)
        }
    }

    /// Changed samples with a smaller gap between them are one span.
    private static let joinedGap: Int64 = 3_600_000_000

    /// Whether samples were removed permanently without being deleted.
    public func hasRemovedSamples() throws(StoreError) -> Bool { try connection.settings.integer("pruned") != nil }
}

extension SeriesDescription {
    fileprivate func describes(_ origin: Origin) -> Bool {
        person == origin.person && type == origin.type && source == origin.source.id && device == (origin.device?.key ?? "")
    }
}
