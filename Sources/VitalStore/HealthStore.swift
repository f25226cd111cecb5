import FoundationEssentials
import HealthModel
import SampleStore

/// A store of health data, as HealthKit's `HKHealthStore`: the place that all queries are asked of, and that objects are saved to.
///
/// ```swift
/// let store = try HealthStore(path: "vitalgate.db", access: .write(as: SourceRevision(id: "app.walker", name: "Walker")))
/// let walk = try HealthObject.quantity(distance, Amount(628, "m"), from: start, to: end)
/// try await store.save(walk)
/// let newest = SampleQueryDescriptor(predicate: .types([distance]), newestFirst: true, limit: 10)
/// for sample in try await newest.result(for: store) { print(sample.uuid) }
/// ```
///
/// It may be used from any task. Queries run beside one another, each on a view of the store as it is when it begins; changes are made one after the
/// other. Any number of processes may have the same store open, the hub among them: a change waits for another process's for 15 seconds at most.
public final class HealthStore: Sendable {
    /// What a store is opened for.
    public enum Access: Sendable {
        /// For queries.
        case read
        /// For queries and changes; what is saved comes from this source, whose `id` is part of the identity of all that it saves.
        case write(as: SourceRevision)
    }

    /// The store's file.
    public let path: String
    /// The person whose store it is, a UUID. What is saved is theirs unless it says otherwise, and so are statistics.
    public let person: String
    /// Whose clocks count where a calendar does: days of statistics, and the offset that a saved object was taken at.
    public let zone: TimeZoneRules
    /// What amounts are shown in, where the type's own unit is not what people want to see.
    public let unitPreferences: [SampleType: Unit]
    let regionalUnits: RegionalUnits?
    /// Who saves.
    let source: SourceRevision?
    let now: @Sendable () -> Instant
    let readers: ReaderPool
    let writer: StoreWriter?
    let commits: CommitWatch

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: of its file.
    ///   - access: for queries alone, or for changes as well.
    ///   - creating: whether the file is made, with the mode 0600, where there is none; for writing only.
    ///   - zone: the machine's, where none is given.
    ///   - unitPreferences: units in place of the types' own, for ``preferredUnits(for:)``.
    ///   - locale: such as `en-US`; of types without a preference the units of its region are preferred.
    ///   - now: the clock.
    /// - Throws: `StoreError` where there is no store, or it can't be opened: its `kind` says what to do about it.
    public init(
        path: String, access: Access = .read, creating: Bool = false, zone: TimeZoneRules? = nil,
        unitPreferences: [SampleType: Unit] = [:], locale: String? = nil,
        now: @escaping @Sendable () -> Instant = { Instant(Date()) }
    ) throws {
        let creation = SampleStore.Creation(subject: UUID().uuidString.lowercased(), time: now().microseconds)
        switch access {
        case .read:
            source = nil
            writer = nil
            person = try SampleStore(path: path, access: .read).subject
        case .write(let source):
            self.source = source
            let store = try SampleStore(path: path, access: .write, creation: creating ? creation : nil)
            person = store.subject
            writer = StoreWriter(store)
        }
        self.path = path
        self.zone = zone ?? .machine
        self.unitPreferences = unitPreferences
        regionalUnits = locale.flatMap { RegionalUnits(locale: $0) }
        self.now = now
        readers = ReaderPool(path: path)
        commits = CommitWatch(path: path)
    }

    /// Changes something.
    func write<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) async throws -> Value {
        guard let writer else { throw HealthStoreError.openedForReading }
        return try await writer.write(body)
    }
}
