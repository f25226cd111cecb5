import HealthModel

/// One change as a line of NDJSON: an added sample in the form of ``SampleLine``, or `{"deleted":"UUID",…}`. The last field is the anchor,
/// which marks the position of the reader.
package final class ChangeLine {
    private let line: SampleLine
    private let me: String

    /// - Parameters:
    ///   - me: The person that is written as `me`.
    ///   - withContent: Whether a line contains all of its object, as in ``SampleLine``.
    package init(me: String, withContent: Bool = false) {
        (line, self.me) = (SampleLine(me: me, withContent: withContent), me)
    }

    /// Appends the line with its newline.
    ///
    /// - Parameters:
    ///   - anchor: The reader's position after this change.
    ///   - quantity: Returns a sample's value in the requested unit. The type's own unit is used by default.
    package func append(
        _ change: SampleChange, anchor: String, in quantity: ((Sample) -> (value: Double, unit: Unit)?)? = nil,
        to bytes: inout [UInt8]
    ) {
        switch change {
        case .added(let stored):
            let wanted = quantity.flatMap { $0(stored.sample) }
            line.append(
                stored.sample, ingest: stored.ingest, seq: stored.seq, value: wanted?.value, unit: wanted?.unit, to: &bytes)
            // The field goes inside the object, which ends with a brace and a line feed.
            bytes.removeLast(2)
            bytes += ",\"anchor\":".utf8
            JSONText.append(string: anchor, to: &bytes)
            bytes += "}\n".utf8
        case .deleted(let deletion):
            bytes +=
                JSONObject([
                    "deleted": deletion.uuid.description, "type": deletion.type.id, "replacedBy": deletion.replacedBy,
                    "ingest": Int(deletion.ingest), "seq": Int(deletion.seq), "anchor": anchor,
                ]).line
        }
    }

    /// Appends `{"pruned":"heartRate","before":"…",…}`. The named samples are removed permanently, which is not a deletion.
    package func append(_ pruning: Pruning, anchor: String, to bytes: inout [UInt8]) {
        var object = Self.fields(of: pruning, me: me)
        object.set(["ingest": Int(pruning.ingest), "seq": Int(pruning.seq), "anchor": anchor])
        bytes += object.line
    }

    /// `{"pruned":"heartRate","before":"…","from":"…","person":"me","source":{"id":"…"},"device":{"key":"…"},"retained":["UUID",…]}`, with
    /// the names of a sample's fields: the samples of this series that started at or after `from` and ended before `before` are removed,
    /// except `retained`.
    package static func fields(of pruning: Pruning, me: String) -> JSONObject {
        var (object, source, device) = (JSONObject(), JSONObject(), JSONObject())
        source.set("id", pruning.source)
        device.set("key", pruning.device)
        object.set([
            "pruned": pruning.type.id, "before": pruning.before.description, "from": pruning.from.description,
            "subject": pruning.person == me ? "me" : pruning.person, "source": source,
        ])
        if pruning.device.isEmpty { object.set("device", nil as String?) } else { object.set("device", device) }
        object.set("kept", pruning.retained.map(\.description))
        return object
    }
}
