import HealthModel

/// Delivers the store's changes to another store, the target. It knows that target and none of our SQL.
///
/// It receives every change at least once, ordered by number. Changes sent before an error, a kill or a power cut are sent again. It
/// ensures that the target still has each sample once, by a key that the target enforces: the UUID.
///
/// It runs in its own process on one thread and may block, because only its target depends on it. It sets a timeout for each response (30
/// seconds unless another limit is usual), so a silent target counts as failed.
public protocol Exporter: AnyObject {
    /// The largest number of changes in one batch, at least 1.
    var batchLimit: Int { get }

    /// The kinds of samples that the target can store. Samples of other kinds are never passed to it and count as left out.
    var kinds: Set<SampleKind> { get }

    /// Whether it exports the makers' record ids (``SampleHeader/record``), which are then looked up for it.
    var reportsRecords: Bool { get }

    /// Whether the target can store this sample of ``kinds``, if that depends on its type or value. Other samples are still passed to the
    /// exporter, since an earlier delivery may have to be removed. ``deliver(_:)`` counts them, and a comparison does not report them as
    /// missing.
    func accepts(_ sample: Sample) -> Bool

    /// Whether older samples must be delivered before new ones, as in a file of lines. If not, both are delivered alternately, each in its
    /// own order.
    var isOrdered: Bool { get }

    /// Whether a sample that is sent again is there twice, as in a file of lines.
    var repeatsSamples: Bool { get }

    /// The target's address from the configuration, without secrets. It identifies a target that cannot store a mark.
    var address: String { get }

    /// The settings that shape the written data, such as a format, or empty if there are none. If they change, existing data no longer
    /// matches.
    var shape: String { get }

    /// Whether the target shows only the current state, so that a changed setting leaves no old data there.
    var showsOnlyNow: Bool { get }

    /// Reads the target's identity and the mark of the last delivery. Returns `nil` if the target cannot store a mark.
    ///
    /// - Throws: ``DeliveryError`` if nothing could be delivered now.
    func found() throws(DeliveryError) -> FoundMark?

    /// How often ``found()`` is called, also if nothing is delivered. So a restored target is noticed.
    var checkInterval: Duration { get }

    /// Writes a mark without a delivery, when the store starts to feed the target or when the user allows it to continue. Returns `false`
    /// if the target turns out to keep no mark. It is then identified by its address.
    func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool

    /// Attempts a delivery, checks that it worked, and rolls it back. Nothing remains at the target.
    ///
    /// - Returns: The findings, as text for the user.
    /// - Throws: ``DeliveryError`` if nothing could be delivered now.
    func check() throws(DeliveryError) -> [Finding]

    /// Sends a request without readings after the target has forbidden a delivery (``DeliveryError/Kind/forbidden``). If the target forbids
    /// this request too, it rejects everything. Otherwise it rejects only some records. By default this is ``check()``.
    ///
    /// - Throws: ``DeliveryError`` if the target rejects the request.
    func checkAccess() throws(DeliveryError)

    /// Prepares the target, for example by creating tables in a database. Existing data remains. Most targets need nothing.
    ///
    /// - Returns: The created objects, as text for the user.
    func create() throws(DeliveryError) -> [Finding]

    /// Delivers changes durably.
    ///
    /// - Returns: The number of changes that the target cannot store, such as those of an unknown type. All others are stored when this
    ///   returns.
    /// - Throws: ``DeliveryError`` if the target rejected them, or if the result is unknown.
    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int

    /// Called whenever the target has received all changes, for targets that show the current state. Most do nothing here.
    ///
    /// - Returns: The delay after which to call this again even without changes, or `nil` if only changes matter.
    func idle() throws(DeliveryError) -> Duration?

    /// Flushes buffers and closes connections. Delivered changes do not depend on it.
    func finish() throws(DeliveryError)
}

extension Exporter {
    public var kinds: Set<SampleKind> { [.quantity] }
    public var reportsRecords: Bool { false }
    public func accepts(_ sample: Sample) -> Bool { kinds.contains(sample.origin.kind) }
    public var isOrdered: Bool { false }
    public var repeatsSamples: Bool { false }
    public var checkInterval: Duration { .seconds(86_400) }
    public var shape: String { "" }
    public var showsOnlyNow: Bool { false }
    public func found() throws(DeliveryError) -> FoundMark? { nil }
    public func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool { false }
    public func checkAccess() throws(DeliveryError) { _ = try check() }
    public func create() throws(DeliveryError) -> [Finding] { [] }

