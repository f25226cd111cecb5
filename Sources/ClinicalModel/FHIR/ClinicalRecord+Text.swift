import HealthModel

extension ClinicalRecord {
    /// The record as JSON with sorted keys, as an encoder would write it. This is faster, for thousands of records per second.
    var json: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(512)
        octets += "{\"codes\":[".utf8
        for (index, coding) in codes.enumerated() {
            if index > 0 { octets.append(UInt8(ascii: ",")) }
            let members = [("code", coding.code), ("display", coding.display), ("system", coding.system)]
            Self.append(members.compactMap { name, value in value.map { (name, $0) } }, to: &octets)
        }
        octets += "],\"dates\":".utf8
        Self.append(dates.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, to: &octets)
        octets.append(UInt8(ascii: ","))
        var members = [("displayName", displayName), ("identifier", identifier)]
        if let lastUpdated { members.append(("lastUpdated", lastUpdated)) }
        members.append(("resourceType", resourceType))
        if let sourceURL { members.append(("sourceURL", sourceURL)) }
        members.append(("version", version))
        let start = octets.count
        Self.append(members, to: &octets)
        octets.remove(at: start)
        return octets
    }

    private static func append(_ members: [(String, String)], to octets: inout [UInt8]) {
        octets.append(UInt8(ascii: "{"))
        for (index, (name, value)) in members.enumerated() {
            if index > 0 { octets.append(UInt8(ascii: ",")) }
            append(name, to: &octets)
            octets.append(UInt8(ascii: ":"))
            append(value, to: &octets)
        }
        octets.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String, to octets: inout [UInt8]) {
        var text = text
        octets.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            if text.contains(where: isEscaped) {
                for octet in text { append(octet, to: &octets) }
            } else {
                octets.append(contentsOf: text)
            }
        }
        octets.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ octet: UInt8) -> Bool {
        octet < 0x20 || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\")
    }

    private static func append(_ octet: UInt8, to octets: inout [UInt8]) {
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            octets.append(UInt8(ascii: "\\"))
            octets.append(octet)
        case 0x08: octets += "\\b".utf8
        case 0x09: octets += "\\t".utf8
        case 0x0A: octets += "\\n".utf8
        case 0x0C: octets += "\\f".utf8
        case 0x0D: octets += "\\r".utf8
        case 0..<0x20:
            let digits = String(octet, radix: 16)
            octets += "\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8
        default: octets.append(octet)
        }
    }
}
