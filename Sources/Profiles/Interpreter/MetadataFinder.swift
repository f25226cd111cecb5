import HealthModel
import Pipeline

/// Makes the metadata of readings. Constants are made once, and values from cells once for each text.
final class MetadataFinder {
    private let constants: [(String, MetadataValue)]
    private let dynamic: [(rule: MetadataRule, cell: Int)]
    let cells: [Int]
    private let plain: Metadata?
    private let limits: (lower: Metadata, upper: Metadata)
    private let memo = ByteMemo<Metadata>()
    private let scratch = CellScratch()

    init(_ rules: [MetadataRule], _ binding: HeaderBinding) {
        var constants: [(String, MetadataValue)] = []
        var dynamic: [(rule: MetadataRule, cell: Int)] = []
        for rule in rules {
            if case .constant(let value) = rule.value { constants.append((rule.key, value)) }
            if let column = rule.column, binding.has(column) { dynamic.append((rule, binding.cells[column])) }
        }
        self.constants = constants
        self.dynamic = dynamic
        cells = dynamic.map(\.cell)
        plain = constants.isEmpty ? nil : Metadata(constants)
        limits = (
            Metadata(constants + [(LimitText.Side.lower.metadataKey, .boolean(true))]),
            Metadata(constants + [(LimitText.Side.upper.metadataKey, .boolean(true))])
        )
    }

    deinit {
        memo.deallocate()
        scratch.deallocate()
    }

    var isEmpty: Bool { constants.isEmpty && dynamic.isEmpty }

    /// Metadata never refuses a reading: a text that is not a number is kept as a text, and a long one is cut off.
    @inline(__always) func metadata(_ row: Cells, limit: LimitText.Side?) -> Metadata? {
        if dynamic.isEmpty {
            switch limit {
            case nil: return plain
            case .lower: return limits.lower
            case .upper: return limits.upper
            }
        }
        return fromCells(row, limit)
    }

    private func fromCells(_ row: Cells, _ limit: LimitText.Side?) -> Metadata? {
        let key = scratch.key(row, cells)
        if limit == nil, let key, let metadata = memo.find(key) { return metadata.isEmpty ? nil : metadata }
        var entries = constants
        for (rule, cell) in dynamic {
            let bytes = trimmed(row[cell])
            if bytes.isEmpty { continue }
            let text = Self.text(bytes)
            switch rule.value {
            case .constant: break
            case .text: entries.append((rule.key, .string(text)))
            case .number:
                entries.append((rule.key, (try? Numeral(parsing: bytes)).map { .number($0) } ?? .string(text)))
            case .mapped(_, let map): if let value = map[text] { entries.append((rule.key, value)) }
            }
        }
        if let limit { entries.append((limit.metadataKey, .boolean(true))) }
        let metadata = Metadata(entries)
        if limit == nil, let key { memo.store(metadata, for: key) }
        return metadata.isEmpty ? nil : metadata
    }

    /// The maximum length of a text in bytes. Longer ones are cut off and end in `…`.
    private static let maximumText = 1024

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.count > maximumText else { return String(decoding: bytes, as: UTF8.self) }
        return String(String(decoding: bytes.prefix(maximumText), as: UTF8.self).dropLast()) + "…"
    }
}
