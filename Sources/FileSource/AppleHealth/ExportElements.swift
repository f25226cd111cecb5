import CExpat
import Glibc
import Pipeline

/// Turns the elements of an export into rows. The parser's events drive it in document order.
///
///     HealthData
///       ExportDate                                a row of the whole element (``ExportTree``)
///       Me                                        a row for each attribute
///       Record                                    a row that includes:
///         MetadataEntry
///         HeartRateVariabilityMetadataList
///           InstantaneousBeatsPerMinute           counted in the row, and a row of all of them after it
///       Correlation                               a row after those of its records that includes:
///         MetadataEntry
///         Record                                  a row, the same record as one outside
///       Workout                                   a row of the whole element
///         WorkoutRoute                            a row after the workout's
///           Location                              a row before the workout's, because there may be too many to keep
///       ActivitySummary, Audiogram, VisionPrescription   a row of the whole element
///       ClinicalRecord                            a row of its attributes
///       …                                         a row of the name, for the element and its contents
struct ExportElements: ElementRows {
    /// The maximum depth. An export has three levels.
    static let maximumDepth = 64
    /// The maximum numbers of routes in a workout and of beats in a record.
    static let maximumRoutes = 1000
    static let maximumBeats = 100_000

    var rows = ExportRows()
    /// The row of an element that is read as a whole, or of a record's beats, until it is complete. Other rows may be added before that.
    private var tree = ExportRows()
    /// The number of Record elements so far.
    private(set) var recordCount = 0
    /// The reason why the elements cannot be read further, if any.
    private(set) var problem: String?

    private var depth = 0
    /// The depths of the open elements, or 0 if they are not open.
    private var recordDepth = 0
    private var recordNumber = 0
    private var recordHasUnknownChild = false
    /// The name of the first unknown element in a Record or in an element that is read as a whole.
    private var otherName: [UInt8] = []
    private var correlationDepth = 0
    /// The contents of a correlation until its records are complete: texts by column, and keys with values.
    private var correlation: (line: Int, columns: [(Int, [UInt8])], metadata: [(key: [UInt8], text: [UInt8])]) = (0, [], [])
    private var treeDepth = 0
    private var treeLine = 0
    private var hasUnknownDescendant = false
    /// The depth of an open route in a workout, or 0.
    private var routeDepth = 0
    /// The paths of the workout's routes. A route without one has an empty path.
    private var routePaths: [[UInt8]] = []
    private var routeCount = 0
    /// The starts of the open workout and of the open route.
    private var workoutStart: [UInt8] = []
    private var routeStart: [UInt8] = []
    private var routeHasLocations = false
    private var beatCount = 0
    private var isInLocation = false
    private var names = ElementNames()

    func deallocate() {
        rows.deallocate()
        tree.deallocate()
    }

    /// - Parameter line: the line of the element. It is only called if a row needs it.
    @inline(__always)
    mutating func start(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int
    ) {
        guard problem == nil else { return }
        depth += 1
        let element = ElementText.bytes(name)
        if recordDepth > 0 {
            startInRecord(element, attributes)
        } else if treeDepth > 0 {
            startInTree(element, attributes, line: line)
        } else if Self.equal(element, "Record") {
            recordCount += 1
            recordDepth = depth
            recordNumber = recordCount
            startRecord(element, attributes)
        } else if depth > 1 {
            startOther(element, attributes, line: line)
        }
    }

    static var hasTexts: Bool { false }

    @inline(__always) mutating func end(line: () -> Int) {
        guard problem == nil else { return }
        if depth == recordDepth {
            rows.end(Place(.record, recordNumber))
            recordDepth = 0
            if recordHasUnknownChild { endOther() }
            if beatCount > 0 { endBeats() }
        } else if treeDepth > 0 {
            endInTree()
        } else if depth == correlationDepth {
            endCorrelation()
        }
        depth -= 1
    }

