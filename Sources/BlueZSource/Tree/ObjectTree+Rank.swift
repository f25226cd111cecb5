import SystemdKit

/// Limits on the mirrored objects. Any radio in range can make BlueZ create objects, and BlueZ itself has no limit.
extension ObjectTree {
    /// The rank of an object. Each rank has its own limit, so that none uses up another's.
    package enum Rank: Hashable, Sendable, CaseIterable {
        case adapter
        /// Adopted devices, with their services.
        case adopted
        /// Devices that a user has paired.
        case known
        /// All other devices in range.
        case other

        /// The maximum number of objects. No machine with more adapters is known. A device has at most 65,535 handles, and most have a few
        /// dozen.
        var limit: Int {
            switch self {
            case .adapter: 16
            case .adopted: 8192
            case .known: 1024
            case .other: 4096
            }
        }
    }

    /// The maximum weight of an object. An attribute has 512 bytes, an extended advertisement 1650 (Core specification, vol 3, part F,
    /// 3.2.9 and vol 6, part B, 2.3.4.9).
    static let heaviest = 16_384

    static func paths(above path: String) -> some Sequence<String> {
        sequence(first: path) { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }.dropFirst()
    }
}

extension BusValue {
    /// The approximate memory in bytes. A descriptor has the maximum weight, so it is never kept.
    var weight: Int {
        switch self {
        case .string(let text), .path(let text), .signature(let text): 32 + text.utf8.count
        case .bytes(let bytes): 32 + bytes.count
        case .array(_, let values), .structure(let values): values.reduce(32) { $0 + $1.weight }
        case .dictionary(_, _, let entries): entries.reduce(32) { $0 + $1.key.weight + $1.value.weight }
        case .variant(let inner): 32 + inner.weight
        case .descriptor: ObjectTree.heaviest
        default: 32
        }
    }
}
