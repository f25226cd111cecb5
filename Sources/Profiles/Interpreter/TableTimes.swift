import HealthModel
import Pipeline

/// Reads the times of one file's rows.
final class TableTimes {
    struct Failure: Error {
        var reason: String
    }

    /// The alternative of `times` that fits the file.
    private let rule: TimeRule
    private let end: EndRule?
    private let columns: [Int]
    private let endColumns: [Int]
    private let elapsedCell: Int?
    private let ticksCell: Int?
    private let durationCell: Int?
    private let offsetCell: Int?
    private let offsetEmpties: [[UInt8]]
    private let durationUnit: EndRule.DurationUnit
    private let name: String
    private let endName: String
    private let scratch = CellScratch()
    @exclusivity(unchecked) private var memo = ISO8601Memo()
    @exclusivity(unchecked) private var endMemo = ISO8601Memo()
    private var lastFit = 0
    /// The cell with a plain ISO 8601 time, or -1 if reading the time takes more than that.
    let plainCell: Int
    /// The cell with a plain ISO 8601 end, -1 if there is no end, or -2 if the end has another form.
    let plainEndCell: Int
    /// The start of the recording, from the summary.
    private let began: Timestamp?
    var order: DateOrder?
    var contradictory = false
    /// The resolution of the last time, in seconds.
    private(set) var resolution: Int32 = 1
    /// The date from the last heading row, for rows whose own time has no date.
    var heading: [UInt8]?
    /// Whether rows need a date from a heading row.
    var needsHeading = false

    init(
        rule: TimeRule, end: EndRule?, binding: HeaderBinding, began: Timestamp?, offsetEmpties: [[UInt8]] = []
    ) {
        self.rule = rule
        self.began = began
        columns = rule.columns.map { binding.cells[$0] }
        elapsedCell = rule.elapsed.map { binding.cells[$0] }
        ticksCell = rule.ticks.map { binding.cells[$0] }.flatMap { $0 < 0 ? nil : $0 }
        offsetCell = rule.offset.map { binding.cells[$0.column] }.flatMap { $0 < 0 ? nil : $0 }
        self.offsetEmpties = offsetEmpties
        name = rule.columns.first.flatMap { binding.names[$0] } ?? "the time"
        var durationCell: Int?
        var durationUnit = EndRule.DurationUnit.clock
        var endColumns: [Int] = []
        var endName = "the end"
        var present: EndRule?
        switch end {
        case .duration(let column, let unit)? where binding.has(column):
            durationCell = binding.cells[column]
            durationUnit = unit
            endName = binding.names[column] ?? endName
            present = end
        case .time(let columns, _)? where columns.allSatisfy(binding.has):
            endColumns = columns.map { binding.cells[$0] }
            endName = columns.first.flatMap { binding.names[$0] } ?? endName
            present = end
        case .fixed?: present = end
        default: break
        }
        plainCell =
            columns.count == 1 && rule.patterns.count == 1 && rule.patterns[0].isISO8601 && ticksCell == nil
                && rule.zone == .written ? columns[0] : -1
        var plainEnd = present == nil ? -1 : -2
        if case .time(_, let patterns)? = present, patterns.count == 1, patterns[0].isISO8601, endColumns.count == 1 {
            plainEnd = endColumns[0]
        }
        plainEndCell = plainEnd
        self.end = present
        self.durationCell = durationCell
        self.durationUnit = durationUnit
        self.endColumns = endColumns
        self.endName = endName
    }

    deinit { scratch.deallocate() }

    func isEmpty(_ cells: Cells) -> Bool {
        if columns.isEmpty { return elapsedCell.map { trimmed(cells[$0]).isEmpty } ?? true }
        return columns.allSatisfy { trimmed(cells[$0]).isEmpty }
    }

