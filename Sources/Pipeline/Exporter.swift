import HealthModel

/// Hands changes of the store on to another store, which is its target. It knows that target, and no SQL of ours.
///
/// It is given every change at least once, in the order of their numbers; what it was given before an error, a kill or a power cut comes again. It
/// sees to it that the target has each sample once all the same, by a key that the target enforces: the UUID.
///
/// It runs in a process of its own, on one thread, and may block: nobody waits for it but its target. Within a limit, though, which it sets for
/// each answer (30 seconds where nothing else is usual), so that a target that is silent is one that fails.
public protocol Exporter: AnyObject {
    /// More changes than that are never given at once; at least 1.
    var batchLimit: Int { get }

    /// What it has a place for. Samples of other kinds are never given to it, and counted as left out.
    var kinds: Set<SampleKind> { get }

    /// Whether it hands on the ids that makers gave to their records (``SampleHeader/record``), which are looked up for it.
    var tellsRecords: Bool { get }

    /// Whether it has a place for just this one, of ``kinds``: where that depends on its type or value. One that it has not is given to it all the
    /// same, since what was delivered once may have to go, and is counted by ``deliver(_:)``; a comparison does not miss it.
    func holds(_ sample: Sample) -> Bool

    /// Whether what was there before the target began has to come before what is new, as in a file of lines. Else both come by turns, each in its order.
    var isOrdered: Bool { get }

    /// Where the target is, as the configuration has it, without secrets: what a target is known by that can store no mark.
    var address: String { get }

    /// The settings of its kind that shape what is written there, such as a format: where they change, what is there no longer fits. Empty for none.
    var shape: String { get }

    /// Whether it shows only how things are now, so that no setting leaves anything old there.
    var showsOnlyNow: Bool { get }

    /// Reads the target's own identity and the mark of the last delivery; `nil` where the target can store none.
    ///
    /// - Throws: ``DeliveryError`` where nothing could be delivered now.
    func found() throws(DeliveryError) -> FoundMark?

    /// Writes a mark without a delivery: the store begins to feed the target, or goes on after a person has said so.
    func claim(_ mark: TargetMark) throws(DeliveryError)

    /// Does what a delivery does, looks whether it worked, and takes it back. Nothing stays there.
    ///
    /// - Returns: what was looked at, for a person.
    /// - Throws: ``DeliveryError`` where nothing could be delivered now.
    func check() throws(DeliveryError) -> [Finding]

    /// Makes the target what it has to be, such as a database with our tables; what is there stays. Nothing to do for most.
    ///
    /// - Returns: what was made, for a person.
    func create() throws(DeliveryError) -> [Finding]

    /// Makes changes the target's for good.
    ///
    /// - Returns: how many of them the target has no place for, such as a type it does not know; the others are there, whole, once this returns.
    /// - Throws: ``DeliveryError`` where it did not take them, or nobody can say whether it did.
    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int

    /// Told whenever the target has every change there is: for one that shows how things are now. Nothing to do for most.
    ///
    /// - Returns: after how long it wants to be told again, though nothing may have changed; `nil` where only changes count.
    func idle() throws(DeliveryError) -> Duration?

    /// Buffers are written, connections closed; nothing that was delivered depends on it.
    func finish() throws(DeliveryError)
}

extension Exporter {
    public var kinds: Set<SampleKind> { [.quantity] }
    public var tellsRecords: Bool { false }
    public func holds(_ sample: Sample) -> Bool { kinds.contains(sample.origin.kind) }
    public var isOrdered: Bool { false }
    public var shape: String { "" }
    public var showsOnlyNow: Bool { false }
    public func found() throws(DeliveryError) -> FoundMark? { nil }
    public func claim(_ mark: TargetMark) throws(DeliveryError) {}
    public func create() throws(DeliveryError) -> [Finding] { [] }
    public func idle() throws(DeliveryError) -> Duration? { nil }
    public func finish() throws(DeliveryError) {}
}

/// An exporter whose target can tell what it has, so that both can be compared.
public protocol ComparableExporter: Exporter {
    /// Hands over all samples of this store that are there, in any order and in portions; deleted ones are none.
    func contents(_ body: ([HeldSample]) throws -> Void) throws

    /// The hash that a sample's content has there; `nil` where only UUIDs are compared, or ``differing(_:)`` compares.
    func print(of sample: Sample) -> UInt64?

    /// Which of these samples, all of which are there by their UUIDs, have other content there than a delivery would write.
    func differing(_ samples: [Sample]) throws(DeliveryError) -> [SampleIdentity]

    /// How contents are compared beyond UUIDs.
    var contentComparison: ContentComparison { get }
}

/// An exporter whose target can be read back, for a store that was put back from an older copy.
public protocol ReadableExporter: Exporter {
    /// Hands over this store's samples that are there, as lines of NDJSON of the form that `import` reads, in portions of whole lines.
    ///
    /// - Returns: how many samples it cannot hand over, by kind.
    func lines(_ body: ([UInt8]) throws -> Void) throws -> [String: Int]
}

/// How a comparison sees that a target has other content under a UUID.
public enum ContentComparison: Sendable {
    /// Not at all: what is there under a UUID counts as equal.
    case none
    /// By the hashes that its contents come with.
    case prints
    /// By asking the target, portion by portion.
    case asked
}

extension ComparableExporter {
    public func print(of sample: Sample) -> UInt64? { nil }
    public func differing(_ samples: [Sample]) throws(DeliveryError) -> [SampleIdentity] { [] }
    public var contentComparison: ContentComparison { .none }
}

/// Changes on their way to a target.
public struct ExportBatch: Sendable {
    /// In the order of their numbers.
    public var changes: [SampleChange]
    /// Each with the anchor of a reader who has seen it, as text. None where something is told again out of its turn, as after a comparison or once a
    /// refusal was mended: such changes say how it is now, and no later one of the same sample has been delivered.
    public var anchors: [String]
    /// Written at the target in the transaction of the changes; `nil` where there is nobody to ask for it.
    public var mark: TargetMark?
    /// Whether what is there already under a UUID is written anew: after settings have changed, or where a comparison found other content.
    public var rewrites = false

    /// Changes with their anchors: as many as changes, or none.
    public init(changes: [SampleChange] = [], anchors: [String] = [], rewrites: Bool = false) {
        self.changes = changes
        self.anchors = anchors
        self.rewrites = rewrites
    }

    /// Half of it, the first or the second.
    public func half(first: Bool) -> ExportBatch {
        let middle = changes.count / 2
        let range = first ? 0..<middle : middle..<changes.count
        return ExportBatch(
            changes: Array(changes[range]), anchors: anchors.isEmpty ? [] : Array(anchors[range]), rewrites: rewrites)
    }
}
