import HealthModel

/// The data that became readable because a person widened a client's grants. A client whose anchor is already past that
/// data gets it separately.
public struct Widenings {
    /// The number of the latest widening. A client that has seen it needs no more updates.
    public let last: Int64
    /// The permission before the first widening, by person and type.
    fileprivate var before: [Key: Before] = [:]
    /// The objects that were granted individually.
    fileprivate var objects: Set<Place> = []

    fileprivate struct Key: Hashable {
        var person: String
        var type: String
    }
    fileprivate struct Before {
        var start: Int64?
        var mightWrite: Bool
    }
    fileprivate struct Place: Hashable {
        var start: Int64
        var hash: [UInt8]
    }

    /// Whether nothing was widened.
    public var isEmpty: Bool { before.isEmpty }
    /// The sample types with data that may have become readable.
    public var types: Set<SampleType> { Set(before.keys.compactMap { SampleType($0.type) }) }

    /// Whether a sample that a client may read now became readable through these widenings.
    ///
    /// - Parameter source: The client's own source. The client can already read the samples that it wrote.
    public func include(_ sample: Sample, source: String) -> Bool {
        guard let before = before[Key(person: sample.origin.person, type: sample.origin.type.id)] else { return false }
        if before.mightWrite, sample.origin.source.id == source { return false }
        if ObjectType(sample.origin.type).isAskedByObject, sample.origin.source.id != source {
            return objects.contains(Place(start: sample.start.microseconds, hash: Array(sample.identity.storedHash)))
        }
        return before.start.map { sample.start.microseconds < $0 } ?? true
    }
}

extension SampleStore.Clients {
    /// The widenings of a client's grants after a number. Pass 0 for all of them. This also works in a restricted
    /// store.
    public func widenings(of client: Client, after number: Int64) throws(StoreError) -> Widenings {
        let last = try connection.integer("SELECT max(id) FROM main.widening WHERE client = ?", .integer(client.id)) ?? 0
        var widenings = Widenings(last: last)
        guard last > number else { return widenings }
        let statement = try connection.statement(
            "SELECT subject, type, read_from, might_write FROM main.widening WHERE client = ? AND id > ? ORDER BY id DESC")
        defer { statement.reset() }
        try statement.bind([.integer(client.id), .integer(number)])
        // Rows are in descending order, so the first widening of a type comes last and sets the earlier permission.
        while try statement.step() {
            widenings.before[Widenings.Key(person: statement.text(0), type: statement.text(1))] = Widenings.Before(
                start: statement.optionalInteger(2), mightWrite: statement.integer(3) != 0)
        }
        for object in try connection.grants.objects(of: client.id, after: number) {
            widenings.objects.insert(Widenings.Place(start: object.start, hash: object.hash))
        }
        return widenings
    }

    /// Records that a client may read more than before, if it may.
    ///
    /// - Returns: The number of the widening, or 0 if nothing was widened.
    func noteWidening(to grant: Grant, _ objects: [SampleIdentity], from before: Grant?, of client: Client) throws(StoreError)
        -> Int64
    {
        let start: Int64?
        switch before?.reading {
        case .from(let from)?: start = from.microseconds
        case .objects?: start = .min
        default: start = nil
        }
        switch grant.reading {
        case .none: return 0
        case .from(let from): guard start.map({ from.microseconds < $0 }) ?? true else { return 0 }
        case .objects: guard !objects.isEmpty else { return 0 }
        }
        try connection.run(
            "INSERT INTO widening(client, subject, type, read_from, might_write) VALUES(?, ?, ?, ?, ?)", .integer(client.id),
            .text(grant.person), .text(grant.type.id), .optional(start), .integer(before?.mayWrite == true ? 1 : 0))
        return connection.lastInsertedRow
    }
}
