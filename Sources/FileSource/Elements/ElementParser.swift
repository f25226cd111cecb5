import CExpat
import Glibc
import Pipeline

/// Converts the elements of a document to rows, in document order. An ``ElementParser`` calls it.
protocol ElementRows {
    var rows: ExportRows { get set }
    /// The reason why the elements cannot be read further, if any.
    var problem: String? { get }

    /// Called when an element begins.
    ///
    /// - Parameters:
    ///   - attributes: alternating names and values, ended by `nil`.
    ///   - line: returns the line of the element. Call it only if needed.
    mutating func start(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int)
    mutating func end(line: () -> Int)
    /// Called with a piece of a text.
    mutating func characters(_ piece: UnsafeRawBufferPointer)
    /// Called when a CDATA section begins or ends.
    mutating func characterData(isOpen: Bool)
    /// Releases memory. Must be called once at the end.
    func deallocate()
    /// Whether texts are needed.
    static var hasTexts: Bool { get }
}

extension ElementRows {
    mutating func characters(_ piece: UnsafeRawBufferPointer) {}
    mutating func characterData(isOpen: Bool) {}
    static var hasTexts: Bool { true }
}

/// Delivers the rows of an XML document in parts.
protocol RowParser: AnyObject {
    /// Parses the next part of `input`.
    ///
    /// - Returns: whether there is more.
    /// - Throws: ``SourceError`` with the line that is not XML. ``forEachRow(in:_:)`` still returns the rows before it.
    func advance(_ input: some ByteInput) throws(SourceError) -> Bool
    /// Passes the rows of the last parsed part to `body`.
    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows
    /// Returns the rows for another thread and removes them here.
    func takeRows() -> RowBlock
    /// The current line of the parser.
    var place: Place { get }
}

extension RowParser {
    /// Passes all rows of `input` to `body`.
    ///
    /// - Throws: ``SourceError`` with the first line that cannot be read, after the rows before it, and errors of `body`.
    func forEachRow(of input: some ByteInput, _ body: (TextRow, Place) throws -> Void) throws {
        let row = TextRow()
        try forEachChunk(of: input) { try forEachRow(in: row) { place in try body(row, place) } }
    }

    /// Passes all rows of `input` to `body` in blocks.
    func forEachBlock(of input: some ByteInput, _ body: (RowBlock) throws -> Void) throws {
        try forEachChunk(of: input) { try body(takeRows()) }
    }

    private func forEachChunk(of input: some ByteInput, _ body: () throws -> Void) throws {
        var isMore = true
        while isMore {
            var failure: SourceError?
            do throws(SourceError) {
                isMore = try advance(input)
            } catch {
                failure = error
                failure?.place = error.place ?? place
            }
            try body()
            if let failure { throw failure }
        }
    }
}

/// Parses the elements of a document from a stream with expat, in parts of constant size. It starts at the root element, so that no
/// entity is ever declared.
final class ElementParser<Elements: ElementRows>: RowParser {
    private let parser: XML_Parser
    /// Separate from the object, so that the parser's events access it without exclusivity checks.
    private let context: UnsafeMutablePointer<Context>
    private let handlers: UnsafeMutablePointer<Handlers>
    private let buffer: UnsafeMutableRawBufferPointer
    /// Bytes that wait for the following ones.
    private var carriedOver: [UInt8] = []
    private var fed: Int64 = 0

    private struct Context {
        var elements: Elements
        let parser: XML_Parser
        /// The number of the parser's first line, plus the lines that bypassed the parser.
        var firstLine: Int

        var line: Int { firstLine - 1 + Int(XML_GetCurrentLineNumber(parser)) }
    }

    /// - Parameters:
    ///   - firstLine: the line of the root element.
    ///   - maximumCarryOver: the maximum number of bytes that ``carryOver(_:)`` keeps.
    init(_ elements: Elements, firstLine: Int, maximumCarryOver: Int = 0) throws(SourceError) {
        guard let parser = XML_ParserCreate("UTF-8") else { throw SourceError(.inputOutput, "out of memory") }
        self.parser = parser
        buffer = .allocate(
            byteCount: maximumCarryOver + ForbiddenCharacters.maximumReferenceLength + ElementParserLimits.length, alignment: 16)
        let context = UnsafeMutablePointer<Context>.allocate(capacity: 1)
        context.initialize(to: Context(elements: elements, parser: parser, firstLine: firstLine))
        self.context = context
        handlers = .allocate(capacity: 1)
        handlers.initialize(
            to: Handlers(
                start: { name, attributes in
                    context.pointee.elements.start(name, attributes) { context.pointee.line }
                },
                end: { context.pointee.elements.end { context.pointee.line } },
                characters: { context.pointee.elements.characters($0) },
                section: { context.pointee.elements.characterData(isOpen: $0) }))
        handlers.pointee.set(on: parser, hasTexts: Elements.hasTexts)
        XML_SetUserData(parser, handlers)
    }

    deinit {
        XML_ParserFree(parser)
        handlers.deinitialize(count: 1)
        handlers.deallocate()
        context.pointee.elements.deallocate()
        context.deinitialize(count: 1)
        context.deallocate()
        buffer.deallocate()
    }

    func advance(_ input: some ByteInput) throws(SourceError) -> Bool {
        let (bytes, isLast) = try read(input)
        try parse(bytes, isLast: isLast)
        return !isLast
    }

