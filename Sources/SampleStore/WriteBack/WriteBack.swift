import HealthModel

/// A phone that writes samples of a person to its own store.
public struct WriteBackPhone: Sendable {
    public let client: Client
    /// The person whose data the phone's store has.
    public let person: String
    public let store: PhoneStore

    /// Creates a phone.
    public init(client: Client, person: String, store: PhoneStore) {
        (self.client, self.person, self.store) = (client, person, store)
    }
}

/// A record that a phone is asked to write or to delete.
public struct WriteBackItem: Sendable {
    /// Identifies the record on the phone for as long as it exists there.
    public let key: String
    /// Rises with each change of the record.
    public let version: Int64
    public let isDeletion: Bool
    /// The first samples of the record as it was offered before, and of a record to delete. An app that cannot replace or delete one searches
    /// for them.
    public let previous: [Sample]
    /// The samples of the record. The second one is its second value.
    public let samples: [SampleIdentity]
    /// The type of the first sample.
    public let type: SampleType
    /// The start of the first sample.
    public let start: Instant
}

/// The report of a phone about an item.
public struct WriteBackReport: Hashable, Sendable {
    public enum Outcome: String, Sendable, CaseIterable {
        /// It is written, or deleted.
        case written
        /// It was there already, or was not there to be deleted.
        case exists
        /// The phone does not accept it.
        case refused
        /// It cannot be known whether it is written.
        case unknown
    }

    public let key: String
    public let version: Int64
    public let outcome: Outcome
    public let reason: String?

    /// Creates a report.
    public init(key: String, version: Int64, outcome: Outcome, reason: String?) {
        (self.key, self.version, self.outcome, self.reason) = (key, version, outcome, reason)
    }
}

/// The answer to a phone's report.
public enum WriteBackAnswer: String, Sendable {
    case recorded
    /// The record has another version by now.
    case outdated
    /// No such record was offered.
    case unknown
}

/// The numbers of a phone's records.
public struct WriteBackCounts: Hashable, Sendable {
    /// Those that the phone has not acknowledged yet.
    public var waiting = 0
    public var written = 0
    public var refused = 0
    public var unknown = 0
    /// The most frequent reasons of refused ones.
    public var reasons: [String] = []
}

/// Samples that phones write to their own stores of health data.
///
/// The hub decides from the changes which records a phone must have (``note(_:for:from:to:at:)``), offers them (``page(for:limit:)``), and
/// notes its reports (``acknowledge(_:from:for:at:)``). An item is offered until it is acknowledged, so a lost answer does no harm.
/// A phone that writes a version only once, by key, never has a sample twice.
extension SampleStore.WriteBack {
    /// The greatest version. Programs in JavaScript, and Shortcuts, read numbers exactly up to 2⁵³.
    public static let maximumVersion: Int64 = 1 << 52
    /// The maximum length of a reason, and of an app's name, in bytes.
    public static let maximumTextLength = 200
    /// The maximum number of names of apps.
    public static let maximumSources = 8
    private static let maximumReasons = 3
    private static let maximumPrevious = 8

    /// The phone of a client: that of the person for whom it may write or, if it may not write, whose data it may read. `nil` if it has no grants,
    /// or grants of several people other than the owner of the store.
    public func phone(_ client: Client, _ kind: PhoneStore) throws(StoreError) -> WriteBackPhone? {
        let grants = try store.clients.grants(of: client)
        let writable = Set(grants.filter(\.mayWrite).map(\.person))
        let people = writable.isEmpty ? Set(grants.filter { $0.reading != .none }.map(\.person)) : writable
        guard let person = people.count == 1 ? people.first : people.first(where: { $0 == store.owner }) else { return nil }
        return WriteBackPhone(client: client, person: person, store: kind)
    }

    /// The position in the changes up to which they are noted, or `nil` if the phone never asked.
    public func anchor(of client: Client) throws(StoreError) -> String? { try connection.writeBack.phone(client.id)?.anchor }

    /// Notes which records a phone must write or delete after these changes.
    ///
    /// - Parameters:
    ///   - earlier: The position that the changes follow.
    ///   - anchor: The position after them.
    /// - Returns: Whether they were noted. If not, another process has noted changes in between.
    public func note(
        _ changes: [SampleChange], for phone: WriteBackPhone, from earlier: String?, to anchor: String, at now: Instant
    ) throws -> Bool {
        guard !changes.isEmpty || anchor != earlier else { return true }
        return try change(phone.client, at: now) { state in
            guard try connection.writeBack.phone(phone.client.id)?.anchor == earlier else { return false }
            var writer = WriteBackWriter(connection, phone, version: state.version, now)
            for change in changes { try writer.apply(change) }
            (state.anchor, state.version) = (anchor, writer.version)
            return true
        }
    }

