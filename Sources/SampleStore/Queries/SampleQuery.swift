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
    ///   - subject: A person's UUID.
    ///   - source: A source's id or name.
    ///   - device: A device's key, name, model or serial number.
    ///   - condition: An additional condition.
    public init(
        types: Set<SampleType>? = nil, from: Instant? = nil, to: Instant? = nil, subject: String? = nil, source: String? = nil,
        device: String? = nil, where condition: SamplePredicate? = nil, descending: Bool = false, limit: Int? = nil
    ) {
        var conditions = SampleConditions(types: types)
        (conditions.from, conditions.to) = (from, to)
        (conditions.subject, conditions.source, conditions.device) = (subject, source, device)
        conditions.condition = condition
        self.init(conditions.predicate, descending: descending, limit: limit)
    }
}

/// A series of the store.
public struct SeriesDescription: Hashable, Sendable {
    /// The id of the series in this store.
    public var id: Int64
    /// The subject of its samples.
    public var subject: String
    /// The type of its samples.
    public var type: SampleType
    /// The source's id.
    public var source: String
    /// The device's key, or empty if there is none.
    public var device: String
    /// The longest duration of any of its samples, in microseconds.
    public var longest: Int64
}

extension SampleStore {
    /// Returns the type of a series.
    static func type(_ id: String, kind: Int64) throws(StoreError) -> SampleType {
        guard let kind = SampleKind(rawValue: kind), let type = SampleType(id, kind: kind) else {
            throw StoreError.unknownType(id)
        }
        return type
    }

    /// Registers the category types that exist only in this store, so that queries can name them.
    func learnTypes() throws(StoreError) {
        let statement = try Statement(
            connection, "SELECT DISTINCT type FROM series WHERE kind = \(SampleKind.category.rawValue)")
        while try statement.step() { _ = SampleType(category: statement.text(0)) }
    }

    /// Returns the live sample with this UUID, or `nil` if there is none.
    public func sample(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        for place in try Replacements.places(of: uuid, connection) {
            if let found = try sample(at: place, in: SampleTable.Rows.live.rawValue) { return found }
        }
        return nil
    }

    /// Returns a cursor that reads samples in the query's order. It sees the store as it is now, regardless of later changes.
    public func samples(matching query: SampleQuery) throws(StoreError) -> SampleCursor {
        try SampleCursor(store: self, query: query)
    }
}
