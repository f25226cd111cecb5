import Pipeline

extension TextRow {
    /// Calls the body with a row of texts, followed by bytes.
    static func with(_ texts: [String], _ bytes: UnsafeRawBufferPointer? = nil, _ body: (TextRow) throws -> Void) throws {
        let row = TextRow()
        let all = texts.map { Array($0.utf8) }
        try all.flatMap { $0 }.withUnsafeBytes { buffer in
            var start = 0
            for text in all {
                row.cells.append(UnsafeRawBufferPointer(rebasing: buffer[start..<start + text.count]))
                start += text.count
            }
            if let bytes { row.cells.append(bytes) }
            try body(row)
        }
    }
}
