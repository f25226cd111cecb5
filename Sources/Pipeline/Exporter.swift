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

    /// Looks whether the target is there, lets us in and is as it has to be. Changes nothing.
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
    public func create() throws(DeliveryError) -> [Finding] { [] }
    public func idle() throws(DeliveryError) -> Duration? { nil }
    public func finish() throws(DeliveryError) {}
}

/// An exporter whose target can tell what it has, so that both can be compared.
public protocol ComparableExporter: Exporter {
    /// Hands over the UUIDs of all samples that are there, in any order and in portions; deleted ones are none.
    func contents(_ body: ([SampleIdentity]) throws -> Void) throws
}

/// Changes on their way to a target.
public struct ExportBatch: Sendable {
    /// In the order of their numbers.
    public var changes: [SampleChange]
    /// Each with the anchor of a reader who has seen it, as text. None where something is told again out of its turn, as after a comparison or once a
    /// refusal was mended: such changes say how it is now, and no later one of the same sample has been delivered.
    public var anchors: [String]

    /// Changes with their anchors: as many as changes, or none.
    public init(changes: [SampleChange] = [], anchors: [String] = []) {
        self.changes = changes
        self.anchors = anchors
    }

    /// Half of it, the first or the second.
    public func half(first: Bool) -> ExportBatch {
        let middle = changes.count / 2
        let range = first ? 0..<middle : middle..<changes.count
        return ExportBatch(changes: Array(changes[range]), anchors: anchors.isEmpty ? [] : Array(anchors[range]))
    }
}
