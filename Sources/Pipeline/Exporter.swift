import HealthModel

/// Hands changes of the store on to another store, which is its target. It knows that target, and no SQL of ours.
///
/// It is given every change at least once, in the order of their numbers; what it was given before an error, a kill or a power cut comes again. It
/// sees to it that the target has each sample once all the same, by a key that the target enforces: the UUID.
public protocol Exporter: AnyObject {
    /// More changes than that are never given at once; at least 1.
    var batchLimit: Int { get }

    /// Looks whether the target is there, lets us in and is as it has to be. Changes nothing.
    ///
    /// - Returns: what was looked at, for a person.
    /// - Throws: ``DeliveryError`` where nothing could be delivered now.
    func check() throws(DeliveryError) -> [Finding]

    /// Makes changes the target's for good.
    ///
    /// - Returns: how many of them the target has no place for, such as a type it does not know; the others are there, whole, once this returns.
    /// - Throws: ``DeliveryError`` where it did not take them, or nobody can say whether it did.
    func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int

    /// What a start has to know, and nothing delivered may depend on, is put in order: buffers are written, connections closed.
    func finish() throws(DeliveryError)
}

/// Changes on their way to a target.
public struct ExportBatch: Sendable {
    /// In the order of their numbers.
    public var changes: [SampleChange]
    /// Each with the anchor of a reader who has seen it, as text.
    public var anchors: [String]

    /// Changes with their anchors, as many of one as of the other.
    public init(changes: [SampleChange] = [], anchors: [String] = []) {
        self.changes = changes
        self.anchors = anchors
    }

    /// Half of it, the first or the second.
    public func half(first: Bool) -> ExportBatch {
        let middle = changes.count / 2
        let range = first ? 0..<middle : middle..<changes.count
        return ExportBatch(changes: Array(changes[range]), anchors: Array(anchors[range]))
    }
}
