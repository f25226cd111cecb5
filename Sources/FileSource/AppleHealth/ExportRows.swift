import Glibc
import Pipeline

/// The columns of a row that ``AppleHealthExportSource`` delivers.
///
/// Column 0 holds the element's name. The others are those of `Record` and of `Correlation`; an element that is read whole has ``ExportTree``'s
/// cells behind its name; those of ``ExportRow`` have columns of their own, and any other no more than the name.
enum ExportColumn {
    static let element = 0
    // In the order of the DTD.
    static let type = 1
    static let unit = 2
    static let value = 3
    static let sourceName = 4
    static let sourceVersion = 5
    static let device = 6
    static let creationDate = 7
    static let startDate = 8
    static let endDate = 9
    /// `1` inside a Correlation, else empty.
    static let inCorrelation = 10
    /// `1` where something was left out because it was over ``ExportRows/maximumAttribute`` or ``ExportRows/maximumMetadata``.
    static let excess = 11
    /// The number of InstantaneousBeatsPerMinute elements as text; empty where there is none.
    static let beats = 12
    /// Keys and values of the MetadataEntry elements, by turns, from here on.
    static let metadata = 13

    /// Attributes of Record and their columns.
    static let names = [
        "type": type, "unit": unit, "value": value, "sourceName": sourceName, "sourceVersion": sourceVersion, "device": device,
        "creationDate": creationDate, "startDate": startDate, "endDate": endDate,
    ]
}

/// The rows of an export that have columns of their own, by what stands in column 0.
enum ExportRow {
    /// A characteristic of the person: name and value of an attribute of `Me`.
    static let me: StaticString = "Me"
    /// A route whose locations stand in the export itself begins: when it starts, and when its workout does, where the route does not say it.
    static let routeBegin: StaticString = "RouteBegin"
    /// One of its locations, with the columns of ``GPXRow``.
    static let location: StaticString = "Location"
    /// A route, behind its workout: which of the workout's, and the path of its file. The source adds what became of the file
    /// (``ExportFiles``).
    static let route: StaticString = "WorkoutRoute"
    /// The single beats of a heart rate variability, behind its record: the record's columns from `type` to `endDate`, then each beat's rate and
    /// time by turns.
    static let beats: StaticString = "HeartbeatSeries"
    /// How many columns stand before the first beat.
    static let beatColumns = 1 + ExportColumn.endDate
    /// A clinical record: its attributes (``clinicalColumns``).
    static let clinical: StaticString = "ClinicalRecord"
    /// In the order of a clinical record's columns.
    static let clinicalColumns = [
        "type", "identifier", "sourceName", "sourceURL", "fhirVersion", "receivedDate", "resourceFilePath",
    ]
    /// What no export so far has in an element: the name of the first of it.
    static let other: StaticString = "Other"
    /// Files of an archive that are no part of the export: by what their names end in, and how many.
    static let files: StaticString = "Files"
    /// Behind the last file of an archive.
    static let filesEnd: StaticString = "FilesEnd"
}

/// Rows that stand behind one another in one buffer, until they are delivered: parsing and delivery take turns, so that what a
/// receiver throws never has to find its way through the parser.
///
/// Whoever makes one calls ``deallocate()``.
struct ExportRows {
    /// Bytes of one element that is read whole; a workout has a few thousand.
    static let maximumTree = 4 << 20
    /// Longest attribute taken, in bytes; devices and sync identifiers have less than 300.
    static let maximumAttribute = 32 << 10
    /// Metadata entries of one record taken; Apple's have up to about 20.
    static let maximumMetadata = 1000
    /// Bytes of one record's metadata taken.
    static let maximumMetadataBytes = 256 << 10

    private struct Cell {
        var offset: Int32
        var length: Int32
    }
    private struct Row {
        var firstCell: Int
        var place: Place
        /// Whether it has the columns of the row before it, and comes together with it.
        var isJoined: Bool
    }
    /// Rows that come as one; their cells fit into the processor's nearest cache.
    private static let maximumJoined = 64

