import HealthModel
import Pipeline

/// Makes the metadata of readings. Constants are made once, and values from cells once for each text.
final class MetadataFinder {
    private let constants: [(String, MetadataValue)]
    private let dynamic: [(rule: MetadataRule, cell: Int)]
    /// The cells that the metadata uses.
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

    /// Whether there is no metadata.
    var isEmpty: Bool { constants.isEmpty && dynamic.isEmpty }

    @inline(__always) func metadata(
        _ row: Cells, limit: LimitText.Side?
    ) throws(BoundTable.Failure) -> Metadata? {
        if dynamic.isEmpty {
            switch limit {
            case nil: return plain
            case .lower: return limits.lower
            case .upper: return limits.upper
            }
        }
        return try fromCells(row, limit)
    }

    private func fromCells(_ row: Cells, _ limit: LimitText.Side?) throws(BoundTable.Failure) -> Metadata? {
        guard let key = scratch.key(row, cells) else { throw .init("a cell with metadata is too long") }
        if limit == nil, let metadata = memo.find(key) { return metadata.isEmpty ? nil : metadata }
        var entries = constants
        for (rule, cell) in dynamic {
            let bytes = trimmed(row[cell])
            if bytes.isEmpty { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            switch rule.value {
            case .constant: break
            case .text: entries.append((rule.key, .string(text)))
            case .number:
                guard let numeral = try? Numeral(parsing: bytes) else { throw .init("the cell for \(rule.key) is not a number") }
                entries.append((rule.key, .number(numeral)))
            case .mapped(_, let map): if let value = map[text] { entries.append((rule.key, value)) }
            }
        }
        if let limit { entries.append((limit.metadataKey, .boolean(true))) }
        let metadata = Metadata(entries)
        if limit == nil { memo.store(metadata, for: key) }
        return metadata.isEmpty ? nil : metadata
    }
}