    /// Whether the target lets us in, after it has forbidden a request. It may refuse the content of the request without readings.
    public func hasAccess() throws(DeliveryError) -> Bool {
        do throws(DeliveryError) {
            try checkAccess()
        } catch {
            if error.isAboutAccess { return false }
            guard error.kind == .refused else { throw error }
        }
        return true
    }

    public func idle() throws(DeliveryError) -> Duration? { nil }
    public func finish() throws(DeliveryError) {}
}

/// An exporter that can send a batch while the target still writes the one before.
///
/// The target applies a batch only after the one before, which ``TargetMark/after`` names.
public protocol PipeliningExporter: Exporter {
    /// Sends a batch. Acknowledgements come in the order in which batches were sent.
    func send(_ batch: ExportBatch) throws(DeliveryError)

    /// Waits for the acknowledgement of the oldest batch that was sent. After an error, no acknowledgement of a later one comes.
    ///
    /// - Returns: As ``deliver(_:)``.
    func acknowledgement() throws(DeliveryError) -> Int

    /// Waits for no acknowledgement of the batches that were sent.
    func forgetSent()
}

/// An exporter whose target can list its contents, so that they can be compared with the store.
public protocol ComparableExporter: Exporter {
    /// Passes all samples of this store at the target to `body`, in any order and in batches, without deleted ones.
    func contents(_ body: ([TargetSample]) throws -> Void) throws

    /// The hash of a sample's content at the target. It is `nil` if only UUIDs are compared.
    func print(of sample: Sample) -> UInt64?

    /// The way that contents are compared in addition to UUIDs.
    var contentComparison: ContentComparison { get }
}

/// An exporter whose target can withdraw all samples of a person that this store has sent, also those that the store does not know any more,
/// for example because it was restored from a backup.
public protocol ErasingExporter: Exporter {
    /// Withdraws everything that this store has sent about a person.
    ///
    /// - Throws: ``DeliveryError`` if this is not certain.
    func erase(person: String) throws(DeliveryError)
}

/// An exporter whose target computes statistics, and needs the user's orders of sources for them.
public protocol SourceOrderingExporter: Exporter {
    /// Replaces this store's orders of sources at the target.
    func set(_ orders: [SourceOrder]) throws(DeliveryError)
}

/// An exporter whose target can be read back, to recover a store that was restored from an older backup.
public protocol ReadableExporter: Exporter {
    /// Passes this store's samples at the target to `body`, as NDJSON lines that `import` reads, in batches of whole lines.
    ///
    /// - Returns: The number of samples that it cannot return, by kind.
    func lines(_ body: ([UInt8]) throws -> Void) throws -> [String: Int]
}

/// The way that a comparison detects different content under the same UUID.
public enum ContentComparison: Sendable {
    /// No comparison. Any content under a UUID counts as equal.
    case none
    /// Compares the hashes that the target returns with its contents.
    case prints
}

extension ComparableExporter {
    public func print(of sample: Sample) -> UInt64? { nil }
    public var contentComparison: ContentComparison { .none }
}

/// A batch of changes for a target.
public struct ExportBatch: Sendable {
    /// The changes, ordered by number.
    public var changes: [SampleChange]
    /// For each change, the anchor of a reader who has seen it, as text. Empty if samples are sent again out of order, as after a
    /// comparison or once a rejection was fixed. Such changes carry the current state, and no later change of the same sample has been
    /// delivered.
    public var anchors: [String]
    /// The mark to write at the target in the transaction of the changes, or `nil` if no mark is needed.
    public var mark: TargetMark?
    /// Whether existing content under a UUID is overwritten, after settings have changed or if a comparison found different content.
    public var rewrites = false

    /// A batch of changes with as many anchors as changes, or none.
    public init(changes: [SampleChange] = [], anchors: [String] = [], rewrites: Bool = false) {
        self.changes = changes
        self.anchors = anchors
        self.rewrites = rewrites
    }

    /// The first or the second half of the batch.
    public func half(first: Bool) -> ExportBatch {
        let middle = changes.count / 2
        let range = first ? 0..<middle : middle..<changes.count
        return ExportBatch(
            changes: Array(changes[range]), anchors: anchors.isEmpty ? [] : Array(anchors[range]), rewrites: rewrites)
    }
}
