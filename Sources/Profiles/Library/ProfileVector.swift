import HealthModel
import Pipeline

/// An input of a profile and what must come of it.
public struct ProfileVector: Sendable {
    /// A reading that must come, as text: numerals keep their digits.
    public struct Expected: Hashable, Sendable {
        /// Of the input, from 1, the header included.
        public var row: Int
        /// The quantity type's id.
        public var type: String
        /// With the digits of the file.
        public var value: String
        /// In UCUM.
        public var unit: String
        /// `2026-11-20T06:31:00`, with an offset where the file has one.
        public var start: String
        /// As `start`; not compared where it is nil.
        public var end: String?
        /// As JSON; not compared where it is nil.
        public var metadata: String?
        /// Its key; not compared where it is nil.
        public var device: String?

        /// Whether a reading is as this one says; what it does not mention may be anything.
        func allows(_ found: Expected) -> Bool {
            found.row == row && found.type == type && found.value == value && found.unit == unit && found.start == start
                && (end == nil || found.end == end) && (metadata == nil || found.metadata == metadata)
                && (device == nil || found.device == device)
        }

        /// As it stands in a profile's file.
        var json5: String {
            let texts: [(String, String?)] = [
                ("type", type), ("value", value), ("unit", unit), ("start", start), ("end", end), ("metadata", metadata),
                ("device", device),
            ]
            let members = texts.compactMap { key, text in text.map { "\(key): \(JSON5Text.quoted($0))" } }
            return "{ " + (["row: \(row)"] + members).joined(separator: ", ") + " },"
        }
    }

    /// Where the input comes from.
    public var source: String
    /// The file's text.
    public var text: String
    /// What a person says about the input.
    public var options: InterpreterOptions
    /// All that must come, in their order.
    public var readings: [Expected]
    /// Row to the kind it is skipped under.
    public var skipped: [Int: String]
    /// Row to a part of the reason it is refused for.
    public var refused: [Int: String]
    /// Names of columns, tables and members that no rule reads, with their values; not compared where it is nil.
    public var unread: [String: Int]?

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
            node.problem("row, type, value, unit and start are needed; value is a text, so that it keeps its digits")
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