    func time(_ cells: Cells) throws(Failure) -> ReadingTime {
        var start: Timestamp
        var ticks: Int64?
        if let began, let elapsedCell {
            guard let elapsed = Self.duration(trimmed(cells[elapsedCell])) else {
                throw Failure(reason: "the time since the start is not hours:minutes:seconds")
            }
            resolution = 1
            start = began
            start.wall.microseconds += elapsed
            // The elapsed time of a recording does not change when a clock is set.
            ticks = elapsed / 1_000_000
        } else {
            start = try stamp(cells)
        }
        if let ticksCell, !trimmed(cells[ticksCell]).isEmpty {
            ticks = Self.ticks(trimmed(cells[ticksCell]))
        }
        var last = start
        if let end {
            last = try self.end(end, cells, start: start)
        } else if rule.isDay {
            last.wall.microseconds += 86_400_000_000
        }
        switch rule.zone {
        case .utc:
            // The local offset is in a separate column, or not in the file at all.
            return .instants(
                start: start.wall.instant(at: start.offset ?? .utc), end: last.wall.instant(at: last.offset ?? .utc),
                offset: offsetCell == nil ? start.offset ?? .utc : offset(cells))
        case .local:
            guard start.offset == nil, last.offset == nil else {
                throw Failure(reason: "\(name) has an offset, but times in this format have none")
            }
            return .wall(start: start.wall, end: last.wall, ticks: ticks)
        case .written:
            if let offset = start.offset, let lastOffset = last.offset {
                return .instants(start: start.wall.instant(at: offset), end: last.wall.instant(at: lastOffset), offset: offset)
            }
            guard start.offset == nil, last.offset == nil else {
                throw Failure(reason: "one of start and end has an offset and the other has none")
            }
            return .wall(start: start.wall, end: last.wall, ticks: ticks)
        }
    }

    /// The offset from its column, or `nil` if the column contains no valid offset.
    private func offset(_ cells: Cells) -> ZoneOffset? {
        guard let offsetCell, !isOne(trimmed(cells[offsetCell]), of: offsetEmpties), let unit = rule.offset?.unit,
            let numeral = try? Numeral(parsing: trimmed(cells[offsetCell])),
            let count = Int64(numeral.canonicalText), abs(count) <= 18 * 3600
        else { return nil }
        let seconds = count * unit.seconds
        return abs(seconds) <= 18 * 3600 ? ZoneOffset(seconds: Int32(seconds)) : nil
    }

    /// Returns the date and time from the time's columns.
    private func stamp(_ cells: Cells) throws(Failure) -> Timestamp {
        if columns.count == 1, rule.patterns.count == 1, rule.patterns[0].isISO8601 {
            let cell = trimmed(cells[columns[0]])
            if let stamp = memo.read(cell) {
                resolution = TimePattern.resolution(ofISO8601: cell)
                return stamp
            }
            throw Failure(reason: "\(name) is not an ISO 8601 date and time")
        }
        if needsHeading, heading == nil { throw Failure(reason: "no row before it contains the date") }
        guard let text = text(cells) else { throw Failure(reason: "\(name) is too long for a time") }
        guard rule.mayBeContested else {
            if let stamp = rule.patterns[lastFit].parse(text) {
                resolution = rule.patterns[lastFit].resolution(of: text)
                return stamp
            }
            for (index, pattern) in rule.patterns.enumerated() where index != lastFit {
                if let stamp = pattern.parse(text) {
                    lastFit = index
                    resolution = pattern.resolution(of: text)
                    return stamp
                }
            }
            throw unreadable()
        }
        var found: Timestamp?
        var others = false
        for pattern in rule.patterns {
            guard let stamp = pattern.parse(text) else { continue }
            if let order, let own = pattern.order, own != order {
                others = true
                continue
            }
            if let found, found != stamp {
                throw Failure(
                    reason: "\(name) can be read in more than one order of day and month, and "
                        + (contradictory
                            ? "the file's dates contradict each other" : "no date in the file shows which one is meant")
                        + "; --date-order DMY, MDY or YMD does")
            }
            found = stamp
            resolution = pattern.resolution(of: text)
        }
        if let found { return found }
        throw others
            ? Failure(reason: "\(name) does not fit the order of day and month that the file's other dates have") : unreadable()
    }

    private func unreadable() -> Failure {
        Failure(
            reason: "\(name) is not written as this format writes times (\(rule.patterns.map(\.text).joined(separator: ", ")))")
    }

