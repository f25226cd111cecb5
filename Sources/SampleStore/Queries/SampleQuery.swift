import HealthModel

/// Which samples to read, and in which order.
public struct SampleQuery: Sendable {
    /// What the samples meet.
    public var predicate: SamplePredicate
    /// The newest first.
    public var descending: Bool
    /// At most so many.
    public var limit: Int?

    /// Asks for all samples that meet a condition.
    public init(_ predicate: SamplePredicate, descending: Bool = false, limit: Int? = nil) {
        self.predicate = predicate
        self.descending = descending
        self.limit = limit
    }

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
    /// The series that a query touches, in the order of their ids.
    public func series(matching query: SampleQuery) throws(StoreError) -> [SeriesDescription] {
        try series(within: query.predicate.plan().reach)
    }

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

    /// The series that a condition reaches, in the order of their ids.
    func series(within reach: SamplePredicate.Reach) throws(StoreError) -> [SeriesDescription] {
        let statement = try connection.statement(
            "SELECT id, subject, type, source, device, longest, kind FROM series ORDER BY id")
        defer { statement.reset() }
        var found: [SeriesDescription] = []
        while try statement.step() {
            let type = try Self.type(statement.text(2), kind: statement.integer(6))
            let series = SeriesDescription(
                id: statement.integer(0), subject: statement.text(1), type: type, source: statement.text(3),
                device: statement.text(4), longest: statement.integer(5))
            if reach.contains(type: type, subject: series.subject) { found.append(series) }
        }
        return found
    }

    /// The live sample of a UUID; `nil` where there is none, or no more.
    public func sample(_ uuid: SampleIdentity) throws -> StoredSample? {
        for place in try Replacements.places(of: uuid, connection) {
            let start = Instant(microseconds: place.start)
            let query = SampleQuery(.and([.comparison(.start, .equal, .instant(start)), .uuids([uuid])]), limit: 1)
            let cursor = try samples(matching: query)
            defer { cursor.close() }
            if let found = try cursor.next() { return found }
        }
        return nil
    }

    /// Reads samples by start time. The cursor sees the store as it is now, whatever is written meanwhile.
    public func samples(matching query: SampleQuery) throws(StoreError) -> SampleCursor {
        try SampleCursor(connection: connection, series: try series(matching: query), query: query)
    }
}

/// Walks over samples in the order of their start, those of one start as they came: the series' rows, each in order already, are merged.
public final class SampleCursor {
    private let snapshot: Snapshot
    private let decoder: SampleDecoder
    private let query: SampleQuery
    /// What is asked of each sample within the query's reach.
    private let rest: SamplePredicate?
    /// A heap: the series whose next row comes first is at the front.
    private var heads: [Head] = []
    private var given = 0

    private struct Head {
        var statement: Statement
        var series: Int64
        var start: Int64
    }

    init(connection: Connection, series: [SeriesDescription], query: SampleQuery) throws(StoreError) {
        self.query = query
        let plan = query.predicate.plan()
        rest = plan.rest
        decoder = SampleDecoder(connection: connection)
        snapshot = try Snapshot(connection)
        for series in series {
            let order = query.descending ? "DESC" : "ASC"
            let statement = try Statement(
                connection,
                """
                SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start BETWEEN ? AND ?
                ORDER BY start \(order), seq \(order)
                """)
            try statement.bind([
                .integer(series.id), .integer(plan.reach.from.microseconds), .integer(plan.reach.through.microseconds),
            ])
            if try statement.step() {
                heads.append(Head(statement: statement, series: series.id, start: statement.integer(0)))
            }
        }
        for index in stride(from: heads.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    deinit { close() }

    /// Ends the snapshot.
    public func close() {
        heads.removeAll()
        snapshot.end()
    }

    /// The next sample, or `nil` behind the last.
    public func next() throws(StoreError) -> StoredSample? { try nextWithSeries()?.stored }

    /// The next sample with its series' number.
    func nextWithSeries() throws(StoreError) -> (series: Int64, stored: StoredSample)? {
        while let head = heads.first {
            if let limit = query.limit, given >= limit { return nil }
            let stored = try decoder.decode(head.statement, series: head.series)
            if try head.statement.step() {
                heads[0].start = head.statement.integer(0)
            } else {
                heads[0] = heads[heads.count - 1]
                heads.removeLast()
            }
            sink(0)
            if rest?.matches(stored.sample) ?? true {
                given += 1
                return (head.series, stored)
            }
        }
        return nil
    }

    private func precedes(_ one: Head, _ other: Head) -> Bool {
        if one.start != other.start { return (one.start < other.start) != query.descending }
        return one.series < other.series
    }

    private func sink(_ index: Int) {
        var index = index
        while true {
            let left = 2 * index + 1
            guard left < heads.count else { return }
            var first = left
            if left + 1 < heads.count, precedes(heads[left + 1], heads[left]) { first = left + 1 }
            guard precedes(heads[first], heads[index]) else { return }
            heads.swapAt(first, index)
            index = first
        }
    }
}
