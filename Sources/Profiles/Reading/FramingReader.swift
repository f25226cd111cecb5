import Wire

/// Reads `framing` and `port`: the frames of a serial line, and the settings of the port.
struct FramingReader {
    static func framing(_ node: ProfileNode) -> Framing? {
        let members = node.members([
            "lines", "end", "lastMayLackEnd", "maximum", "start", "marks", "following", "others", "size", "sizes", "length",
            "blocks",
            "check",
        ])
        let maximum = members["maximum"]?.integer(2...Framing.maximumLimit)
        let mayLackEnd = members["lastMayLackEnd"]?.boolean() ?? false
        if let lines = members["lines"] {
            guard let end = lines.choice(LineEnd.self) else { return nil }
            return Framing(.delimited(by: end == .lf ? 0x0A : 0x0D, lastMayLackEnd: mayLackEnd), maximum: maximum)
        }
        if let end = members["end"] {
            guard let byte = byte(end) else { return nil }
            return Framing(.delimited(by: byte, lastMayLackEnd: mayLackEnd), maximum: maximum)
        }
        guard let size = size(members) else {
            node.problem("the end of a frame needs lines, end, size, sizes or length")
            return nil
        }
        var rule = PacketRule(marks: marks(members["marks"]), size: size)
        for (offset, byte) in (members["start"]?.bytes() ?? []).enumerated() {
            rule.marks.append(.init(at: offset, value: byte))
        }
        rule.followingMarks = members["following"].map(marks) ?? rule.marks
        rule.others = members["others"].flatMap { mark($0) }
        rule.blocks = members["blocks"]?.integer(1...256) ?? 1
        rule.check = members["check"]?.choice(PacketRule.Check.self)
        if rule.marks.isEmpty, rule.others == nil, case .fixed = size {
            node.problem("the beginning of a frame needs start, marks or others")
        }
        guard rule.maximum <= Framing.maximumLimit else {
            node.problem("a frame has at most \(Framing.maximumLimit) bytes")
            return nil
        }
        return Framing(.packet(rule), maximum: maximum)
    }

    private enum LineEnd: String, CaseIterable { case lf, cr }

    static func port(_ node: ProfileNode) -> SerialSettings {
        let members = node.members(["speed", "dataBits", "parity", "stopBits", "softwareFlow"])
        var settings = SerialSettings(speed: members["speed"]?.integer(1200...921_600) ?? 9600)
        if members["speed"] == nil { node.problem("speed is missing") }
        if !SerialSettings.speeds.contains(settings.speed) {
            members["speed"]?.problem("must be one of \(SerialSettings.speeds.map(String.init).joined(separator: ", "))")
        }
        settings.dataBits = members["dataBits"]?.integer(7...8) ?? 8
        settings.parity = members["parity"]?.choice(SerialSettings.Parity.self) ?? .none
        settings.stopBits = members["stopBits"]?.integer(1...2) ?? 1
        settings.hasSoftwareFlow = members["softwareFlow"]?.boolean() ?? false
        return settings
    }

    private static func size(_ members: [String: ProfileNode]) -> PacketRule.Size? {
        if let size = members["size"] { return size.integer(2...Framing.maximumLimit).map { .fixed($0) } }
        if let sizes = members["sizes"] {
            var counts: [UInt8: Int] = [:]
            for (key, node) in sizes.anyMembers() {
                guard let byte = UInt8(key, radix: 16), let count = node.integer(2...Framing.maximumLimit) else {
                    node.problem("the key is the first byte in hexadecimal, such as 7D")
                    continue
                }
                counts[byte] = count
            }
            return counts.isEmpty ? nil : .byFirst(counts)
        }
        guard let length = members["length"]?.members(["at", "type", "order", "plus"]),
            let offset = length["at"]?.integer(0...255)
        else { return nil }
        let isWide = length["type"]?.text() == "u16"
        return .field(
            offset: offset, width: isWide ? 2 : 1, bigEndian: length["order"]?.text() == "big",
            plus: length["plus"]?.integer(0...255) ?? 0)
    }

    private static func marks(_ node: ProfileNode?) -> [PacketRule.Mark] { (node?.elements() ?? []).compactMap { mark($0) } }

    /// Reads `{ at: 0, mask: "80", is: "80" }`.
    private static func mark(_ node: ProfileNode) -> PacketRule.Mark? {
        let members = node.members(["at", "mask", "is"])
        guard let value = members["is"].flatMap(byte) else {
            node.problem("is contains the required byte, such as \"80\"")
            return nil
        }
        return .init(
            at: members["at"]?.integer(0...Framing.maximumLimit) ?? 0, mask: members["mask"].flatMap(byte) ?? 0xFF, value: value)
    }

    private static func byte(_ node: ProfileNode) -> UInt8? {
        guard let bytes = node.bytes(), bytes.count == 1 else { return nil }
        return bytes[0]
    }
}
