import CLibXML2

/// Reads a document once with libxml2, to validate it against a schema or to read its header. It never builds a tree in memory.
struct DocumentReader {
    /// The result of reading.
    struct Reading {
        var header = DocumentHeader()
        /// The root's namespace and name.
        var root = ""
    }

    /// The reason why a document is rejected or invalid. It names elements and never their contents.
    struct Problem: Error, Hashable {
        var line: Int
        var reason: String
    }

    /// `{urn:hl7-org:v3}ClinicalDocument`.
    static let root = "{\(namespace)}ClinicalDocument"
    static let namespace = "urn:hl7-org:v3"

    /// Parses the bytes and reads the header.
    ///
    /// - Throws: ``Problem`` if the document is not XML or exceeds a limit.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> Reading {
        if let rejectionReason = DocumentProlog.rejectionReason(bytes) { throw Problem(line: 1, reason: rejectionReason) }
        if let rejection = DocumentOutline.rejection(bytes) { throw Problem(line: rejection.line, reason: rejection.reason) }
        let reader = try parser(bytes)
        defer { xmlFreeTextReader(reader) }
        let problem = ProblemBox()
        vitalgate_xml_listen(reader, problem.first)
        var reading = Reading()
        var status = xmlTextReaderRead(reader)
        while status == 1 {
            if let refusal = try node(reader, &reading) { throw refusal }
            status = xmlTextReaderRead(reader)
        }
        // libxml2 continues after an undeclared namespace prefix, but the document cannot be validated.
        guard status == 0, problem.first.pointee.code == 0 else {
            throw Problem(line: problem.line(reader), reason: "it is not well-formed: " + form(problem.first.pointee))
        }
        return reading
    }

    /// Validates a document that ``read(_:)`` has accepted.
    ///
    /// Only the schema's context gets an error handler. With both, libxml2 passes the parser's messages to the wrong one. The parser has
    /// no messages anyway, because it has parsed the same bytes before.
    ///
    /// - Returns: the first problem, or `nil` if the document is valid.
    static func validate(_ bytes: UnsafeRawBufferPointer, _ schema: OpaquePointer) throws(Problem) -> Problem? {
        let reader = try parser(bytes)
        defer { xmlFreeTextReader(reader) }
        guard let context = xmlSchemaNewValidCtxt(schema) else { throw Problem(line: 1, reason: "out of memory") }
        defer { xmlSchemaFreeValidCtxt(context) }
        let problem = ProblemBox()
        vitalgate_xml_listen_validity(context, problem.first)
        guard xmlTextReaderSchemaValidateCtxt(reader, context, 0) == 0 else {
            throw Problem(line: 1, reason: "it can't be validated")
        }
        // Detaches the context from the reader before it is freed.
        defer { xmlTextReaderSchemaValidateCtxt(reader, nil, 0) }
        var status = xmlTextReaderRead(reader)
        while status == 1 { status = xmlTextReaderRead(reader) }
        guard status == 0 else { throw Problem(line: problem.line(reader), reason: "it is not well-formed") }
        guard xmlTextReaderIsValid(reader) != 1 || problem.first.pointee.code != 0 else { return nil }
        return Problem(line: problem.line(reader), reason: validity(problem.first.pointee))
    }

    /// Creates a parser without network, DTD and entities, which writes nothing to standard error. Without XML_PARSE_HUGE, nesting and
    /// texts are limited.
    static func parser(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> xmlTextReaderPtr {
        let options = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            let reader = xmlReaderForMemory(start, Int32(clamping: bytes.count), nil, nil, options)
        else { throw Problem(line: 1, reason: "it is empty") }
        return reader
    }

    /// Stores libxml2's first error.
    private final class ProblemBox {
        let first = UnsafeMutablePointer<vitalgate_xml_problem>.allocate(capacity: 1)

        init() { first.initialize(to: vitalgate_xml_problem()) }

        deinit { first.deallocate() }

        func line(_ reader: xmlTextReaderPtr) -> Int {
            max(first.pointee.line > 0 ? Int(first.pointee.line) : Int(xmlTextReaderGetParserLineNumber(reader)), 1)
        }
    }

    private static func node(_ reader: xmlTextReaderPtr, _ reading: inout Reading) throws(Problem) -> Problem? {
        let depth = Int(xmlTextReaderDepth(reader))
        switch xmlTextReaderNodeType(reader) {
        case Int32(XML_READER_TYPE_ELEMENT.rawValue):
            let name = string(xmlTextReaderConstLocalName(reader))
            let space = string(xmlTextReaderConstNamespaceUri(reader))
            if depth == 0 { reading.root = "{\(space)}\(name)" }
            reading.header.start(space == namespace ? name : "{\(space)}\(name)", depth: depth) { attribute in
                guard let value = xmlTextReaderGetAttribute(reader, attribute) else { return nil }
                defer { vitalgate_xml_free(value) }
                return String(cString: value)
            }
            if xmlTextReaderIsEmptyElement(reader) == 1 { reading.header.end(depth: depth) }
        case Int32(XML_READER_TYPE_END_ELEMENT.rawValue): reading.header.end(depth: depth)
        case Int32(XML_READER_TYPE_TEXT.rawValue), Int32(XML_READER_TYPE_CDATA.rawValue):
            // Only texts of the header. Texts of sections are not read.
            guard depth <= 8 else { return nil }
            reading.header.text(string(xmlTextReaderConstValue(reader)), depth: depth)
        case Int32(XML_READER_TYPE_DOCUMENT_TYPE.rawValue), Int32(XML_READER_TYPE_ENTITY_REFERENCE.rawValue):
            return Problem(line: Int(xmlTextReaderGetParserLineNumber(reader)), reason: "it has entities, which are never read")
        default: break
        }
        return nil
    }

    static func string(_ text: UnsafePointer<xmlChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    /// The parser's message up to the first name or value.
    private static func form(_ problem: vitalgate_xml_problem) -> String {
        guard problem.code != 0 else { return "it ends in the middle" }
        let text = message(problem)
        // A quoted name may be private text in the wrong place.
        return String(text.prefix { $0 != ":" && $0 != "'" && $0 != "\"" && $0 != "`" }.prefix(120)).trimmingBlanks
    }

    /// The schema's message. It names elements, but it contains no values.
    private static func validity(_ problem: vitalgate_xml_problem) -> String {
        let text = message(problem).replacing("{\(namespace)}", with: "").replacing("{urn:hl7-org:sdtc}", with: "sdtc:")
        guard let colon = text.firstRange(of: ": ") else { return "it violates the schema" }
        let place = text[..<colon.lowerBound]
        let isOfElements = [
            XML_SCHEMAV_ELEMENT_CONTENT, XML_SCHEMAV_CVC_ELT_1, XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_1,
            XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_2, XML_SCHEMAV_CVC_COMPLEX_TYPE_4, XML_SCHEMAV_CVC_COMPLEX_TYPE_2_3,
        ].contains {
            Int32($0.rawValue) == problem.code
        }
        let reason =
            isOfElements
            ? String(text[colon.upperBound...].prefix(240)) : "The value does not have the type that the schema requires."
        return "\(place): \(reason)".trimmingBlanks
    }

    private static func message(_ problem: vitalgate_xml_problem) -> String {
        withUnsafeBytes(of: problem.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = Substring(self)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
