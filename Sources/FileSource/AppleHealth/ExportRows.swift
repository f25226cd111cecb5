import Glibc
import Pipeline

/// The columns of a row that ``AppleHealthExportSource`` delivers.
///
/// Column 0 contains the element's name. The other columns are those of `Record` and `Correlation`. An element that is read as a whole
/// has the cells of ``ExportTree`` after its name. The rows of ``ExportRow`` have their own columns, and all others have only the name.
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
    /// `1` if something was omitted because it exceeds ``ExportRows/maximumAttribute`` or ``ExportRows/maximumMetadata``.
    static let excess = 11
    /// The number of InstantaneousBeatsPerMinute elements as text, or empty if there are none.
    static let beats = 12
    /// The first of the alternating keys and values of the MetadataEntry elements.
    static let metadata = 13

    /// The attributes of Record and their columns.
    static let names = [
        "type": type, "unit": unit, "value": value, "sourceName": sourceName, "sourceVersion": sourceVersion, "device": device,
        "creationDate": creationDate, "startDate": startDate, "endDate": endDate,
    ]
}

/// The rows of an export with their own columns, by the text in column 0.
enum ExportRow {
    /// A characteristic of the person: the name and value of an attribute of `Me`.
    static let me: StaticString = "Me"
    /// The start of a route whose locations are in the export, with the route's start or else the workout's.
    static let routeBegin: StaticString = "RouteBegin"
    /// One of its locations, with the columns of ``GPXRow``.
    static let location: StaticString = "Location"
    /// A route, after its workout: its index in the workout, and the path of its file. The source adds the result of the search for the
    /// file (``ExportFiles``).
    static let route: StaticString = "WorkoutRoute"
    /// The single beats of a heart rate variability, after its record: the record's columns from `type` to `endDate`, then alternating
    /// rates and times of the beats.
    static let beats: StaticString = "HeartbeatSeries"
    /// The number of columns before the first beat.
    static let beatColumns = 1 + ExportColumn.endDate
    /// A clinical record with its attributes (``clinicalColumns``).
    static let clinical: StaticString = "ClinicalRecord"
    /// The attributes in the order of a clinical record's columns.
    static let clinicalColumns = [
        "type", "identifier", "sourceName", "sourceURL", "fhirVersion", "receivedDate", "resourceFilePath",
    ]
    /// The name of the first unknown element inside another one.
    static let other: StaticString = "Other"
    /// Files of an archive that do not belong to the export: the suffix of their names and their number.
    static let files: StaticString = "Files"
    /// The end of an archive's files.
    static let filesEnd: StaticString = "FilesEnd"
}

/// Rows in one buffer until they are delivered. Parsing and delivery alternate, so that an error of the receiver never has to pass
/// through the parser.
///
/// The owner must call ``deallocate()``.
struct ExportRows {
    /// The maximum size in bytes of an element that is read as a whole. A workout has a few thousand.
    static let maximumTree = 4 << 20
    /// The maximum length of an attribute in bytes. Devices and sync identifiers have less than 300.
    static let maximumAttribute = 32 << 10
    /// The maximum number of metadata entries in a record. Apple's have up to about 20.
    static let maximumMetadata = 1000
    /// The maximum size of a record's metadata in bytes.
    static let maximumMetadataBytes = 256 << 10

    private struct Cell {
        var offset: Int32
        var length: Int32
    }
    private struct Row {
        var firstCell: Int
        var place: Place
        /// Whether it has the same columns as the previous row and is delivered together with it.
        var isJoined: Bool
    }
    /// The maximum number of rows that are delivered together. Their cells fit into the processor's first-level cache.
    private static let maximumJoined = 64

    private var bytes: UnsafeMutableRawPointer
    private var byteCapacity: Int
    private var byteCount = 0
    private var cells: ContiguousArray<Cell> = []
    private var rows: ContiguousArray<Row> = []
    /// The first cell of the row that is being built.
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

    /// Begins a row with an element's name and `columns` empty cells.
    mutating func begin(_ name: UnsafeRawBufferPointer, columns: Int) {
        firstCell = cells.count
        beatCount = 0
        (treeStart, isTreeFull) = (byteCount, false)
        cells.append(contentsOf: repeatElement(Cell(offset: 0, length: 0), count: columns))
        cells[firstCell] = put(name)
        metadataStart = byteCount
    }

    /// Sets a column of the row. A text that is too long marks the row instead.
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

    /// Adds a cell to a row of a whole element. If the row is too large, it ends with ``ExportTree/excess``.
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

    /// Ends a row of a whole element that has become too large.
    mutating func markFull() {
        add(ExportTree.excess)
        isTreeFull = true
    }

    mutating func add(_ text: StaticString) {
        guard !isTreeFull else { return }
        cells.append(put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)))
    }

    mutating func addBeat() { beatCount += 1 }

    /// Moves the unfinished row of another buffer here and ends it.
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

    /// A cell of the last finished row, or empty if there is none.
    func lastCell(_ column: Int) -> UnsafeRawBufferPointer {
        guard let row = rows.last, row.firstCell + column < firstCell else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let cell = cells[row.firstCell + column]
        return UnsafeRawBufferPointer(start: bytes + Int(cell.offset), count: Int(cell.length))
    }

    /// Whether a column of the row that is being built is empty.
    func isEmpty(_ column: Int) -> Bool { cells[firstCell + column].length == 0 }

    private mutating func markExcess() {
        // A row without this column cannot be marked. Its text is omitted.
        guard firstCell + ExportColumn.excess < cells.count else { return }
        if cells[firstCell + ExportColumn.excess].length == 0 { set(ExportColumn.excess, "1") }
    }

    /// Ends the row, so that it can be delivered.
    ///
    /// - Parameter isJoined: whether it has the same columns as the previous row and may be delivered together with it.
    mutating func end(_ place: Place, isJoined: Bool = false) {
        if beatCount > 0 {
            var text = String(beatCount)
            text.withUTF8 { cells[firstCell + ExportColumn.beats] = put(UnsafeRawBufferPointer($0)) }
        }
        rows.append(Row(firstCell: firstCell, place: place, isJoined: isJoined))
        firstCell = cells.count
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Removes all finished rows and keeps the one that is being built.
    mutating func removeFinished() {
        rows.removeAll(keepingCapacity: true)
        guard firstCell < cells.count else {
            cells.removeAll(keepingCapacity: true)
            (byteCount, firstCell) = (0, 0)
            return
        }
        // The unfinished row moves to the front. It begins with its name, because empty cells may point anywhere.
        let start = Int(cells[firstCell].offset)
        memmove(bytes, bytes + start, byteCount - start)
        byteCount -= start
        metadataStart -= start
        treeStart -= start
        cells.removeSubrange(..<firstCell)
        firstCell = 0
        for index in cells.indices where cells[index].length > 0 { cells[index].offset -= Int32(start) }
    }

    /// Removes and returns all finished rows, and keeps the one that is being built. The caller must call ``deallocate()`` on the result.
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

    /// Passes each finished row to `body`, with its cells in `row`. Joined rows are passed together.
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
            // Built in a local array and swapped in, because access to a local array needs no exclusivity check.
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
