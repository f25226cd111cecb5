import HealthModel
import Wire

/// A frame of octets and what must come of it.
public struct FrameVector: Sendable {
    /// A reading that must come; numerals keep their digits.
    public struct Expected: Hashable, Sendable {
        /// The quantity type's id.
        public var type: String
        /// With the digits of the frame.
        public var value: String
        /// In UCUM.
        public var unit: String
        /// `2026-11-20T06:31:00`; nothing where the time is that of receipt.
        public var start: String?
        /// As JSON; not compared where it is nil.
        public var metadata: String?
    }

    /// Where the frame comes from.
    public var source: String
    /// Such as `gatt:2A37`.
    public var channel: String
    /// The frame.
    public var bytes: [UInt8]
    /// What is known beside its octets.
    public var options: BinaryOptions
    /// As `decode` prints them; not compared where they are not given.
    var fields: JSONValue?
    /// All readings in their order.
    public var readings: [Expected]
    /// A part of the reason for which the frame, or its readings, are refused.
    public var refused: String?
    /// What a frame without readings is counted as.
    public var skipped: String?

    static func isOne(_ node: ProfileNode) -> Bool {
        if case .object(let object) = node.value { return object["hex"] != nil }
        return false
    }

    init?(_ node: ProfileNode) {
        let members = node.members([
            "source", "channel", "hex", "fields", "readings", "refused", "skipped", "lenient", "bindKey", "address", "session",
        ])
        guard let source = members["source"]?.text(), let channel = members["channel"]?.text(), let hex = members["hex"],
            let bytes = hex.text().flatMap(HexadecimalText.octets)
        else {
            node.problem("source, channel or hex is missing; hex is octets of two digits")
            return nil
        }
        self.source = source
        self.channel = channel
        self.bytes = bytes
        options = BinaryOptions(isStrict: members["lenient"]?.boolean() != true)
        options.secrets.bindKey = members["bindKey"]?.text().flatMap(HexadecimalText.octets)
        options.secrets.address = members["address"]?.text().flatMap(HexadecimalText.octets)
        options.sessionStart = members["session"]?.text().flatMap { try? Timestamp(iso8601: $0) }
        fields = members["fields"]?.value
        refused = members["refused"]?.text()
        skipped = members["skipped"]?.text()
        readings = (members["readings"]?.elements() ?? []).compactMap { node in
            let members = node.members(["type", "value", "unit", "start", "metadata"])
            guard let type = members["type"]?.text(), let value = members["value"]?.text(), let unit = members["unit"]?.text()
            else {
                node.problem("type, value and unit are needed; value is a text, so that it keeps its digits")
                return nil
            }
            return Expected(
                type: type, value: value, unit: unit, start: members["start"]?.text(), metadata: members["metadata"]?.text())
        }
    }
}
