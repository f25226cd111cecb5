import CExpat
import Glibc
import Pipeline

/// Turns the elements of a GPX file into rows (``GPXRow``). The parser's events drive it in document order.
///
/// Source of the elements: GPX 1.1 (https://www.topografix.com/GPX/1/1/).
struct GPXElements: ElementRows {
    static let maximumDepth = 64
    /// The maximum length of a text. A time has about thirty bytes.
    static let maximumText = 1024

    var rows = ExportRows()
    /// The reason why the elements cannot be read further, if any.
    private(set) var problem: String?

    private var depth = 0
    /// The depths of the open elements, or 0 if they are not open.
    private var trackDepth = 0
    private var pointDepth = 0
    private var otherDepth = 0
    private var textDepth = 0
    private var segmentDepth = 0
    private var isInCharacterData = false
    /// The use of the current text.
    private var holder = Holder.name
    private var text: [UInt8] = []
    private var trackName: [UInt8] = []
    private var pointLine = 0
    private var names = ElementNames()
    /// The current element of a track if it is not stored. It is counted if it has no child elements.
    private var unknown: (name: [UInt8], depth: Int)?
    private var skipped = SkippedElements()

    private enum Holder {
        case name, type
        case column(Int)
    }

    func deallocate() { rows.deallocate() }

    mutating func start(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int
    ) {
        guard problem == nil else { return }
        depth += 1
        let element = ElementText.local(name)
        guard textDepth == 0, otherDepth == 0 else { return note(name, attributes) }
        if pointDepth > 0 {
            let column = GPXRow.column(ofElement: element)
            // Known names do not have to be counted, unless they have a prefix.
            let isPlain = element.baseAddress == UnsafeRawPointer(name) && attributes[0] == nil
            if column == nil || !isPlain || depth > Self.maximumDepth { note(name, attributes) }
            unknown = nil
            if let column, rows.isEmpty(column) { beginText(.column(column)) }
            if column == nil { noteUnknown(element) }
            return
        }
        note(name, attributes)
        if trackDepth > 0 {
            if element.isText("trkpt") {
                pointDepth = depth
                pointLine = line()
                rows.begin(element, columns: GPXRow.count)
                if let text = ElementText.attribute("lat", attributes) { rows.set(GPXRow.latitude, text) }
                if let text = ElementText.attribute("lon", attributes) { rows.set(GPXRow.longitude, text) }
            } else if depth == trackDepth + 1, element.isText("name") {
                beginText(.name)
            } else if depth == trackDepth + 1, element.isText("type") {
                beginText(.type)
            } else if depth == trackDepth + 1, element.isText("trkseg") {
                segmentDepth = depth
            } else {
                noteUnknown(element)
            }
        } else if depth == 1 {
            rows.begin(element, columns: 2)
            if let text = ElementText.attribute("creator", attributes), text.count <= Self.maximumText { rows.set(1, text) }
            rows.end(Place(.line, line()))
        } else if depth == 2 {
            if element.isText("trk") {
                trackDepth = depth
            } else {
                otherDepth = depth
                guard element.isText("wpt") || element.isText("rte") else { return }
                rows.begin(element, columns: 1)
                rows.end(Place(.line, line()))
            }
        }
    }

    mutating func end(line: () -> Int) {
        guard problem == nil else { return }
        if let unknown, unknown.depth == depth {
            skipped.count(unknown.name)
            self.unknown = nil
        }
        if depth == textDepth {
            endText(line: line)
        } else if depth == pointDepth {
            rows.end(Place(.line, pointLine))
            pointDepth = 0
        } else if depth == segmentDepth {
            segmentDepth = 0
        } else if depth == trackDepth {
            let name: StaticString = "trk"
            rows.begin(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), columns: 2)
            trackName.withUnsafeBytes { rows.set(1, $0) }
            rows.end(Place(.line, line()))
            skipped.put(into: &rows, GPXRow.skip, at: Place(.line, line()))
            trackName.removeAll()
            trackDepth = 0
        } else if depth == otherDepth {
            otherDepth = 0
        }
        depth -= 1
    }

    /// Whether only a location of a track, or something between two, may come next.
    var isBetweenLocations: Bool {
        segmentDepth > 0 && depth == segmentDepth && pointDepth == 0 && textDepth == 0 && !isInCharacterData && problem == nil
    }

    mutating func characterData(isOpen: Bool) { isInCharacterData = isOpen }

    /// A text can arrive in several pieces.
    mutating func characters(_ piece: UnsafeRawBufferPointer) {
        guard textDepth > 0, depth == textDepth, problem == nil else { return }
        guard text.count + piece.count <= Self.maximumText else {
            problem = "a text is longer than \(Self.maximumText) bytes"
            return
        }
        text.append(contentsOf: piece)
    }

    private mutating func beginText(_ holder: Holder) {
        (textDepth, self.holder) = (depth, holder)
        text.removeAll(keepingCapacity: true)
    }

    private mutating func noteUnknown(_ element: UnsafeRawBufferPointer) {
        if !element.isText("extensions") { unknown = (Array(element), depth) }
    }

    private mutating func endText(line: () -> Int) {
        textDepth = 0
        let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
        let end = text.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
        let start = text.prefix(end).firstIndex { !isBlank($0) } ?? end
        switch holder {
        case .name: trackName = Array(text[start..<end])
        case .type: rows.append(GPXRow.type, [Array(text[start..<end])], at: Place(.line, line()))
        case .column(let column):
            text.withUnsafeBytes { rows.set(column, UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
    }

    private mutating func note(
        _ element: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) {
        guard depth <= Self.maximumDepth else {
            problem = "elements nest more than \(Self.maximumDepth) deep"
            return
        }
        problem = names.note(ElementText.bytes(element))
        var index = 0
        while let name = attributes[index] {
            if strcmp(name, "lat") != 0, strcmp(name, "lon") != 0 { problem = names.note(ElementText.bytes(name)) }
            index += 2
        }
    }
}
