import HealthModel
import Wire

/// A test vector: a binary frame and its expected readings.
package struct FrameVector: Sendable {
    /// An expected reading. Numerals keep their digits.
    package struct Expected: Hashable, Sendable {
        /// The quantity type's id.
        package var type: String
        /// The value, with the digits of the frame.
        package var value: String
        /// The unit in UCUM.
        package var unit: String
        /// The start, such as `2026-11-20T06:31:00`, or nil for the time of receipt.
        package var start: String?
        /// The metadata as JSON, or nil to skip the comparison.
        package var metadata: String?
    }

    package var source: String
    /// The channel, such as `gatt:2A37`.
    package var channel: String
    package var bytes: [UInt8]
    /// The context for decoding the frame, apart from its bytes.
    package var options: BinaryOptions
    /// The fields in the form that `decode` prints, or nil to skip the comparison.
    var fields: JSONValue?
    package var readings: [Expected]
    /// A part of the reason for which the frame or its readings are refused.
    package var refused: String?
    /// The kind under which a frame without readings is counted.
    package var skipped: String?

    static func isOne(_ node: ProfileNode) -> Bool {
        if case .object(let object) = node.value { return object["hex"] != nil }
        return false
    }

    init?(_ node: ProfileNode) {
        let members = node.members([
            "source", "channel", "hex", "fields", "readings", "refused", "skipped", "lenient", "bindKey", "address", "session",
        ])
        guard let source = members["source"]?.text(), let channel = members["channel"]?.text(), let hex = members["hex"],
            let bytes = hex.text().flatMap(HexadecimalText.bytes)
        else {
            node.problem("source, channel or hex is missing (hex is bytes of two digits each")
            return nil
        }
        self.source = source
        self.channel = channel
        self.bytes = bytes
        options = BinaryOptions(isStrict: members["lenient"]?.boolean() != true)
        options.secrets.bindKey = members["bindKey"]?.text().flatMap(HexadecimalText.bytes)
        options.secrets.address = members["address"]?.text().flatMap(HexadecimalText.bytes)
        options.sessionStart = members["session"]?.text().flatMap { try? Timestamp(iso8601: $0) }
        fields = members["fields"]?.value
        refused = members["refused"]?.text()
        skipped = members["skipped"]?.text()
        readings = (members["readings"]?.elements() ?? []).compactMap { node in
            let members = node.members(["type", "value", "unit", "start", "metadata"])
            guard let type = members["type"]?.text(), let value = members["value"]?.text(), let unit = members["unit"]?.text()
            else {
                node.problem("type, value and unit are required (value is a text, so that it keeps its digits)")
                return nil
            }
            return Expected(
                type: type, value: value, unit: unit, start: members["start"]?.text(), metadata: members["metadata"]?.text())
        }
    }
}
