import Glibc
import Pipeline

/// Parses a GPX file. Locations in the usual form are read by ``PlainLocations`` and bypass the XML parser.
final class GPXParser: RowParser {
    private let parser: ElementParser<GPXElements>
    /// The number of consecutive locations in another form. If it reaches ``maximumUnknown``, all others go to the parser too.
    private var unknown: Int

    private static let maximumUnknown = 16

    /// - Parameters:
    ///   - firstLine: the line of the root element.
    ///   - isAhead: whether to read plain locations ahead of the parser. The rows are the same without it.
    init(firstLine: Int, isAhead: Bool = true) throws(SourceError) {
        parser = try ElementParser(GPXElements(), firstLine: firstLine, maximumCarryOver: PlainLocations.maximumLength)
        unknown = isAhead ? 0 : Self.maximumUnknown
    }

    func advance(_ input: some ByteInput) throws(SourceError) -> Bool {
        let (bytes, isLast) = try parser.read(input)
        var rest = bytes
        while !rest.isEmpty {
            var isCut = false
            if unknown < Self.maximumUnknown, parser.isBetweenEvents { isCut = takePlain(&rest) }
            // An incomplete location is continued in the next part.
            if isCut, !isLast, rest.count < PlainLocations.maximumLength { break }
            let end = unknown < Self.maximumUnknown ? Self.endOfLocation(rest) : rest.count
            try parser.parse(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        parser.carryOver(rest)
        if isLast { try parser.parse(rest, isLast: true) }
        return !isLast
    }

    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows { try parser.forEachRow(in: row, body) }

    func takeRows() -> RowBlock { parser.takeRows() }

    var place: Place { parser.place }

    /// Reads plain locations from the front, if one may come next.
    ///
    /// - Returns: whether the bytes end within a location.
    private func takePlain(_ rest: inout UnsafeRawBufferPointer) -> Bool {
        let bytes = rest
        let found = parser.withElements { elements, first -> (lines: Int, result: (taken: Int, stop: PlainLocations.Stop)?) in
            guard elements.isBetweenLocations else { return (0, nil) }
            var line = first
            let found = PlainLocations.take(bytes, into: &elements.rows, line: &line)
            return (line - first, found)
        }
        guard let (taken, stop) = found else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
        if taken > 0 { unknown = 0 } else if stop == .other { unknown += 1 }
        return stop == .cut
    }

    /// The end of the next location, or the position of the first one in a segment. All bytes if neither is found.
    private static func endOfLocation(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        var end = 0
        while let found = memchr(start + end, Int32(UInt8(ascii: ">")), bytes.count - end) {
            end = start.distance(to: UnsafeRawPointer(found)) + 1
            guard end >= 7 else { continue }
            let tail = UnsafeRawBufferPointer(start: start + (end - 7), count: 7)
            if tail.isText("/trkpt>") || tail.isText("trkseg>") { return end }
        }
        return bytes.count
    }
}
