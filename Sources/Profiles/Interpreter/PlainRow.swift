import HealthModel
import Pipeline

/// The fast path for the generic CSV: a row with one number, its unit and type in cells, and an ISO 8601 time.
///
/// Only texts that were seen before take the fast path. All other rows, including wrong ones, go through ``BoundTable``, which fills the
/// memos. This type contains only numbers and handles, so using it costs no reference counting. The table owns the memory.
struct PlainRow {
    private let width: Int
    private let timeCell: Int
    private let endCell: Int
    private let valueCell: Int
    private let unitCell: Int
    private let originCells: OriginCells
    private let units: ByteMemo<Unit>
    private let origins: ByteMemo<Origin>
    private let scratch: CellScratch
    private let starts: UnsafeMutablePointer<ISO8601Memo>
    private let ends: UnsafeMutablePointer<ISO8601Memo>

    /// Up to four cells, without an array's reference count.
    private struct OriginCells: Sequence, IteratorProtocol {
        var first, second, third, fourth: Int

        mutating func next() -> Int? {
            guard first >= 0 else { return nil }
            defer { (first, second, third, fourth) = (second, third, fourth, -1) }
            return first
        }
    }

    /// - Returns: nil if rows need more than the fast path can do.
    init?(_ reading: BoundReading, times: TableTimes, width: Int) {
        let cells = reading.origins.cells
        guard reading.isPlain, times.plainCell >= 0, times.plainEndCell >= -1, (1...4).contains(cells.count) else { return nil }
        self.width = width
        timeCell = times.plainCell
        endCell = times.plainEndCell
        valueCell = reading.cell
        unitCell = reading.unitCell
        func cell(_ index: Int) -> Int { index < cells.count ? cells[index] : -1 }
        originCells = OriginCells(first: cell(0), second: cell(1), third: cell(2), fourth: cell(3))
        units = reading.units
        origins = reading.origins.memo
        scratch = CellScratch()
        starts = .allocate(capacity: 1)
        starts.initialize(to: ISO8601Memo())
        ends = .allocate(capacity: 1)
        ends.initialize(to: ISO8601Memo())
    }

    /// Frees its own memory. The reading owns the memos.
    func deallocate() {
        scratch.deallocate()
        starts.deallocate()
        ends.deallocate()
    }

    /// - Returns: whether the row was read.
    @inline(__always) func take(_ cells: Cells, at place: Place, into output: inout [Reading]) -> Bool {
        guard cells.count == width, let numeral = try? Numeral(parsing: cells[valueCell]), let unit = units.find(cells[unitCell]),
            let key = scratch.key(cells, originCells), let origin = origins.find(key),
            let start = starts.pointee.read(cells[timeCell])
        else { return false }
        var end = start
        if endCell >= 0, !cells[endCell].isEmpty {
            guard let last = ends.pointee.read(cells[endCell]) else { return false }
            end = last
        }
        let time: ReadingTime
        if let offset = start.offset, let endOffset = end.offset {
            time = .instants(start: start.wall.instant(at: offset), end: end.wall.instant(at: endOffset), offset: offset)
        } else if start.offset == nil, end.offset == nil {
            time = .wall(start: start.wall, end: end.wall, ticks: nil)
        } else {
            return false
        }
        Self.append(
            Reading(
                origin: origin, numeral: numeral, unit: unit, time: time,
                timeResolution: TimePattern.resolution(ofISO8601: cells[timeCell]), place: place), to: &output)
        return true
    }

    /// Moves the reading into the array. If inlined, the compiler first copies the reading and its reference counts.
    @inline(never) private static func append(_ reading: consuming Reading, to output: inout [Reading]) { output.append(reading) }
}
