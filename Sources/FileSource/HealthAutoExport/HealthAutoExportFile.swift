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
package typealias HealthAutoExportFileSource = PostSource<HealthAutoExportWalk>
