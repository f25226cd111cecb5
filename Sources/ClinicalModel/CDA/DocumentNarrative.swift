import CLibXML2

/// The text of a clinical document that a person reads: the narrative blocks of its sections (CDA R2, 4.3.4).
///
///     DocumentNarrative(octets).sections.first?.title  // "Allergies"
package struct DocumentNarrative: Sendable {
    package struct Section: Hashable, Sendable {
        /// The title, or empty if it has none.
        package var title: String
        /// The lines: paragraphs, list items, and rows of tables with ` · ` between cells.
        package var lines: [String]
    }

    /// The sections in the order of the document, the inner ones after their outer one.
    package private(set) var sections: [Section] = []
    /// Whether the text is longer than the limit, so that the rest is missing.
    package private(set) var isCut = false

    private static let (maximumCharacters, maximumSections) = (500_000, 1000)
    /// Elements that end a line.
    private static let blocks: Set<String> = ["paragraph", "item", "tr", "br", "caption", "list", "table", "text", "footnote"]
    private static let cells: Set<String> = ["td", "th"]

    /// Reads a document. Bytes that are not XML have no sections.
    package init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            guard DocumentProlog.rejectionReason(bytes) == nil, let reader = try? DocumentReader.parser(bytes) else { return }
            defer { xmlFreeTextReader(reader) }
            read(reader)
        }
    }

    /// Collects the text of the current line.
    private struct Line {
        var text = ""
        var endsCell = false

        mutating func add(_ words: String) {
            let words = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard !words.isEmpty else { return }
            if !text.isEmpty { text += endsCell ? " · " : " " }
            (text, endsCell) = (text + words, false)
        }
    }

    private mutating func read(_ reader: xmlTextReaderPtr) {
        var (path, line, count) = ([String](), Line(), 0)
        // The depth of the narrative block, or -1 outside of one.
        var block = -1
        while xmlTextReaderRead(reader) == 1 {
            let depth = Int(xmlTextReaderDepth(reader))
            let name = DocumentReader.string(xmlTextReaderConstLocalName(reader))
            switch xmlTextReaderNodeType(reader) {
            case Int32(XML_READER_TYPE_ELEMENT.rawValue):
                path.removeSubrange(min(depth, path.count)...)
                path.append(name)
                if name == "section" {
                    guard sections.count < Self.maximumSections else {
                        isCut = true
                        return
                    }
                    sections.append(Section(title: "", lines: []))
                }
                if name == "text", block < 0, path.dropLast().last == "section" { block = depth }
                if block >= 0, Self.blocks.contains(name) { end(&line) }
                if xmlTextReaderIsEmptyElement(reader) == 1, block == depth { block = -1 }
            case Int32(XML_READER_TYPE_END_ELEMENT.rawValue):
                guard block >= 0 else { break }
                if Self.cells.contains(name) { line.endsCell = true }
                if Self.blocks.contains(name) { end(&line) }
                if depth == block { block = -1 }
            case Int32(XML_READER_TYPE_TEXT.rawValue), Int32(XML_READER_TYPE_CDATA.rawValue):
                let text = DocumentReader.string(xmlTextReaderConstValue(reader))
                if block >= 0 {
                    count += text.utf8.count
                    guard count <= Self.maximumCharacters else {
                        end(&line)
                        isCut = true
                        return
                    }
                    line.add(text)
                } else if path.count == depth, path.suffix(2) == ["section", "title"], !sections.isEmpty {
                    sections[sections.count - 1].title += text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                }
            default: break
            }
        }
    }

    private mutating func end(_ line: inout Line) {
        if !line.text.isEmpty, !sections.isEmpty { sections[sections.count - 1].lines.append(line.text) }
        line = Line()
    }
}
