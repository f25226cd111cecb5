import HealthModel
import Pipeline

/// Counts the values in columns of a CSV file that no rule of its profile reads. Only these cells are examined.
struct UnreadColumns {
    private let cells: [Int]
    private let names: [String]
    private let empties: [[UInt8]]
    private var counts: [Int]

    /// Returns nil if every column is read or ignored on purpose.
    ///
    /// - Parameter used: the cells that some rule reads.
    init?(_ channel: TableChannel, _ binding: HeaderBinding, used: Set<Int>) {
        guard channel.kind == .csv else { return nil }
        cells = binding.header.indices.filter { index in
            !used.contains(index)
                && !channel.ignored.contains { pattern in
                    if case .found = pattern.match(binding.header[index], spellings: Array(channel.units.keys)) {
                        true
                    } else {
                        false
                    }
                }
        }
        guard !cells.isEmpty else { return nil }
        names = cells.map { binding.header[$0].isEmpty ? "#\($0 + 1)" : binding.header[$0] }
        empties = channel.empties
        counts = Array(repeating: 0, count: cells.count)
    }

    /// Returns the cells that some rule reads.
    ///
    /// - Parameters:
    ///   - rule: the rule for times that fits the file.
    ///   - read: the cells that each reading uses.
    static func used(_ channel: TableChannel, _ binding: HeaderBinding, _ rule: TimeRule, _ read: [[Int]]) -> Set<Int> {
        var columns = rule.columns + [rule.elapsed, rule.ticks, rule.offset?.column].compactMap { $0 }
        switch channel.end {
        case .duration(let column, _)?: columns.append(column)
        case .time(let own, _)?: columns += own
        case .fixed?, nil: break
        }
        columns += channel.skips.map(\.column) + (channel.device?.columns ?? []) + channel.source.columns
        columns += [channel.personID, channel.person, channel.apart, channel.heading?.column].compactMap { $0 }
        columns += channel.record?.columns ?? []
        return Set(columns.map { binding.cells[$0] } + read.joined())
    }

    @inline(__always) mutating func note(_ row: Cells) {
        for index in cells.indices where cells[index] < row.count && !row[cells[index]].isEmpty {
            let cell = trimmed(row[cells[index]])
            if !cell.isEmpty, empties.isEmpty || !isOne(cell, of: empties) { counts[index] += 1 }
        }
    }

    var unread: Unread {
        var unread = Unread()
        for (name, count) in zip(names, counts) { unread.count(name, as: .column, count) }
        return unread
    }
}
