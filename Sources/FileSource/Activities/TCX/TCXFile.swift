import HealthModel
import Pipeline

/// Recognizes and reads TCX files: activities as written by Garmin's Training Center and many other programs
/// (http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2).
package enum TCXFile {
    static let root = "TrainingCenterDatabase"

    /// Whether a file's root element is `TrainingCenterDatabase`.
    package static func recognises(_ file: InputFile) -> Bool { ElementFile.recognises(file, root: root) }

    /// Passes the rows of a file to `body`.
    ///
    /// - Throws: ``SourceError`` with the first line that cannot be read. The rows before it have been passed.
    static func forEachRow(in input: PrefixedInput, _ body: (TextRow, Place) throws -> Void) throws {
        let line = try ElementFile.begin(input, root: root, of: "TCX")
        try ElementParser(TCXElements(), firstLine: line).forEachRow(of: input, body)
    }
}

/// Reads a TCX file row by row, for ``ActivityInterpreter``.
///
/// The file is read twice, because the recording device follows its activity, and the program that wrote the file is at its end. Both are
/// part of each sample's identity. A file that cannot be read to its end returns no rows. Its samples would have no device and so another
/// identity than those of the complete file.
package struct TCXFileSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes each row to `handle`, in file order.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let sources = try Sources(imported.file)
        var activity = 0
        let whole = TextRow()
        try TCXFile.forEachRow(in: PrefixedInput(imported.input)) { row, place in
            func give(_ row: TextRow) throws { try handle(imported.frame(.row(row), at: place, ActivityRow.tcx)) }
            let element = row[ActivityRow.element]
            if element.isText(TCXElements.creator) || element.isText(TCXElements.author) { return }
            guard element.isText(ActivityRow.activity) else { return try give(row) }
            try sources.bytes(of: activity).withUnsafeBytes { bytes in
                whole.cells = row.cells
                var start = 0
                for (column, length) in sources.lengths(of: activity) {
                    whole.cells[column] = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
                    start += length
                }
                try give(whole)
            }
            activity += 1
        }
    }

    /// The sources that follow the activities.
    private struct Sources {
        private var creators: [[[UInt8]]] = []
        private var author: [[UInt8]] = []

        init(_ file: InputFile) throws {
            var (creators, author): ([[[UInt8]]], [[UInt8]]) = ([], [])
            // One device recorded most of a file, so its name is kept once.
            var last: [[UInt8]] = []
            try TCXFile.forEachRow(in: PrefixedInput(FileInput(file))) { row, _ in
                if row[ActivityRow.element].isText(TCXElements.creator) {
                    let cells = row.cells.dropFirst().map { Array($0) }
                    if cells != last { last = cells }
                    creators.append(last)
                } else if row[ActivityRow.element].isText(TCXElements.author) {
                    author = row.cells.dropFirst().map { Array($0) }
                }
            }
            (self.creators, self.author) = (creators, author)
        }

        private func cells(of activity: Int) -> [(Int, [UInt8])] {
            typealias Column = ActivityRow.Activity
            var cells: [(Int, [UInt8])] = []
            if author.count == 3 {
                cells += [(Column.sourceName, author[0]), (Column.sourceVersion, Self.version(author[1], author[2]))]
            }
            if activity < creators.count, creators[activity].count == 5 {
                let creator = creators[activity]
                cells += [
                    (Column.model, creator[0]), (Column.serial, creator[1]),
                    (Column.firmware, Self.version(creator[3], creator[4])),
                ]
            }
            return cells
        }

        private static func version(_ major: [UInt8], _ minor: [UInt8]) -> [UInt8] {
            major.isEmpty || minor.isEmpty ? major : major + [UInt8(ascii: ".")] + minor
        }

        func bytes(of activity: Int) -> [UInt8] { cells(of: activity).flatMap(\.1) }
        func lengths(of activity: Int) -> [(Int, Int)] { cells(of: activity).map { ($0.0, $0.1.count) } }
    }
}