    @inline(__always) private mutating func startRecord(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) {
        rows.begin(element, columns: ExportColumn.metadata)
        if correlationDepth > 0 { rows.set(ExportColumn.inCorrelation, "1") }
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            if let column = Self.column(name) {
                rows.set(column, ElementText.bytes(value))
            } else {
                note(name: ElementText.bytes(name))
            }
            index += 2
        }
    }

    private mutating func startInRecord(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) {
        if Self.equal(element, "MetadataEntry") {
            let (key, text) = entry(attributes)
            rows.addMetadata(key: key, value: text)
        } else {
            note(element, attributes)
            if Self.equal(element, "InstantaneousBeatsPerMinute") {
                rows.addBeat()
                addBeat(attributes)
            } else if depth == recordDepth + 1, !Self.equal(element, "HeartRateVariabilityMetadataList") {
                if Self.equal(element, "Record") { recordCount += 1 }
                if !recordHasUnknownChild { otherName = Array(element) }
                recordHasUnknownChild = true
            }
        }
    }

    /// Returns the key and value of a MetadataEntry.
    private mutating func entry(
        _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) -> (key: UnsafeRawBufferPointer, text: UnsafeRawBufferPointer) {
        var key = UnsafeRawBufferPointer(start: nil, count: 0)
        var text = key
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            let name = ElementText.bytes(name)
            if Self.equal(name, "key") {
                key = ElementText.bytes(value)
            } else if Self.equal(name, "value") {
                text = ElementText.bytes(value)
            } else {
                note(name: name)
            }
            index += 2
        }
        return (key, text)
    }

    /// Adds one row for all unknown elements in a Record, after the record.
    private mutating func endOther() {
        recordHasUnknownChild = false
        addOther(Place(.record, recordNumber))
    }

    private mutating func startOther(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int
    ) {
        note(element, attributes)
        if correlationDepth > 0, Self.equal(element, "MetadataEntry") {
            let (key, text) = entry(attributes)
            // One entry beyond the limit marks the row as excessive.
            if correlation.metadata.count <= ExportRows.maximumMetadata { correlation.metadata.append((Array(key), Array(text))) }
        }
        guard depth == 2 else { return }
        if Self.equal(element, "Correlation") {
            correlationDepth = depth
            correlation = (line(), [], [])
            var index = 0
            while let name = attributes[index], let value = attributes[index + 1] {
                if let column = Self.column(name) { correlation.columns.append((column, Array(ElementText.bytes(value)))) }
                index += 2
            }
            return
        }
        if Self.equal(element, "Me") {
            startMe(attributes, Place(.line, line()))
        } else if Self.equal(element, "ClinicalRecord") {
            rows.begin(element, columns: 1 + ExportRow.clinicalColumns.count)
            for (column, name) in ExportRow.clinicalColumns.enumerated() {
                if let text = ElementText.attribute(name, attributes) { rows.set(1 + column, text) }
            }
            rows.end(Place(.line, line()))
        } else if Self.isTree(element) {
            tree.begin(element, columns: 1)
            (treeDepth, treeLine) = (depth, line())
            if Self.equal(element, "Workout") {
                workoutStart = ElementText.attribute("startDate", attributes).map { Array($0) } ?? []
            }
            addAttributes(attributes)
        } else {
            rows.begin(element, columns: 1)
            rows.end(Place(.line, line()))
        }
    }

    /// Adds a row for each attribute of `Me`, so that an invalid one does not affect the others.
    private mutating func startMe(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, _ place: Place) {
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            rows.begin(Self.bytes(ExportRow.me), columns: 3)
            rows.set(1, ElementText.bytes(name))
            rows.set(2, ElementText.bytes(value))
            rows.end(place)
            index += 2
        }
    }

    // MARK: Elements that are read whole

    private static func isTree(_ element: UnsafeRawBufferPointer) -> Bool {
        equal(element, "Workout") || equal(element, "ActivitySummary") || equal(element, "ExportDate")
            || equal(element, "Audiogram") || equal(element, "VisionPrescription")
    }

    private mutating func startInTree(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int
    ) {
        note(element, attributes)
        if routeDepth > 0, Self.equal(element, "Location") {
            addLocation(attributes, line: line())
            return
        }
        if depth == treeDepth + 1, Self.equal(element, "WorkoutRoute") {
            routeDepth = depth
            routeCount += 1
            if routeCount > Self.maximumRoutes { tree.markFull() } else { routePaths.append([]) }
            routeStart = ElementText.attribute("startDate", attributes).map { Array($0) } ?? []
        } else if routeDepth > 0, Self.equal(element, "FileReference"), routeCount <= Self.maximumRoutes,
            let path = ElementText.attribute("path", attributes), path.count <= ExportFiles.maximumPath
        {
            routePaths[routeCount - 1] = Array(path)
        }
        if depth == treeDepth + 1, !Self.isPart(element) {
            if !hasUnknownDescendant { otherName = Array(element) }
            hasUnknownDescendant = true
        }
        tree.add(ExportTree.open)
        tree.add(element)
        addAttributes(attributes)
    }

    private mutating func endInTree() {
        guard depth == treeDepth else {
            endPart()
            return
        }
        rows.end(&tree, Place(.line, treeLine))
        treeDepth = 0
        for index in 0..<routeCount { addRoute(index) }
        if hasUnknownDescendant { addOther(Place(.line, treeLine)) }
        (routeCount, hasUnknownDescendant) = (0, false)
        routePaths.removeAll()
    }

    private mutating func endPart() {
        if depth == routeDepth {
            if routeHasLocations {
                tree.add(ExportTree.hasLocations)
                tree.add("1")
            }
            (routeDepth, routeHasLocations) = (0, false)
        }
        // A location is not part of the tree and has no known children.
        if !isInLocation { tree.add(ExportTree.close) }
        isInLocation = false
    }

    /// Adds the row of a route, after the workout's.
    private mutating func addRoute(_ index: Int) {
        rows.begin(Self.bytes(ExportRow.route), columns: 3)
        var number = String(index)
        number.withUTF8 { rows.set(1, UnsafeRawBufferPointer($0)) }
        if index < routePaths.count { routePaths[index].withUnsafeBytes { rows.set(2, $0) } }
        rows.end(Place(.line, treeLine))
    }

    private mutating func addLocation(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: Int) {
        isInLocation = true
        if !routeHasLocations {
            routeHasLocations = true
            rows.begin(Self.bytes(ExportRow.routeBegin), columns: 2)
            (routeStart.isEmpty ? workoutStart : routeStart).withUnsafeBytes { rows.set(1, $0) }
            rows.end(Place(.line, treeLine))
        }
        rows.begin(Self.bytes(ExportRow.location), columns: GPXRow.count)
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            if let column = GPXRow.column(ofAttribute: ElementText.bytes(name)) { rows.set(column, ElementText.bytes(value)) }
            index += 2
        }
        rows.end(Place(.line, line))
    }

    // MARK: Beats

    private mutating func addBeat(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>) {
        if beatCount == 0 { tree.begin(Self.bytes(ExportRow.beats), columns: ExportRow.beatColumns) }
        beatCount += 1
        guard beatCount <= Self.maximumBeats else {
            tree.markFull()
            return
        }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        tree.add(ElementText.attribute("bpm", attributes) ?? none)
        tree.add(ElementText.attribute("time", attributes) ?? none)
    }

    private mutating func endBeats() {
        beatCount = 0
        for column in ExportColumn.type...ExportColumn.endDate { tree.set(column, rows.lastCell(column)) }
        rows.end(&tree, Place(.record, recordNumber))
    }

    /// Whether an element is known as a part of one that is read as a whole.
    private static func isPart(_ element: UnsafeRawBufferPointer) -> Bool {
        equal(element, "MetadataEntry") || equal(element, "WorkoutEvent") || equal(element, "WorkoutStatistics")
            || equal(element, "WorkoutActivity") || equal(element, "Record") || equal(element, "WorkoutRoute")
            || equal(element, "SensitivityPoint") || equal(element, "RightEye") || equal(element, "LeftEye")
            || equal(element, "Attachment")
    }

    private mutating func addOther(_ place: Place) {
        rows.begin(Self.bytes(ExportRow.other), columns: 2)
        otherName.withUnsafeBytes { rows.set(1, $0) }
        rows.end(place)
    }

    private mutating func addAttributes(_ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>) {
        var index = 0
        while let name = attributes[index], let value = attributes[index + 1] {
            tree.add(ElementText.bytes(name))
            tree.add(ElementText.bytes(value))
            index += 2
        }
    }

    // MARK: Correlations

    /// Adds the row of a correlation after its records, so that a reader knows them.
    private mutating func endCorrelation() {
        rows.begin(Self.bytes("Correlation" as StaticString), columns: ExportColumn.metadata)
        for (column, text) in correlation.columns { text.withUnsafeBytes { rows.set(column, $0) } }
        for (key, text) in correlation.metadata {
            key.withUnsafeBytes { key in text.withUnsafeBytes { rows.addMetadata(key: key, value: $0) } }
        }
        rows.end(Place(.line, correlation.line))
        correlationDepth = 0
    }

    private mutating func note(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) {
        guard depth <= Self.maximumDepth else {
            problem = "elements nest more than \(Self.maximumDepth) deep"
            return
        }
        if let many = names.note(element, attributes) { problem = many }
    }

    private mutating func note(name: UnsafeRawBufferPointer) {
        if let many = names.note(name) { problem = many }
    }

    /// Returns the column of an attribute of Record. Names with the same first letter differ in length.
    @inline(__always) private static func column(_ name: UnsafePointer<XML_Char>) -> Int? {
        switch UInt8(bitPattern: name[0]) {
        case UInt8(ascii: "t"): strcmp(name, "type") == 0 ? ExportColumn.type : nil
        case UInt8(ascii: "u"): strcmp(name, "unit") == 0 ? ExportColumn.unit : nil
        case UInt8(ascii: "v"): strcmp(name, "value") == 0 ? ExportColumn.value : nil
        case UInt8(ascii: "s"):
            if strcmp(name, "sourceName") == 0 {
                ExportColumn.sourceName
            } else if strcmp(name, "startDate") == 0 {
                ExportColumn.startDate
            } else {
                strcmp(name, "sourceVersion") == 0 ? ExportColumn.sourceVersion : nil
            }
        case UInt8(ascii: "d"): strcmp(name, "device") == 0 ? ExportColumn.device : nil
        case UInt8(ascii: "c"): strcmp(name, "creationDate") == 0 ? ExportColumn.creationDate : nil
        case UInt8(ascii: "e"): strcmp(name, "endDate") == 0 ? ExportColumn.endDate : nil
        default: nil
        }
    }

    private static func bytes(_ text: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    @inline(__always) private static func equal(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount, let start = bytes.baseAddress else { return false }
        return memcmp(start, text.utf8Start, bytes.count) == 0
    }
}