    func forEachRow(in row: TextRow, _ body: (Place) throws -> Void) rethrows {
        try context.pointee.elements.rows.forEach(in: row, body)
    }

    func takeRows() -> RowBlock { RowBlock(context.pointee.elements.rows.takeFinished()) }

    var place: Place { Place(.line, context.pointee.line) }

    // MARK: Parts of a stretch

    /// Returns the next bytes, after those that were held, and removes the previous rows.
    ///
    /// - Returns: bytes that are valid until the next call, and whether none follow.
    func read(_ input: some ByteInput) throws(SourceError) -> (bytes: UnsafeRawBufferPointer, isLast: Bool) {
        context.pointee.elements.rows.removeFinished()
        buffer.copyBytes(from: carriedOver)
        let room = UnsafeMutableRawBufferPointer(
            rebasing: buffer[carriedOver.count..<(carriedOver.count + ElementParserLimits.length)])
        let count = try input.read(into: room)
        let filled = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(carriedOver.count + count)])
        ForbiddenCharacters.scrub(filled)
        let keep = count == 0 ? 0 : ForbiddenCharacters.unfinishedReference(filled)
        carriedOver.removeAll(keepingCapacity: true)
        carriedOver.append(contentsOf: filled[(filled.count - keep)...])
        return (UnsafeRawBufferPointer(rebasing: filled[..<(filled.count - keep)]), count == 0)
    }

    /// Keeps the end of the bytes for the next part.
    func carryOver(_ bytes: UnsafeRawBufferPointer) { carriedOver.insert(contentsOf: bytes, at: 0) }

    func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool = false) throws(SourceError) {
        fed += Int64(bytes.count)
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        let status = XML_Parse(parser, start, Int32(bytes.count), isLast ? 1 : 0)
        if let problem = context.pointee.elements.problem { throw SourceError(.malformed, problem, at: place) }
        guard status == XML_STATUS_OK else { throw ElementParserLimits.failure(XML_GetErrorCode(parser), at: place) }
        guard fed - parsed <= Int64(ElementParserLimits.maximumToken) else {
            let reason = "an element's start is longer than \(ElementParserLimits.maximumToken >> 20) MiB"
            throw SourceError(.malformed, reason, at: place)
        }
    }

    /// The number of bytes up to the end of the last event.
    private var parsed: Int64 { Int64(XML_GetCurrentByteIndex(parser)) }

    /// Whether the parser has processed all bytes.
    var isBetweenEvents: Bool { parsed == fed }

    /// Accesses the elements directly. The lines that `body` returns are counted as read.
    func withElements<Result>(_ body: (inout Elements, _ line: Int) -> (lines: Int, result: Result)) -> Result {
        let (lines, result) = body(&context.pointee.elements, context.pointee.line)
        context.pointee.firstLine += lines
        return result
    }
}

/// Limits and errors that do not depend on the elements.
enum ElementParserLimits {
    /// The size of a part: large enough to make calls cheap, and small enough for the processor's cache.
    static let length = 64 << 10
    /// The maximum length of an element's start, and of anything else that the parser must keep contiguous.
    static let maximumToken = 1 << 20

    static func failure(_ code: XML_Error, at place: Place) -> SourceError {
        switch code {
        case XML_ERROR_NO_MEMORY: return SourceError(.inputOutput, "out of memory", at: place)
        case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN:
            return SourceError(.malformed, "the file ends in the middle", at: place)
        default:
            let text = XML_ErrorString(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
            return SourceError(.malformed, "not valid XML: \(text)", at: place)
        }
    }
}

/// The receivers of the parser's events. C functions cannot be generic over the type of elements.
private struct Handlers {
    var start: (UnsafePointer<XML_Char>, UnsafeMutablePointer<UnsafePointer<XML_Char>?>) -> Void
    var end: () -> Void
    var characters: (UnsafeRawBufferPointer) -> Void
    var section: (Bool) -> Void

    func set(on parser: XML_Parser, hasTexts: Bool) {
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                guard let data, let name, let attributes else { return }
                data.assumingMemoryBound(to: Handlers.self).pointee.start(name, attributes)
            }, { data, _ in data?.assumingMemoryBound(to: Handlers.self).pointee.end() })
        guard hasTexts else { return }
        XML_SetCharacterDataHandler(parser) { data, text, length in
            data?.assumingMemoryBound(to: Handlers.self).pointee.characters(
                UnsafeRawBufferPointer(start: text, count: Int(length)))
        }
        XML_SetCdataSectionHandler(
            parser, { $0?.assumingMemoryBound(to: Handlers.self).pointee.section(true) },
            { $0?.assumingMemoryBound(to: Handlers.self).pointee.section(false) })
    }
}

enum ElementFile {
    /// Whether a file's root element is `root`.
    static func recognises(_ file: InputFile, root: String) -> Bool {
        guard let prolog = try? ExportProlog.read(PrefixedInput(FileInput(file)), root: root) else { return false }
        if case .found = prolog { return true }
        return false
    }

    /// Skips to the root element.
    ///
    /// - Returns: the line in which it begins.
    /// - Throws: ``SourceError`` if the root element is another one or missing.
    static func begin(_ input: PrefixedInput, root: String, of format: String) throws(SourceError) -> Int {
        guard case .found(let offset, let line) = try ExportProlog.read(input, root: root) else {
            throw SourceError(.malformed, "it is not \(format): there is no root element \(root) in UTF-8")
        }
        input.skip(offset)
        return line
    }
}
