import CExpat
import Glibc
import Pipeline

/// Reads the elements of a GPX file from a stream (expat), with the bounds of ``ExportParser``: it is fed from the root element on, so that no
/// entity is ever declared. Of what stands between two locations, what is plain is read in front of the parser (``PlainLocations``), which never
/// hears of it.
final class GPXParser {
    private let parser: XML_Parser
    private let context: UnsafeMutablePointer<Context>
    private let buffer: UnsafeMutableRawBufferPointer
    private var held: [UInt8] = []
    private var fed: Int64 = 0
    /// Locations in a row that were not plain; a file that has only such is not looked at any more.
    private var strange: Int

    private static let mostStrange = 16
    private static let longestHeld = PlainLocations.longest + ForbiddenCharacters.longestReference

    private struct Context {
        var elements: GPXElements
        let parser: XML_Parser
        /// The line that the parser counts as its first, and those that it does not hear of.
        var firstLine: Int

        var line: Int { firstLine - 1 + Int(XML_GetCurrentLineNumber(parser)) }
    }

    /// - Parameters:
    ///   - firstLine: the number of the line in which the root element begins.
    ///   - isAhead: whether plain locations are read in front of the parser; it would come to the same rows.
    init(firstLine: Int, isAhead: Bool = true) throws(SourceError) {
        guard let parser = XML_ParserCreate("UTF-8") else { throw SourceError(.inputOutput, "out of memory") }
        self.parser = parser
        strange = isAhead ? 0 : Self.mostStrange
        buffer = .allocate(byteCount: Self.longestHeld + ExportParser.stretch, alignment: 16)
        context = .allocate(capacity: 1)
        context.initialize(to: Context(elements: GPXElements(), parser: parser, firstLine: firstLine))
        XML_SetUserData(parser, context)
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                guard let data, let name, let attributes else { return }
                let context = data.assumingMemoryBound(to: Context.self)
                context.pointee.elements.start(name, attributes) { context.pointee.line }
            },
            { data, _ in
                guard let context = data?.assumingMemoryBound(to: Context.self) else { return }
                context.pointee.elements.end { context.pointee.line }
            })
        XML_SetCharacterDataHandler(parser) { data, text, length in
            data?.assumingMemoryBound(to: Context.self).pointee.elements.characters(
                UnsafeRawBufferPointer(start: text, count: Int(length)))
        }
        XML_SetCdataSectionHandler(
            parser, { $0?.assumingMemoryBound(to: Context.self).pointee.elements.isInCharacterData = true },
            { $0?.assumingMemoryBound(to: Context.self).pointee.elements.isInCharacterData = false })
    }

    deinit {
        XML_ParserFree(parser)
        buffer.deallocate()
        context.pointee.elements.deallocate()
        context.deinitialize(count: 1)
        context.deallocate()
    }

    /// Parses the next stretch of `input`.
    ///
    /// - Returns: whether there is more.
    /// - Throws: ``SourceError`` with the line where it is not XML; ``forEachRow(in:_:)`` still gives the rows before it.
    func advance(_ input: some ByteInput) throws(SourceError) -> Bool {
        context.pointee.elements.rows.removeFinished()
        buffer.copyBytes(from: held)
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[held.count..<(held.count + ExportParser.stretch)])
        let count = try input.read(into: room)
        let filled = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(held.count + count)])
        ForbiddenCharacters.scrub(filled)
        let keep = count == 0 ? 0 : ForbiddenCharacters.unfinishedReference(filled)
        var rest = UnsafeRawBufferPointer(rebasing: filled[..<(filled.count - keep)])
        while !rest.isEmpty {
            var isCut = false
            if strange < Self.mostStrange, isBetweenLocations { isCut = takePlain(&rest) }
            // The rest of a location that is cut off comes with the next stretch.
            if isCut, count > 0, rest.count < PlainLocations.longest { break }
            let end = strange < Self.mostStrange ? Self.endOfLocation(rest) : rest.count
            try parse(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        held.removeAll(keepingCapacity: true)
        held.append(contentsOf: rest)
        held.append(contentsOf: filled[(filled.count - keep)...])
        if count == 0 { try parse(rest, isLast: true) }
        return count > 0
    }

    /// Whether the parser has come to the end of what it was fed, and a location may follow.
    private var isBetweenLocations: Bool {
        context.pointee.elements.isBetweenLocations && Int64(XML_GetCurrentByteIndex(parser)) == fed
    }

    /// Takes plain locations from the front.
    ///
    /// - Returns: whether the octets end in one.
    private func takePlain(_ rest: inout UnsafeRawBufferPointer) -> Bool {
        let first = context.pointee.line
        var line = first
        let (taken, stop) = PlainLocations.take(rest, into: &context.pointee.elements.rows, line: &line)
        context.pointee.firstLine += line - first
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

    private func parse(_ octets: UnsafeRawBufferPointer, isLast: Bool = false) throws(SourceError) {
        fed += Int64(octets.count)
        let start = octets.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status = XML_Parse(parser, start, Int32(octets.count), isLast ? 1 : 0)
        if let problem = context.pointee.elements.problem { throw SourceError(.malformed, problem, at: place) }
        guard status == XML_STATUS_OK else { throw failure(XML_GetErrorCode(parser)) }
        let unfinished = fed - Int64(XML_GetCurrentByteIndex(parser))
        guard unfinished <= Int64(ExportParser.maximumToken) else {
            throw SourceError(
                .malformed, "an element's start is longer than \(ExportParser.maximumToken >> 20) MiB", at: place)
        }
    }

    /// Hands on the rows of the stretch that was parsed last.
    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows {
        try context.pointee.elements.rows.forEach(in: row, body)
    }

    /// The line that the parser has come to.
    var place: Place { Place(.line, context.pointee.line) }

    private func failure(_ code: XML_Error) -> SourceError { ExportParser.failure(code, at: place) }
}
