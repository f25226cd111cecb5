import Pipeline

protocol RowInput: AnyObject {
    /// The read error that ended the rows, if any.
    var failure: SourceError? { get }

    /// Passes each row to `body`.
    ///
    /// - Throws: errors of `body`, and ``SourceError`` with the first line that cannot be read.
    func forEachRow(_ body: (TextRow, Place) throws -> Void) throws
}

/// Rows of a text, for another thread to read.
final class RowBlock: @unchecked Sendable {
    // They are immutable from now on.
    private let rows: ExportRows

    /// Takes ownership of the rows.
    init(_ rows: ExportRows) { self.rows = rows }

    deinit { rows.deallocate() }

    var isEmpty: Bool { rows.isEmpty }

    /// Passes each row to `body`.
    ///
    /// - Parameter row: contains the cells while `body` runs.
    func forEachRow(_ row: TextRow, _ body: (TextRow, Place) throws -> Void) rethrows {
        try rows.forEach(in: row) { place in try body(row, place) }
    }
}
