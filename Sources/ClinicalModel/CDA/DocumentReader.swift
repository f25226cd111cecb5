import CLibXML2

/// Reads a document once from its first octet to its last, by libxml2: whether it is as a schema demands, and what its header says. The
/// document is never in memory as a tree.
struct DocumentReader {
    /// What was read.
    struct Reading {
        var header = DocumentHeader()
        /// The root's namespace and name.
        var root = ""
        /// Where and why it is not as the schema demands.
        var problem: Problem?
    }

    /// Why a document is not taken, or not valid: names of elements, and no word of what they hold.
    struct Problem: Error, Hashable {
        var line: Int
        var reason: String
    }

    /// `{urn:hl7-org:v3}ClinicalDocument`.
    static let root = "{\(namespace)}ClinicalDocument"
    static let namespace = "urn:hl7-org:v3"

    /// Parses octets.
    ///
    /// - Parameter schema: what the document has to be; without one only its form is looked at.
    /// - Throws: ``Problem`` where it is no XML, or is more than is read.
    static func read(_ octets: UnsafeRawBufferPointer, schema: OpaquePointer?) throws(Problem) -> Reading {
        if let obstacle = DocumentProlog.obstacle(octets) { throw Problem(line: 1, reason: obstacle) }
        // No network, no DTD, no entities; errors go to where we listen. Without XML_PARSE_HUGE nesting and texts have bounds.
        let options = Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue)
        guard let start = octets.baseAddress?.assumingMemoryBound(to: CChar.self),
            let reader = xmlReaderForMemory(start, Int32(clamping: octets.count), nil, nil, options)
        else { throw Problem(line: 1, reason: "it is empty") }
        defer { xmlFreeTextReader(reader) }
        let problem = UnsafeMutablePointer<vitalgate_xml_problem>.allocate(capacity: 1)
        problem.initialize(to: vitalgate_xml_problem())
        defer { problem.deallocate() }
        if let schema { xmlTextReaderSetSchema(reader, schema) }
        vitalgate_xml_listen(reader, problem)
        var reading = Reading()
        var status = xmlTextReaderRead(reader)
        while status == 1 {
            if let refusal = try node(reader, &reading) { throw refusal }
            status = xmlTextReaderRead(reader)
        }
        let line = problem.pointee.line > 0 ? Int(problem.pointee.line) : Int(xmlTextReaderGetParserLineNumber(reader))
        guard status == 0 else { throw Problem(line: max(line, 1), reason: "it is not well-formed: " + form(problem.pointee)) }
        // What the schema does not allow, it says of the reading's first fault.
        if schema != nil, xmlTextReaderIsValid(reader) != 1 || problem.pointee.code != 0 {
            reading.problem = Problem(line: max(line, 1), reason: validity(problem.pointee))
        }
        return reading
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
            // The header's words alone; what is said in sections is the document's own.
            guard depth <= 8 else { return nil }
            reading.header.text(string(xmlTextReaderConstValue(reader)), depth: depth)
        case Int32(XML_READER_TYPE_DOCUMENT_TYPE.rawValue), Int32(XML_READER_TYPE_ENTITY_REFERENCE.rawValue):
            return Problem(line: Int(xmlTextReaderGetParserLineNumber(reader)), reason: "it has entities, which are never read")
        default: break
        }
        return nil
    }

    private static func string(_ text: UnsafePointer<xmlChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    /// What the parser says; of where it is, not of what stands there.
    private static func form(_ problem: vitalgate_xml_problem) -> String {
        guard problem.code != 0 else { return "it ends in the middle" }
        let text = message(problem)
        // A name in quotes may be what a person wrote into the wrong place.
        return String(text.prefix { $0 != ":" && $0 != "'" && $0 != "\"" && $0 != "`" }.prefix(120)).trimmingBlanks
    }

    /// What the schema says: elements by their names; of values only that they are of another form.
    private static func validity(_ problem: vitalgate_xml_problem) -> String {
        let text = message(problem).replacing("{\(namespace)}", with: "").replacing("{urn:hl7-org:sdtc}", with: "sdtc:")
        guard let colon = text.firstRange(of: ": ") else { return "it is not as the schema demands" }
        let place = text[..<colon.lowerBound]
        let isOfElements = [
            XML_SCHEMAV_ELEMENT_CONTENT, XML_SCHEMAV_CVC_ELT_1, XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_1,
            XML_SCHEMAV_CVC_COMPLEX_TYPE_3_2_2, XML_SCHEMAV_CVC_COMPLEX_TYPE_4, XML_SCHEMAV_CVC_COMPLEX_TYPE_2_3,
        ].contains {
            Int32($0.rawValue) == problem.code
        }
        let reason =
            isOfElements ? String(text[colon.upperBound...].prefix(240)) : "The value is not of the type that the schema demands."
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