    private var bytes: UnsafeMutableRawPointer
    private var byteCapacity: Int
    private var byteCount = 0
    private var cells: ContiguousArray<Cell> = []
    private var rows: ContiguousArray<Row> = []
    /// Of the row that is being made.
    private var firstCell = 0
    private var metadataStart = 0
    private var beatCount = 0
    private var treeStart = 0
    private var isTreeFull = false

    init() {
        byteCapacity = 1 << 16
        bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 16)
    }

    func deallocate() { bytes.deallocate() }

    /// Begins a row of an element's name and `columns` empty cells.
    mutating func begin(_ name: UnsafeRawBufferPointer, columns: Int) {
        firstCell = cells.count
        beatCount = 0
        (treeStart, isTreeFull) = (byteCount, false)
        cells.append(contentsOf: repeatElement(Cell(offset: 0, length: 0), count: columns))
        cells[firstCell] = put(name)
        metadataStart = byteCount
    }

    /// Sets a column of the row; a text that is too long marks the row instead.
    @inline(__always) mutating func set(_ column: Int, _ text: UnsafeRawBufferPointer) {
        guard text.count <= Self.maximumAttribute else {
            markExcess()
            return
        }
        cells[firstCell + column] = put(text)
        metadataStart = byteCount
    }

    mutating func set(_ column: Int, _ text: StaticString) {
        set(column, UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func addMetadata(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard key.count <= Self.maximumAttribute, value.count <= Self.maximumAttribute,
            byteCount - metadataStart <= Self.maximumMetadataBytes,
            cells.count - firstCell < ExportColumn.metadata + 2 * Self.maximumMetadata
        else {
            markExcess()
            return
        }
        cells.append(put(key))
        cells.append(put(value))
    }

    /// Adds a cell to a row that is read whole; one that is too large ends in ``ExportTree/excess``, and holds no more.
    mutating func add(_ text: UnsafeRawBufferPointer) {
        guard !isTreeFull else { return }
        guard byteCount - treeStart + text.count <= Self.maximumTree, text.count <= Self.maximumAttribute,
            cells.count - firstCell < Self.maximumTree / 16
        else {
            markFull()
            return
        }
        cells.append(put(text))
    }

    /// Ends a row that is read whole: it has become too large.
    mutating func markFull() {
        add(ExportTree.excess)
        isTreeFull = true
    }

    mutating func add(_ text: StaticString) {
        guard !isTreeFull else { return }
        cells.append(put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }

    mutating func addBeat() { beatCount += 1 }

    /// Takes over the row that another is making, and ends it.
    mutating func end(_ other: inout ExportRows, _ place: Place) {
        firstCell = cells.count
        beatCount = 0
        for cell in other.cells {
            cells.append(put(UnsafeRawBufferPointer(start: other.bytes + Int(cell.offset), count: Int(cell.length))))
        }
        other.cells.removeAll(keepingCapacity: other.cells.count < 4096)
        (other.byteCount, other.firstCell) = (0, 0)
        end(place)
    }

    /// A cell of the row that was ended last; empty where there is none.
    func lastCell(_ column: Int) -> UnsafeRawBufferPointer {
        guard let row = rows.last, row.firstCell + column < firstCell else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let cell = cells[row.firstCell + column]
        return UnsafeRawBufferPointer(start: bytes + Int(cell.offset), count: Int(cell.length))
    }

    /// Whether a column of the row that is being made has nothing yet.
    func isEmpty(_ column: Int) -> Bool { cells[firstCell + column].length == 0 }

    private mutating func markExcess() {
        // A row without the column goes without the text.
        guard firstCell + ExportColumn.excess < cells.count else { return }
        if cells[firstCell + ExportColumn.excess].length == 0 { set(ExportColumn.excess, "1") }
    }

    /// Ends the row; it will be delivered.
    ///
    /// - Parameter isJoined: whether it has the columns of the row before it, and may come together with it.
    mutating func end(_ place: Place, isJoined: Bool = false) {
        if beatCount > 0 {
            var text = String(beatCount)
            text.withUTF8 { cells[firstCell + ExportColumn.beats] = put(UnsafeRawBufferPointer($0)) }
        }
        rows.append(Row(firstCell: firstCell, place: place, isJoined: isJoined))
        firstCell = cells.count
    }

    /// Whether none is finished.
    var isEmpty: Bool { rows.isEmpty }

    /// Forgets all finished rows and keeps the one that is being made.
    mutating func removeFinished() {
        rows.removeAll(keepingCapacity: true)
        guard firstCell < cells.count else {
            cells.removeAll(keepingCapacity: true)
            (byteCount, firstCell) = (0, 0)
            return
        }
        // The row that goes on moves to the front. Empty cells may point anywhere, so the start is its name's.
        let start = Int(cells[firstCell].offset)
        memmove(bytes, bytes + start, byteCount - start)
        byteCount -= start
        metadataStart -= start
        treeStart -= start
        cells.removeSubrange(..<firstCell)
        firstCell = 0
        for index in cells.indices where cells[index].length > 0 { cells[index].offset -= Int32(start) }
    }

    /// Takes all finished rows out, and keeps the one that is being made. Whoever has them calls ``deallocate()``.
    mutating func takeFinished() -> ExportRows {
        var taken = ExportRows()
        swap(&self, &taken)
        guard taken.firstCell < taken.cells.count else { return taken }
        let start = Int(taken.cells[taken.firstCell].offset)
        let length = taken.byteCount - start
        if length > byteCapacity { grow(length) }
        memcpy(bytes, taken.bytes + start, length)
        byteCount = length
        cells = ContiguousArray(taken.cells[taken.firstCell...])
        for index in cells.indices where cells[index].length > 0 { cells[index].offset -= Int32(start) }
        (metadataStart, treeStart) = (taken.metadataStart - start, taken.treeStart - start)
        (beatCount, isTreeFull) = (taken.beatCount, taken.isTreeFull)
        taken.cells.removeSubrange(taken.firstCell...)
        return taken
    }

    /// Hands each finished row to `body`, its cells in `row`; those that were joined some at once.
    func forEach(in row: TextRow, _ body: (Place) throws -> Void) rethrows {
        var texts: [UnsafeRawBufferPointer] = []
        var next = 0
        while next < rows.count {
            let index = next
            next += 1
            while next < rows.count, rows[next].isJoined, next - index < Self.maximumJoined { next += 1 }
            let end = next < rows.count ? rows[next].firstCell : firstCell
            row.places.removeAll(keepingCapacity: true)
            if next > index + 1 { row.places.append(contentsOf: rows[index..<next].lazy.map(\.place)) }
            // Built outside the object and swapped in: an access to a local array costs no check.
            swap(&texts, &row.cells)
            texts.removeAll(keepingCapacity: true)
            for cell in rows[index].firstCell..<end {
                texts.append(UnsafeRawBufferPointer(start: bytes + Int(cells[cell].offset), count: Int(cells[cell].length)))
            }
            swap(&texts, &row.cells)
            try body(rows[index].place)
        }
    }

    @inline(__always) private mutating func put(_ text: UnsafeRawBufferPointer) -> Cell {
        if byteCount + text.count > byteCapacity { grow(text.count) }
        let cell = Cell(offset: Int32(truncatingIfNeeded: byteCount), length: Int32(truncatingIfNeeded: text.count))
        if let start = text.baseAddress { memcpy(bytes + byteCount, start, text.count) }
        byteCount += text.count
        return cell
    }

    private mutating func grow(_ count: Int) {
        byteCapacity = max(byteCapacity * 2, byteCount + count)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 16)
        memcpy(larger, bytes, byteCount)
        bytes.deallocate()
        bytes = larger
    }
}
