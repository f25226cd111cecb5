import CExpat
import Glibc
import Pipeline

/// Reads the elements of a TCX file from a stream (expat), with the bounds of ``ExportParser``: it is fed from the root element on, so that no
/// entity is ever declared.
final class TCXParser {
    private let parser: XML_Parser
    private let context: UnsafeMutablePointer<Context>
    private var held: [UInt8] = []
    private var fed: Int64 = 0

    private struct Context {
        var elements: TCXElements
        let parser: XML_Parser
        /// The line that the parser counts as its first.
        let firstLine: Int

        var line: Int { firstLine - 1 + Int(XML_GetCurrentLineNumber(parser)) }
    }

    /// - Parameter firstLine: the number of the line in which the root element begins.
    init(firstLine: Int) throws(SourceError) {
        guard let parser = XML_ParserCreate("UTF-8") else { throw SourceError(.inputOutput, "out of memory") }
        self.parser = parser
        context = .allocate(capacity: 1)
        context.initialize(to: Context(elements: TCXElements(), parser: parser, firstLine: firstLine))
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
    }

    deinit {
        XML_ParserFree(parser)
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
        guard let start = XML_GetBuffer(parser, Int32(ExportParser.stretch)) else { throw failure(XML_GetErrorCode(parser)) }
        let buffer = UnsafeMutableRawBufferPointer(start: start, count: ExportParser.stretch)
        buffer.copyBytes(from: held)
        let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[held.count...]))
        let filled = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(held.count + count)])
        ForbiddenCharacters.scrub(filled)
        let keep = count == 0 ? 0 : ForbiddenCharacters.unfinishedReference(filled)
        held.removeAll(keepingCapacity: true)
        held.append(contentsOf: filled[(filled.count - keep)...])
        fed += Int64(filled.count - keep)
        let status = XML_ParseBuffer(parser, Int32(filled.count - keep), count == 0 ? 1 : 0)
        if let problem = context.pointee.elements.problem { throw SourceError(.malformed, problem, at: place) }
        guard status == XML_STATUS_OK else { throw failure(XML_GetErrorCode(parser)) }
        let unfinished = fed - Int64(XML_GetCurrentByteIndex(parser))
        guard unfinished <= Int64(ExportParser.maximumToken) else {
            throw SourceError(
                .malformed, "an element's start is longer than \(ExportParser.maximumToken >> 20) MiB", at: place)
        }
        return count > 0
    }

    /// Hands on the rows of the stretch that was parsed last.
    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows {
        try context.pointee.elements.rows.forEach(in: row, body)
    }

    /// The line that the parser has come to.
    var place: Place { Place(.line, context.pointee.line) }

    private func failure(_ code: XML_Error) -> SourceError { ExportParser.failure(code, at: place) }
}