    /// Returns the next items that the phone may read and has not acknowledged, in the order of their versions, and whether there are more.
    public func page(for phone: WriteBackPhone, limit: Int) throws -> (items: [WriteBackItem], isCut: Bool) {
        try connection.transaction {
            let table = connection.writeBack
            let rows = try table.pending(phone.client.id, of: phone.person, limit: limit + 1)
            let items = try rows.prefix(limit).compactMap { row -> WriteBackItem? in
                guard let type = try connection.series.type(of: row.sample.series) else { return nil }
                let rows = try table.rows(phone.client.id, of: row.key)
                let samples = rows.filter { !$0.isSuperseded }.sorted { !$0.isPart && $1.isPart }
                try table.offer(phone.client.id, row.key)
                return WriteBackItem(
                    key: row.key, version: row.version, isDeletion: row.isDeletion,
                    previous: try previous(rows),
                    samples: try samples.compactMap { try connection.samples.identity(at: $0.sample) }, type: type,
                    start: Instant(microseconds: row.sample.start))
            }
            return (items, rows.count > limit)
        }
    }

    private func previous(_ rows: [WriteBackTable.Row]) throws(StoreError) -> [Sample] {
        var samples: [Sample] = []
        for row in rows where !row.isPart && row.offered > 0 && (row.isSuperseded || row.isDeletion) {
            guard samples.count < Self.maximumPrevious else { break }
            if let sample = try connection.anySample(at: row.sample) { samples.append(sample) }
        }
        return samples
    }

    /// Notes the reports of a phone. A version that this store has not given means that the store was restored from a backup. Everything is then
    /// offered again.
    ///
    /// - Parameter sources: The names under which the phone shows its records, or `nil` if they have not changed.
    public func acknowledge(
        _ reports: [WriteBackReport], from sources: [String]?, for phone: WriteBackPhone, at now: Instant
    ) throws -> [WriteBackAnswer] {
        try change(phone.client, at: now) { state in
            if let sources { state.sources = sources }
            let table = connection.writeBack
            let last = reports.map(\.version).max() ?? 0
            if last > state.version {
                state.version = try table.raise(phone.client.id, after: max(last, now.microseconds), all: true)
            }
            return try reports.map { report in
                guard let row = try table.rows(phone.client.id, of: report.key).first(where: { !$0.isSuperseded }) else {
                    return .unknown
                }
                guard row.version == report.version else { return .outdated }
                try table.acknowledge(
                    phone.client.id, report.key, version: report.version, outcome: report.outcome.rawValue, reason: report.reason)
                return .recorded
            }
        }
    }

    /// The last version of a phone's records.
    public func lastVersion(of client: Client) throws(StoreError) -> Int64 {
        try connection.writeBack.phone(client.id)?.version ?? 0
    }

    /// Offers all records again. Those that the phone has acknowledged get new versions. If this store has not given the version, it was restored
    /// from a backup, and all get versions after it.
    public func restart(_ phone: WriteBackPhone, after version: Int64, at now: Instant) throws {
        try change(phone.client, at: now) { state in
            state.version = try connection.writeBack.raise(
                phone.client.id, after: max(version, state.version, now.microseconds), all: version > state.version)
        }
    }

    /// The numbers of a phone's records, or `nil` if it never asked for any.
    public func counts(of client: Client) throws(StoreError) -> WriteBackCounts? {
        let table = connection.writeBack
        guard try table.phone(client.id) != nil else { return nil }
        let counts = try table.counts(client.id)
        func count(_ outcomes: WriteBackReport.Outcome...) -> Int { outcomes.reduce(0) { $0 + (counts[$1.rawValue] ?? 0) } }
        return WriteBackCounts(
            waiting: counts[nil] ?? 0, written: count(.written, .exists), refused: count(.refused), unknown: count(.unknown),
            reasons: try table.reasons(client.id, limit: Self.maximumReasons).map(\.reason))
    }

    /// Changes the state of a phone in a transaction.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the client was removed.
    private func change<Result>(
        _ client: Client, at now: Instant, _ body: (inout WriteBackTable.Phone) throws -> Result
    ) throws -> Result {
        try connection.transaction {
            guard try store.clients.client(named: client.name)?.id == client.id else {
                throw StoreError(.invalid, "there is no such client")
            }
            let table = connection.writeBack
            let before = try table.phone(client.id)
            var state = before ?? WriteBackTable.Phone()
            let result = try body(&state)
            if before != state { try table.save(state, of: client.id) }
            return result
        }
    }
}

extension Connection {
    /// A sample, live or not.
    func anySample(at key: SampleKey) throws(StoreError) -> Sample? {
        for rows in SampleTable.Rows.allCases {
            if let sample = try samples.sample(at: key, among: rows) { return sample }
        }
        return nil
    }
}
