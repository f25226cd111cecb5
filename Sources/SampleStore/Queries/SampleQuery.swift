import HealthModel

/// Which samples to read, and in which order.
public struct SampleQuery: Sendable {
    /// What the samples meet.
    public var predicate: SamplePredicate
    /// By what they are sorted, the first of these before the others; those that are equal in all of it by start. Empty: by start.
    public var order: [SampleOrder]
    /// At most so many.
    public var limit: Int?
    /// Whether the blood pressures count that frames make and nobody stored (Decisions/0029).
    public var derivesCorrelations = false

    /// Asks for all samples that meet a condition.
    ///
    /// - Parameter descending: the newest first.
    public init(_ predicate: SamplePredicate, descending: Bool = false, limit: Int? = nil) {
        self.init(predicate, order: descending ? [SampleOrder(.start, descending: true)] : [], limit: limit)
    }

    /// Asks for all samples that meet a condition, sorted.
    public init(_ predicate: SamplePredicate, order: [SampleOrder], limit: Int? = nil) {
        self.predicate = predicate
        self.order = order
        self.limit = limit
    }

    /// Whether they are sorted by start, the newest first.
    public var descending: Bool {
        get { order == [SampleOrder(.start, descending: true)] }
        set { order = newValue ? [SampleOrder(.start, descending: true)] : [] }
    }

    /// Whether the store reads them in their order: by start, whatever is named behind it that never decides.
    var isStreamed: Bool { order.isEmpty || (order.count == 1 && order[0].field == .start) }

    /// Asks for all samples but for what is said.
    ///
    /// - Parameters:
    ///   - types: `nil` for all.
    ///   - from: the first start that counts.
    ///   - to: the first start that no longer counts.
    ///   - subject: a person's UUID.
    ///   - source: a source's id or name.
    ///   - device: a device's key, name, model or serial number.
    ///   - condition: what else they meet.
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

/// One series of the store.
public struct SeriesDescription: Hashable, Sendable {
    /// The series' number in this store.
    public var id: Int64
    /// Whose readings they are.
    public var subject: String
    /// What is measured.
    public var type: SampleType
    /// The source's id.
    public var source: String
    /// The device's key; empty where there is none.
    public var device: String
    /// The longest duration of any of its samples, microseconds.
    public var longest: Int64
}

extension SampleStore {
    /// The type of a series.
    static func type(_ id: String, kind: Int64) throws(StoreError) -> SampleType {
        guard let kind = SampleKind(rawValue: kind), let type = SampleType(id, kind: kind) else {
            throw StoreError.unknownType(id)
        }
        return type
    }

    /// Makes category types known that only this store has, so that they can be asked for by their names.
    func learnTypes() throws(StoreError) {
        let statement = try Statement(
            connection, "SELECT DISTINCT type FROM series WHERE kind = \(SampleKind.category.rawValue)")
        while try statement.step() { _ = SampleType(category: statement.text(0)) }
    }

    /// The live sample of a UUID; `nil` where there is none, or no more.
    public func sample(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        for place in try Replacements.places(of: uuid, connection) {
            if let found = try sample(at: place, in: SampleTable.Rows.live.rawValue) { return found }
        }
        return nil
    }

    /// Reads samples in the query's order. The cursor sees the store as it is now, whatever is written meanwhile.
    public func samples(matching query: SampleQuery) throws(StoreError) -> SampleCursor {
        try SampleCursor(store: self, query: query)
    }
}
