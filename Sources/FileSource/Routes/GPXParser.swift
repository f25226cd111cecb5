import Glibc
import Pipeline

/// Reads the elements of a GPX file. Of what stands between two locations, what is plain is read in front of the parser (``PlainLocations``),
/// which never hears of it.
final class GPXParser: RowParser {
    private let parser: ElementParser<GPXElements>
    /// Locations in a row that were not plain; a file that has only such is not looked at any more.
    private var strange: Int

    private static let mostStrange = 16

    /// - Parameters:
    ///   - firstLine: the number of the line in which the root element begins.
    ///   - isAhead: whether plain locations are read in front of the parser; it would come to the same rows.
    init(firstLine: Int, isAhead: Bool = true) throws(SourceError) {
        parser = try ElementParser(GPXElements(), firstLine: firstLine, longestHeld: PlainLocations.longest)
        strange = isAhead ? 0 : Self.mostStrange
    }

    func advance(_ input: some ByteInput) throws(SourceError) -> Bool {
        let (octets, isLast) = try parser.read(input)
        var rest = octets
        while !rest.isEmpty {
            var isCut = false
            if strange < Self.mostStrange, parser.isBetweenEvents { isCut = takePlain(&rest) }
            // The rest of a location that is cut off comes with the next stretch.
            if isCut, !isLast, rest.count < PlainLocations.longest { break }
            let end = strange < Self.mostStrange ? Self.endOfLocation(rest) : rest.count
            try parser.parse(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        parser.hold(rest)
        if isLast { try parser.parse(rest, isLast: true) }
        return !isLast
    }

    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows { try parser.forEachRow(in: row, body) }

    func takeRows() -> RowBlock { parser.takeRows() }

    var place: Place { parser.place }

    /// Takes plain locations from the front, where one may stand.
    ///
    /// - Returns: whether the octets end in one.
    private func takePlain(_ rest: inout UnsafeRawBufferPointer) -> Bool {
        let octets = rest
        let found = parser.withElements { elements, first -> (lines: Int, result: (taken: Int, stop: PlainLocations.Stop)?) in
            guard elements.isBetweenLocations else { return (0, nil) }
            var line = first
            let found = PlainLocations.take(octets, into: &elements.rows, line: &line)
            return (line - first, found)
        }
        guard let (taken, stop) = found else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
        if taken > 0 { strange = 0 } else if stop == .other { strange += 1 }
        return stop == .cut
    }

    /// Behind the next location, or where the first of a segment may stand; all of it where neither comes.
    private static func endOfLocation(_ octets: UnsafeRawBufferPointer) -> Int {
        guard let start = octets.baseAddress else { return 0 }
        var end = 0
        while let found = memchr(start + end, Int32(UInt8(ascii: ">")), octets.count - end) {
            end = start.distance(to: UnsafeRawPointer(found)) + 1
            guard end >= 7 else { continue }
            let tail = UnsafeRawBufferPointer(start: start + (end - 7), count: 7)
            if tail.isText("/trkpt>") || tail.isText("trkseg>") { return end }
        }
        return octets.count
    }
}
