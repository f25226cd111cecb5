import FoundationEssentials
import HealthModel
import SampleStore

/// A store of health data, like HealthKit's `HKHealthStore`. All queries and saves go through it.
///
/// ```swift
/// let store = try HealthStore(path: "vitalgate.db", access: .write(as: SourceRevision(id: "app.walker", name: "Walker")))
/// let walk = try HealthObject.quantity(distance, Amount(628, "m"), from: start, to: end)
/// try await store.save(walk)
/// let newest = SampleQueryDescriptor(predicate: .types([distance]), newestFirst: true, limit: 10)
/// for sample in try await newest.result(for: store) { print(sample.uuid) }
/// ```
///
/// You can use it from any task. Queries run concurrently, and each sees a snapshot of the store from when it begins. Changes run
/// one at a time. Several processes, including the hub, may have the same store open. A change waits up to 15 seconds for the
/// change of another process.
public final class HealthStore: Sendable {
    /// The access to a store.
    public enum Access: Sendable {
        /// Queries only.
        case read
        /// Queries and changes. Saved objects come from this source, and its `id` is part of their identity.
        case write(as: SourceRevision)
    }

    /// The path of the store's file.
    public let path: String
    /// The UUID of the person that the store belongs to. It is the default person of saved objects and statistics.
    public let person: String
    /// The time zone for calendar days in statistics and for the offset of saved objects.
    public let zone: TimeZoneRules
    /// The units to show amounts in, for types whose own unit is not the preferred one.
    public let unitPreferences: [SampleType: Unit]
    let regionalUnits: RegionalUnits?
    /// The source of saved objects, or `nil` if the store is open for reading only.
    let source: SourceRevision?
    let now: @Sendable () -> Instant
    let readers: ReaderPool
    let writer: StoreWriter?
    let commits: CommitWatch

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: The path of its file.
    ///   - access: The access, for reading only or for writing.
    ///   - creating: Whether to create a missing file, with mode 0600. Used for writing only.
    ///   - zone: The time zone. By default, the machine's.
    ///   - unitPreferences: Units that override the types' own, for ``preferredUnits(for:)``.
    ///   - locale: A locale such as `en-US`. Types without a preference use the units of its region.
    ///   - now: The clock.
    /// - Throws: `StoreError` if there is no store or it cannot be opened. Its `kind` identifies the remedy.
    public init(
        path: String, access: Access = .read, creating: Bool = false, zone: TimeZoneRules? = nil,
        unitPreferences: [SampleType: Unit] = [:], locale: String? = nil,
        now: @escaping @Sendable () -> Instant = { Instant(Date()) }
    ) throws {
        let creation = SampleStore.Creation(person: UUID().uuidString.lowercased(), time: now().microseconds)
        switch access {
        case .read:
            source = nil
            writer = nil
            person = try SampleStore(path: path, access: .read).owner
        case .write(let source):
            self.source = source
            let store = try SampleStore(path: path, access: .write, creation: creating ? creation : nil)
            person = store.owner
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

    /// Runs a change on the writing connection.
    ///
    /// - Throws: ``HealthStoreError/openedForReading``, `StoreError`, and the errors of `body`.
    func write<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) async throws -> Value {
        guard let writer else { throw HealthStoreError.openedForReading }
        return try await writer.write(body)
    }
}
