import HealthModel
import Pipeline

/// Reads tables from another program's SQLite database, such as the database of a phone app.
///
///     let source = DatabaseFileSource(try DatabaseFile(file), wanted: database, received: now)
///
/// Each table is sent as a header and rows of text on its own channel: `sqlite:0` and so on, in the order of the wanted
/// tables. A table is skipped if it is missing or lacks a required column. Unwanted tables and columns that contain
/// values are counted by name.
///
/// The file is opened read-only as an immutable file. Its schema is not trusted, so only tables are read, and no views.
package final class DatabaseFileSource: FrameSource {
    /// The maximum size of a value in bytes. A longer value ends the reading with an error.
    package static let maximumValue = 1 << 20

    enum Origin {
        case file(DatabaseFile)
        case script([UInt8])
    }

    private let origin: Origin
    private let wanted: ForeignDatabase
    private let received: Instant
    private var tables: [ForeignTable] { wanted.tables }
    package private(set) var unread = Unread()

    package init(_ file: DatabaseFile, wanted: ForeignDatabase, received: Instant) {
        (origin, self.wanted, self.received) = (.file(file), wanted, received)
    }

    /// Creates a source that runs an SQL script in memory, for test vectors and tests.
    package init(script: [UInt8], wanted: ForeignDatabase, received: Instant) {
        (origin, self.wanted, self.received) = (.script(script), wanted, received)
    }

    package static func channel(_ index: Int) -> String { "sqlite:\(index)" }

    /// The indices of the wanted tables that exist in the file.
    /// - Throws: ``SourceError`` if the file cannot be read.
    package func present() throws -> [Int] {
        let database = try ForeignConnection(origin)
        var found: [Int] = []
        for (index, table) in tables.enumerated() where try database.plan(of: table) != nil { found.append(index) }
        return found
    }

    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let database = try ForeignConnection(origin)
        try refuseSeveralPersons(database)
        var number = 0
        for (index, table) in tables.enumerated() {
            guard let plan = try database.plan(of: table) else { continue }
            let channel = Self.channel(index)
            let names = plan.columns.map { Array($0.name.utf8) }
            let row = TextRow()
            func hand(_ cells: [UnsafeRawBufferPointer]) throws {
                row.cells = cells
                try handle(RawFrame(payload: .row(row), place: Place(.record, number), received: received, channel: channel))
            }
            try Self.lend(names, hand)
            try database.rows(of: plan) { cells in
                number += 1
                try hand(cells)
            }
        }
        unread = try UnreadTables(database: database, wanted: wanted).counted()
    }

    /// Passes names to `body` as cells that are valid only during the call.
    private static func lend(_ names: [[UInt8]], _ body: ([UnsafeRawBufferPointer]) throws -> Void) rethrows {
        try names.flatMap { $0 }.withUnsafeBytes { bytes in
            var start = 0
            try body(
                names.map { name in
                    defer { start += name.count }
                    return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + name.count)])
                })
        }
    }

    /// Throws an error if the file has rows of several people. One file must contain one person's data.
    private func refuseSeveralPersons(_ database: ForeignConnection) throws {
        var persons: Set<String> = []
        for table in tables {
            guard let person = table.person, let plan = try database.plan(of: table),
                let column = plan.columns.first(where: { $0.name == person })
            else { continue }
            persons.formUnion(try database.values(of: column, in: table, limit: 2))
        }
        guard persons.count < 2 else {
            throw SourceError(
                .malformed, "it contains readings of several people: export each person's readings to a separate file")
        }
    }
}
