import HealthModel

/// A query for samples, with their order.
public struct SampleQuery: Sendable {
    /// The condition that samples must match.
    public var predicate: SamplePredicate
    /// The sort order. Samples that are equal in all fields are sorted by start. Empty means by start.
    public var order: [SampleOrder]
    /// The maximum number of samples, or `nil` for no limit.
    public var limit: Int?
    /// Whether the result includes blood pressures derived from frames (Decisions/0029).
    public var derivesCorrelations = false

    /// Creates a query for all samples that match a condition.
    ///
    /// - Parameter descending: Whether the newest come first.
    public init(_ predicate: SamplePredicate, descending: Bool = false, limit: Int? = nil) {
        self.init(predicate, order: descending ? [SampleOrder(.start, descending: true)] : [], limit: limit)
    }

    /// Creates a query with a sort order for all samples that match a condition.
    public init(_ predicate: SamplePredicate, order: [SampleOrder], limit: Int? = nil) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
    }

    /// Whether the samples are sorted by start, newest first.
    public var descending: Bool {
        get { order == [SampleOrder(.start, descending: true)] }
        set { order = newValue ? [SampleOrder(.start, descending: true)] : [] }
    }

    /// Whether the store reads the samples in their order. This is the case if start is the only field.
    var isStreamed: Bool { order.isEmpty || (order.count == 1 && order[0].field == .start) }

    /// Creates a query from separate conditions.
    ///
    /// - Parameters:
    ///   - types: The types, or `nil` for all.
    ///   - from: The first start that is included.
    ///   - to: The first start that is excluded.
    ///   - person: A person's UUID.
    ///   - source: A source's id or name.
    ///   - device: A device's key, name, model or serial number.
    ///   - condition: An additional condition.
    public init(
        types: Set<SampleType>? = nil, from: Instant? = nil, to: Instant? = nil, person: String? = nil, source: String? = nil,
        device: String? = nil, where condition: SamplePredicate? = nil, descending: Bool = false, limit: Int? = nil
    ) {
        var conditions = SampleConditions(types: types)
        (conditions.from, conditions.to) = (from, to)
        (conditions.person, conditions.source, conditions.device) = (person, source, device)
        conditions.condition = condition
        self.init(conditions.predicate, descending: descending, limit: limit)
    }
}

extension SampleStore.Samples {
    /// Registers the category types that exist only in this store, so that queries can name them.
    func learnTypes() throws(StoreError) {
        let category = SampleKind.category.rawValue
        for (_, type, kind) in try connection.series.kinds() where kind == category {
            _ = SampleType(category: type)
        }
    }

    /// Returns the live sample with this UUID, or `nil` if there is none.
    public func sample(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        for key in try table.keys(of: uuid) {
            if let found = try table.stored(at: key) { return found }
        }
        return nil
    }

    /// Returns a cursor that reads samples in the query's order. It sees the store as it is now, regardless of later changes.
    public func cursor(matching query: SampleQuery) throws(StoreError) -> SampleCursor {
        try SampleCursor(store: store, query: query)
    }
}
