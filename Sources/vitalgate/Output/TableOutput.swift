import CommandLineKit

/// Writes rows of text as a table or as CSV.
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
