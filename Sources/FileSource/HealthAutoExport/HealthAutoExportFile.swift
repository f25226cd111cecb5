import HealthModel
import Pipeline

/// Recognizes posts and files of the app Health Auto Export (iPhone), and posts of Vitalgate's webhook in the same format:
///
///     {"data": {"metrics": [{"name": "step_count", "units": "count", "data": [{"date": "2026-05-11 00:00:00 +0200", "qty": 8342.6}]}]}}
///
/// A file can also contain the headers of the request beside its body, because only a header has the length of the periods:
///
///     {"headers": {"automation-aggregation": "Days"}, "body": {"data": {…}}}
package enum HealthAutoExportFile {
    /// The header with the length of the periods.
    package static let groupingHeader = "automation-aggregation"
    /// The number of bytes that are examined to recognize a file.
    package static let decidingLength = 64 << 10
    /// The lists of an export.
    static let sections: Set<String> = [
        metrics, workouts, "stateOfMind", "medications", "symptoms", "cycleTracking", "ecg", "heartRateNotifications",
    ]
    static let metrics = "metrics"
    static let workouts = "workouts"
    /// The UUIDs of deleted samples, which Vitalgate's webhook adds.
    static let deleted = "deleted"

    /// Whether an open file begins like an export. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool { file.begins(decidingLength, recognises) }

    /// Whether the bytes begin like an export. They may end within it.
    package static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        var reader = JSONReader<JSONFault>(
            beginning, from: ByteOrderMark.lengthUTF8(beginning), checks: .structure, maximumDepth: JSONStream.maximumDepth)
        reader.skipBlanks()
        return (try? beginsExport(&reader, isBody: false)) ?? false
    }

    private static func beginsExport(_ reader: inout JSONReader<JSONFault>, isBody: Bool) throws(JSONFault) -> Bool {
        guard reader.take("{"), let name = try reader.nextName(after: 0) else { return false }
        let word = name.text(in: reader.bytes)
        try reader.colon()
        switch word {
        case "data":
            guard reader.take("{") else { return false }
            guard let section = try reader.nextName(after: 0) else { return true }
            return sections.contains(section.text(in: reader.bytes))
        case "headers" where !isBody:
            guard try reader.kind() == .object else { return false }
            _ = try reader.value()
            guard let next = try reader.nextName(after: 1), next.text(in: reader.bytes) == "body" else { return false }
            try reader.colon()
            return try beginsExport(&reader, isBody: true)
        case "body" where !isBody: return try beginsExport(&reader, isBody: true)
        default: return false
        }
    }
}

/// A row of an export. Its first cell is its kind.
enum HealthAutoExportRow {
    /// The header with the length of the periods: its value.
    static let grouping = "grouping"
    /// The metric of the points that follow: its name and unit.
    static let metric = "metric"
    /// A point of the metric: its JSON.
    static let point = "point"
    /// An element of another list: the name of the list, and its JSON.
    static let element = "element"
}

/// Reads an export, point by point and workout by workout, for ``HealthAutoExportInterpreter``.
///
/// The members of an object come in any order, so a metric's name can follow its points. The text is therefore read twice. The first pass
/// checks all of it: an export that is cut or malformed is refused as a whole, so that a request is stored completely or not at all.
package final class HealthAutoExportFileSource: FrameSource {
    /// Members that are not read, and deletions, which are not applied.
    package private(set) var unread = Unread()

    private let open: () -> any ByteInput
    private let received: Instant
    private var surveyed: HealthAutoExportWalk?

    /// Reads an open file.
    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        open = { FileInput(file, meter: meter) }
        self.received = received
    }

    /// Reads bytes from memory, for tests.
    package init(bytes: [UInt8], received: Instant) {
        open = { MemoryInput(bytes) }
        self.received = received
    }

    /// Passes the facts about the export and each of its elements to `handle`.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let survey = try surveyed ?? survey()
        unread = survey.unread
        unread.count(HealthAutoExportFile.deleted, as: .member, survey.deletions)
        try withoutActuallyEscaping(handle) { handle in
            if let grouping = survey.grouping { try deliver([HealthAutoExportRow.grouping, grouping], handle) }
            var (number, metric) = (0, -1)
            let walk = try HealthAutoExportWalk(open()) { [received] section, index, value in
                if let index, index != metric {
                    metric = index
                    try self.deliver(
                        [HealthAutoExportRow.metric, survey.metrics[index].name, survey.metrics[index].units], handle)
                }
                number += 1
                let place = Place(.record, number)
                guard let value else {
                    let reason = "it is longer than \(HealthAutoExportWalk.maximumElement >> 20) MiB"
                    return try handle(RawFrame(payload: .malformed(reason), place: place, received: received))
                }
                let head = index == nil ? [HealthAutoExportRow.element, section] : [HealthAutoExportRow.point]
                try TextRow.with(head, value) { row in
                    try handle(RawFrame(payload: .row(row), place: place, received: received))
                }
            }
            try walk.run()
        }
    }

    /// Checks the whole text, without which no frame is delivered.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed.
    package func survey() throws { surveyed = try survey() as HealthAutoExportWalk }

    private func survey() throws -> HealthAutoExportWalk {
        let walk = try HealthAutoExportWalk(open())
        try walk.run()
        return walk
    }

    /// Delivers a row of texts.
    private func deliver(_ texts: [String], _ handle: (RawFrame) throws -> Void) throws {
        try TextRow.with(texts) { row in
            try handle(RawFrame(payload: .row(row), place: Place(.record, 0), received: received))
        }
    }
}
