import Pipeline

/// Rows of a text, from wherever it is read.
protocol RowInput: AnyObject {
    /// Why the text itself could not be had, where that is the reason why there are no more rows.
    var failure: SourceError? { get }

    /// Gives each row to `body`.
    ///
    /// - Throws: what `body` throws; ``SourceError`` with the line from which on the text cannot be read.
    func forEachRow(_ body: (TextRow, Place) throws -> Void) throws
}

/// Rows that were cut from a text, for another thread to read.
final class RowBlock: @unchecked Sendable {
    // Nobody changes them any more.
    private let rows: ExportRows

    /// Takes them over.
    init(_ rows: ExportRows) { self.rows = rows }

    deinit { rows.deallocate() }

    var isEmpty: Bool { rows.isEmpty }

    /// Gives each row to `body`.
    ///
    /// - Parameter row: has the cells while `body` runs.
    func forEachRow(_ row: TextRow, _ body: (TextRow, Place) throws -> Void) rethrows {
        try rows.forEach(in: row) { place in try body(row, place) }
    }
}
