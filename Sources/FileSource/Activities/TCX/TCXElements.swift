import CExpat
import Glibc
import Pipeline

/// Turns the elements of a TCX file into rows (``ActivityRow``). The parser's events drive it in document order.
///
/// Source of the elements: Garmin's TrainingCenterDatabasev2.xsd, and ActivityExtensionv2.xsd for `TPX`. Courses and planned workouts use
/// the same format and are skipped, because they are only planned.
struct TCXElements: ElementRows {
    static let maximumDepth = 64
    /// The maximum length of a text that is read.
    static let maximumText = 1024
    /// The maximum number of activities in one file. The source of each is kept in memory.
    static let maximumActivities = 100_000

    /// The kind of an open element.
    enum Element {
        case other, database, activities, session, part, activity, lap, track, point, position, heartRate, extensions, pointValues
        case averageHeartRate, maximumHeartRate, creator, creatorVersion, author, build, authorVersion
        /// An element of a lap or a point that is not stored. It is counted if it has no child elements.
        case unknown(name: [UInt8])
        case text(Holder, Int)
    }

    /// The kind of row that a text belongs to.
    enum Holder { case activity, lap, point, creator, author }

    /// The columns of ``creator`` rows: name, serial number, product, version.
    static let creator: StaticString = "creator"
    /// The columns of ``author`` rows: name, version.
    static let author: StaticString = "author"

    var rows = ExportRows()
    /// The reason why the elements cannot be read further, if any.
    private(set) var problem: String?

    private var open: [Element] = []
    private var texts: [UInt8] = []
    private var cells: [Holder: [[UInt8]]] = [:]
    private var isActivityBegun = false
    private var lines: (point: Int, lap: Int, activity: Int) = (0, 0, 0)
    private var counts = SkippedElements()
    /// Whether the element that ended last is a child of an open one.
    private var isParent = false
    private var names = ElementNames()
    private var count = 0
    /// The name under which the element that begins is counted.
    private var skipped: String?

    func deallocate() { rows.deallocate() }

    mutating func start(
        _ name: UnsafePointer<XML_Char>, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>, line: () -> Int
    ) {
        guard problem == nil else { return }
        guard open.count < Self.maximumDepth else {
            problem = "elements nest more than \(Self.maximumDepth) deep"
            return
        }
        let element = element(ElementText.local(name))
        open.append(element)
        isParent = false
        if let many = names.note(ElementText.bytes(name), attributes) { problem = many }
        if let skipped {
            rows.append(ActivityRow.skip, [Array(skipped.utf8), [UInt8(ascii: "1")]], at: Place(.line, line()))
            self.skipped = nil
        }
        switch element {
        case .text: texts.removeAll(keepingCapacity: true)
        case .activity:
            count += 1
            if count > Self.maximumActivities { problem = "more than \(Self.maximumActivities) activities in one file" }
            cells[.activity] = Array(repeating: [], count: ActivityRow.Activity.count - 1)
            cells[.creator] = Array(repeating: [], count: 5)
            set(.activity, ActivityRow.Activity.sport, ElementText.attribute("Sport", attributes))
            (lines.activity, isActivityBegun) = (line(), false)
        case .lap:
            cells[.lap] = Array(repeating: [], count: ActivityRow.Figures.count - 1)
            set(.lap, ActivityRow.Figures.start, ElementText.attribute("StartTime", attributes))
            lines.lap = line()
            if !isActivityBegun { set(.activity, ActivityRow.Activity.start, ElementText.attribute("StartTime", attributes)) }
            begin()
        case .point:
            cells[.point] = Array(repeating: [], count: ActivityRow.Point.count - 1)
            lines.point = line()
        case .author: cells[.author] = Array(repeating: [], count: 3)
        default: break
        }
    }

    mutating func end(line: () -> Int) {
        guard problem == nil, let element = open.popLast() else { return }
        let isLeaf = !isParent
        isParent = true
        switch element {
        case .unknown(let name): if isLeaf { counts.count(name) }
        case .text(let holder, let column):
            if cells[holder]?[column - 1].isEmpty == true { cells[holder]?[column - 1] = Self.trimmed(texts) }
        case .point: rows.append(ActivityRow.point, cells[.point] ?? [], at: Place(.line, lines.point))
        case .lap: rows.append(ActivityRow.lap, cells[.lap] ?? [], at: Place(.line, lines.lap))
        case .activity:
            begin()
            rows.append(Self.creator, cells[.creator] ?? [], at: Place(.line, line()))
            let none = [[UInt8]](repeating: [], count: ActivityRow.Figures.count - 1)
            rows.append(ActivityRow.end, none, at: Place(.line, lines.activity))
            counts.put(into: &rows, ActivityRow.skip, at: Place(.line, line()))
        case .author: rows.append(Self.author, cells[.author] ?? [], at: Place(.line, line()))
        default: break
        }
    }

    /// A text can arrive in several pieces.
    mutating func characters(_ piece: UnsafeRawBufferPointer) {
        guard case .text = open.last, problem == nil else { return }
        guard texts.count + piece.count <= Self.maximumText else {
            problem = "a text is longer than \(Self.maximumText) bytes"
            return
        }
        texts.append(contentsOf: piece)
    }

