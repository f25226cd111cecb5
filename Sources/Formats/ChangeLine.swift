import HealthModel

/// One change as a line of NDJSON: an added sample as ``SampleLine`` has it, or `{"deleted":"UUID",…}`; at its end the anchor, which says up to
/// where its reader has read.
public final class ChangeLine {
    private let line: SampleLine

    /// - Parameters:
    ///   - me: the subject that is written as `me`.
    ///   - withContent: whether a line tells all of its object, as ``SampleLine`` does.
    public init(me: String, withContent: Bool = false) { line = SampleLine(me: me, withContent: withContent) }

    /// Appends the line with its newline.
    ///
    /// - Parameters:
    ///   - anchor: where the reader is behind this change.
    ///   - quantity: gives a sample's value in the unit that is wanted; the type's own where none is given.
    public func append(
        _ change: SampleChange, anchor: String, in quantity: ((Sample) -> (value: Double, unit: Unit)?)? = nil,
        to bytes: inout [UInt8]
    ) {
        switch change {
        case .added(let stored):
            let wanted = quantity.flatMap { $0(stored.sample) }
            line.append(
                stored.sample, ingest: stored.ingest, seq: stored.seq, value: wanted?.value, unit: wanted?.unit, to: &bytes)
            // Within the object, which ends in a brace and a line feed.
            bytes.removeLast(2)
            bytes += ",\"anchor\":".utf8
            JSONText.append(string: anchor, to: &bytes)
            bytes += "}\n".utf8
        case .deleted(let deletion):
            var object = JSONObject()
            object.set("deleted", deletion.uuid.description)
            object.set("type", deletion.type.id)
            object.set("replacedBy", deletion.replacedBy)
            object.set("ingest", Int(deletion.ingest))
            object.set("seq", Int(deletion.seq))
            object.set("anchor", anchor)
            bytes += object.line
        }
    }

    /// Appends `{"pruned":"heartRate","before":"…",…}`: what ended before is gone for good, which is no deletion.
    public func append(_ pruning: Pruning, anchor: String, to bytes: inout [UInt8]) {
        var object = JSONObject()
        object.set("pruned", pruning.type.id)
        object.set("before", pruning.before.description)
        object.set("ingest", Int(pruning.ingest))
        object.set("seq", Int(pruning.seq))
        object.set("anchor", anchor)
        bytes += object.line
    }
}
