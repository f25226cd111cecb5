import HealthModel
import Pipeline

/// A test vector: an input file and its expected readings.
package struct ProfileVector: Sendable {
    /// An expected reading as text. Numerals keep their digits.
    package struct Expected: Hashable, Sendable {
        /// The row of the input, from 1, including the header.
        package var row: Int
        /// The quantity type's id.
        package var type: String
        /// The value, with the digits of the file.
        package var value: String
        /// The unit in UCUM.
        package var unit: String
        /// The start, such as `2026-11-20T06:31:00`, with an offset if the file has one.
        package var start: String
        /// The end in the same form, or nil to skip the comparison.
        package var end: String?
        /// The metadata as JSON, or nil to skip the comparison.
        package var metadata: String?
        /// The device's key, or nil to skip the comparison.
        package var device: String?

        /// Whether a reading matches. Properties that are nil match anything.
        func allows(_ found: Expected) -> Bool {
            found.row == row && found.type == type && found.value == value && found.unit == unit && found.start == start
                && (end == nil || found.end == end) && (metadata == nil || found.metadata == metadata)
                && (device == nil || found.device == device)
        }

        /// The text in the form of a profile's file.
        var json5: String {
            let texts: [(String, String?)] = [
                ("type", type), ("value", value), ("unit", unit), ("start", start), ("end", end), ("metadata", metadata),
                ("device", device),
            ]
            let members = texts.compactMap { key, text in text.map { "\(key): \(JSON5Text.quoted($0))" } }
            return "{ " + (["row: \(row)"] + members).joined(separator: ", ") + " },"
        }
    }

    package var source: String
    package var text: String
    /// The options for reading the input.
    package var options: InterpreterOptions
    package var readings: [Expected]
    /// The kinds of skipped rows, by row.
    package var skipped: [Int: String]
    /// A part of the reason for each refused row, by row.
    package var refused: [Int: String]
    /// Names of columns, tables and members that no rule reads, with the number of their values, or nil to skip the comparison.
    package var unread: [String: Int]?

    init?(_ node: ProfileNode) {
        let members = node.members(["source", "lines", "options", "readings", "skipped", "refused", "unread"])
        guard let source = members["source"]?.text(), let lines = members["lines"]?.texts() else {
            node.problem("source or lines is missing")
            return nil
        }
        self.source = source
        text = lines.joined(separator: "\n") + "\n"
        options = InterpreterOptions()
        if let options = members["options"]?.members(["dateOrder", "units", "decimal"]) {
            self.options.dateOrder = options["dateOrder"]?.choice(DateOrder.self)
            self.options.decimal = options["decimal"]?.choice(DecimalSign.self)
            for (column, unit) in options["units"]?.anyMembers() ?? [:] {
                guard let code = unit.text() else { continue }
                do throws(UnitError) {
                    self.options.units[column] = try Unit(ucum: code)
                } catch {
                    unit.problem("\(error)")
                }
            }
        }
        readings = (members["readings"]?.elements() ?? []).compactMap { Self.expected($0) }
        skipped = Self.rows(members["skipped"])
        refused = Self.rows(members["refused"])
        unread = members["unread"]?.anyMembers().compactMapValues { $0.integer(1...1_000_000) }
    }

    private static func expected(_ node: ProfileNode) -> Expected? {
        let members = node.members(["row", "type", "value", "unit", "start", "end", "metadata", "device"])
        guard let row = members["row"]?.integer(1...1_000_000), let type = members["type"]?.text(),
            let value = members["value"]?.text(),
            let unit = members["unit"]?.text(), let start = members["start"]?.text()
        else {
            node.problem("row, type, value, unit and start are required (value is a text, so that it keeps its digits)")
            return nil
        }
        return Expected(
            row: row, type: type, value: value, unit: unit, start: start, end: members["end"]?.text(),
            metadata: members["metadata"]?.text(),
            device: members["device"]?.text())
    }

    private static func rows(_ node: ProfileNode?) -> [Int: String] {
        var rows: [Int: String] = [:]
        for (key, node) in node?.anyMembers() ?? [:] {
            guard let row = Int(key), let text = node.text() else {
                node.problem("the key is a row's number")
                continue
            }
            rows[row] = text
        }
        return rows
    }
}