    /// Appends the row of the activity before the first row that belongs to it.
    private mutating func begin() {
        guard !isActivityBegun else { return }
        isActivityBegun = true
        rows.append(ActivityRow.activity, cells[.activity] ?? [], at: Place(.line, lines.activity))
    }

    /// Returns the kind of an element, given its parent.
    private mutating func element(_ name: UnsafeRawBufferPointer) -> Element {
        guard let parent = open.last else { return .database }
        switch parent {
        case .database:
            if name.isText("Activities") { return .activities }
            if name.isText("Author") { return .author }
            if name.isText("Courses") { skipped = "plannedRoute" }
            if name.isText("Workouts") { skipped = "plannedWorkout" }
        case .activities:
            if name.isText("Activity") { return .activity }
            if name.isText("MultiSportSession") { return .session }
        case .session:
            if name.isText("FirstSport") || name.isText("NextSport") { return .part }
        case .part:
            if name.isText("Activity") { return .activity }
            if name.isText("Transition") { skipped = "transition" }
        case .activity:
            if name.isText("Lap") { return .lap }
            if name.isText("Id") { return .text(.activity, ActivityRow.Activity.start) }
            if name.isText("Creator") { return .creator }
            return .unknown(name: Array(name))
        case .lap: return Self.partOfLap(name)
        case .averageHeartRate:
            if name.isText("Value") { return .text(.lap, ActivityRow.Figures.averageHeartRate) }
        case .maximumHeartRate:
            if name.isText("Value") { return .text(.lap, ActivityRow.Figures.maximumHeartRate) }
        case .track:
            if name.isText("Trackpoint") { return .point }
            return .unknown(name: Array(name))
        case .unknown: return .unknown(name: Array(name))
        case .point, .position, .heartRate, .extensions, .pointValues: return Self.partOfPoint(name, in: parent)
        case .creator, .creatorVersion, .author, .build, .authorVersion: return Self.partOfSource(name, in: parent)
        case .other, .text: break
        }
        return .other
    }

    private static func partOfLap(_ name: UnsafeRawBufferPointer) -> Element {
        typealias Column = ActivityRow.Figures
        if name.isText("Track") { return .track }
        if name.isText("TotalTimeSeconds") { return .text(.lap, Column.timer) }
        if name.isText("DistanceMeters") { return .text(.lap, Column.distance) }
        if name.isText("Calories") { return .text(.lap, Column.energy) }
        if name.isText("AverageHeartRateBpm") { return .averageHeartRate }
        return name.isText("MaximumHeartRateBpm") ? .maximumHeartRate : .unknown(name: Array(name))
    }

    private static func partOfPoint(_ name: UnsafeRawBufferPointer, in parent: Element) -> Element {
        typealias Column = ActivityRow.Point
        switch parent {
        case .point:
            if name.isText("Time") { return .text(.point, Column.time) }
            if name.isText("Position") { return .position }
            if name.isText("AltitudeMeters") { return .text(.point, Column.altitude) }
            if name.isText("HeartRateBpm") { return .heartRate }
            if name.isText("Cadence") { return .text(.point, Column.cadence) }
            if name.isText("Extensions") { return .extensions }
        case .position:
            if name.isText("LatitudeDegrees") { return .text(.point, Column.latitude) }
            if name.isText("LongitudeDegrees") { return .text(.point, Column.longitude) }
        case .heartRate:
            if name.isText("Value") { return .text(.point, Column.heartRate) }
        case .extensions:
            if name.isText("TPX") { return .pointValues }
        case .pointValues:
            if name.isText("Speed") { return .text(.point, Column.speed) }
            if name.isText("Watts") { return .text(.point, Column.power) }
        default: break
        }
        return .unknown(name: Array(name))
    }

    private static func partOfSource(_ name: UnsafeRawBufferPointer, in parent: Element) -> Element {
        switch parent {
        case .creator:
            if name.isText("Name") { return .text(.creator, 1) }
            if name.isText("UnitId") { return .text(.creator, 2) }
            if name.isText("ProductID") { return .text(.creator, 3) }
            if name.isText("Version") { return .creatorVersion }
        case .creatorVersion:
            if name.isText("VersionMajor") { return .text(.creator, 4) }
            if name.isText("VersionMinor") { return .text(.creator, 5) }
        case .author:
            if name.isText("Name") { return .text(.author, 1) }
            if name.isText("Build") { return .build }
        case .build:
            if name.isText("Version") { return .authorVersion }
        case .authorVersion:
            if name.isText("VersionMajor") { return .text(.author, 2) }
            if name.isText("VersionMinor") { return .text(.author, 3) }
        default: break
        }
        return .other
    }

    private mutating func set(_ holder: Holder, _ column: Int, _ text: UnsafeRawBufferPointer?) {
        guard let text, text.count <= Self.maximumText else { return }
        cells[holder]?[column - 1] = Self.trimmed(Array(text))
    }

    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 <= 0x20 }
        let end = text.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? 0
        let start = text.prefix(end).firstIndex { !isBlank($0) } ?? end
        return Array(text[start..<end])
    }
}
