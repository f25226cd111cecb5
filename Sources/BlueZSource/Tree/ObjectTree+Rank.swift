/// Whoever has a radio near can make BlueZ show further objects, and BlueZ itself has no limit: what is kept of them is bounded.
extension ObjectTree {
    /// Whom an object matters to. Each rank has room of its own, so that none takes another's.
    public enum Rank: Hashable, Sendable, CaseIterable {
        /// Adapters of this machine.
        case adapter
        /// Devices that are read, with their services.
        case adopted
        /// Devices that somebody has paired.
        case known
        /// Whatever else is near.
        case other

        /// A machine with more adapters is not known; a device has 65,535 handles at most, and most have some tens.
        var limit: Int {
            switch self {
            case .adapter: 16
            case .adopted: 8192
            case .known: 1024
            case .other: 4096
            }
        }
    }

    /// An attribute has 512 octets, an extended advertisement 1650 (Core specification, vol 3, part F, 3.2.9; vol 6, part B, 2.3.4.9).
    static let heaviest = 16_384

    /// The object that another is part of, as its path says.
    static func paths(above path: String) -> some Sequence<String> {
        sequence(first: path) { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }.dropFirst()
    }
}

extension BusValue {
    /// About how many octets of memory it takes. A descriptor is nothing to keep.
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
