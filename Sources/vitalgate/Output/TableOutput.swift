import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Writes rows as a table, as CSV, or as lines of NDJSON.
struct TableOutput {
    let context: CommandContext

    func write(header: [String], rows: [[String]]) throws {
        if context.format == .csv {
            var bytes: [UInt8] = []
            for row in [header] + rows { context.csv.append(row: row, to: &bytes) }
            try context.streams.output.write(bytes)
            return
        }
        var table = TextTable(columns: header.map { .init($0) })
        for row in rows { table.append(row) }
        let terminal = context.streams.outputTerminal
        try context.streams.output.write(table.rendered(width: terminal.width, unicode: terminal.isUnicode))
    }
}

extension CommandContext {
    /// Writes rows in the requested format.
    ///
    /// - Parameter empty: A note instead of a table without rows.
    func write<Row>(_ rows: some Collection<Row>, _ fields: [Field<Row>], empty note: String? = nil) throws {
        if format == .ndjson {
            for row in rows { try write(object(of: row, fields)) }
            return
        }
        if rows.isEmpty, format == .table, let note { return self.note(note) }
        let columns = fields.filter { $0.header != nil }
        var times: ShownTimes?
        func local(_ instant: Instant) throws -> String {
            let known = try times ?? self.times()
            times = known
            return known.local(instant)
        }
        try TableOutput(context: self).write(
            header: columns.compactMap(\.header), rows: try rows.map { row in try columns.map { try $0.text(of: row, local) } })
    }

    func write(_ object: JSONObject) throws { try streams.output.write(object.line) }

    private func object<Row>(of row: Row, _ fields: [Field<Row>]) -> JSONObject {
        var object = JSONObject()
        for field in fields { if let name = field.name { object.set(name, field.value(row)) } }
        return object
    }
}

extension SampleStore {
    /// The person in NDJSON: `me` for the store's owner.
    func subject(_ person: String) -> String { person == owner ? "me" : person }
}