    private func text(_ cells: Cells) -> UnsafeRawBufferPointer? {
        if let heading {
            return heading.withUnsafeBytes { day in
                [day, cells[columns[0]]].withUnsafeBufferPointer { scratch.joined($0, [0, 1]) }
            }
        }
        if columns.count == 1 {
            let cell = trimmed(cells[columns[0]])
            return cell.count <= 256 ? cell : nil
        }
        return scratch.joined(cells, columns)
    }

    /// Returns the orders in which the row's date can be read.
    func orders(_ cells: Cells) -> Set<DateOrder> {
        guard let text = text(cells) else { return [] }
        return Set(rule.patterns.filter { $0.parse(text) != nil }.compactMap(\.order))
    }

    private func end(_ rule: EndRule, _ cells: Cells, start: Timestamp) throws(Failure) -> Timestamp {
        switch rule {
        case .duration:
            guard let durationCell else { return start }
            let cell = trimmed(cells[durationCell])
            if cell.isEmpty { return start }
            let duration: Int64
            if let unit = durationUnit.microseconds {
                // Ten years at most.
                guard let count = (try? Numeral(parsing: cell))?.doubleValue, count >= 0, count * unit < 3.2e14 else {
                    throw Failure(reason: "\(endName) is not a duration")
                }
                duration = Int64((count * unit).rounded())
            } else {
                guard let length = Self.duration(cell) else { throw Failure(reason: "\(endName) is not hours:minutes:seconds") }
                duration = length
            }
            var end = start
            end.wall.microseconds += duration
            return end
        case .fixed(let length):
            var end = start
            end.wall.microseconds += length
            return end
        case .time(_, let patterns):
            if endColumns.count == 1, trimmed(cells[endColumns[0]]).isEmpty { return start }
            if endColumns.count == 1, patterns.count == 1, patterns[0].isISO8601 {
                guard let stamp = endMemo.read(trimmed(cells[endColumns[0]])) else {
                    throw Failure(reason: "\(endName) is not an ISO 8601 date and time")
                }
                return stamp
            }
            guard let text = endColumns.count == 1 ? trimmed(cells[endColumns[0]]) : scratch.joined(cells, endColumns),
                let stamp = patterns.lazy.filter({ self.order == nil || $0.order == nil || $0.order == self.order })
                    .compactMap({ $0.parse(text) }).first
            else { throw Failure(reason: "\(endName) is not written as this format writes times") }
            return stamp
        }
    }

    /// Parses `H:mm:ss`, with or without a fraction. Returns microseconds, up to 9999 hours.
    static func duration(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var parts: [Int64] = [0, 0, 0]
        var part = 0
        var digits = 0
        var index = 0
        while index < bytes.count, bytes[index] != UInt8(ascii: "."), bytes[index] != UInt8(ascii: ",") {
            if bytes[index] == UInt8(ascii: ":") {
                guard digits > 0, part < 2 else { return nil }
                part += 1
                digits = 0
            } else {
                guard bytes[index] &- UInt8(ascii: "0") < 10, digits < (part == 0 ? 4 : 2) else { return nil }
                parts[part] = parts[part] * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
                digits += 1
            }
            index += 1
        }
        guard part == 2, digits == 2, parts[1] < 60, parts[2] < 60 else { return nil }
        var microseconds: Int64 = 0
        if index < bytes.count {
            let fraction = UnsafeRawBufferPointer(rebasing: bytes[(index + 1)...])
            guard (1...9).contains(fraction.count) else { return nil }
            for position in 0..<max(6, fraction.count) {
                let digit = position < fraction.count ? fraction[position] &- UInt8(ascii: "0") : 0
                guard digit < 10 else { return nil }
                if position < 6 { microseconds = microseconds * 10 + Int64(digit) }
            }
        }
        return (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1_000_000 + microseconds
    }

    /// The device's counter of seconds, also as `11101.0`. The counter only distinguishes the two passes of an hour that occurs twice, so
    /// an unreadable one does not refuse the row. The result is then `nil`.
    private static func ticks(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        (try? Numeral(parsing: bytes)).flatMap { Int64($0.canonicalText) }
    }
}
