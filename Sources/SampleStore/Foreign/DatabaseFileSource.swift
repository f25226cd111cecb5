import CSQLite
import HealthModel
import Pipeline

/// Reads tables of another program's database, such as a phone keeps its readings in. It is here because SQLite has one door.
///
///     let source = DatabaseFileSource(path: "Gadgetbridge.db", wanted: database, received: now)
///
/// Each table is a header and rows of text, on a channel of its own: `sqlite:0` and so on, in the order in which they are wanted. A table that is not there, or
/// lacks a column that it needs, is left out. Tables and columns that have values and are not wanted are counted by name. The file is opened for reading alone, as one that nobody changes, and nothing in it is trusted: only its
/// tables are read, no views.
public final class DatabaseFileSource: FrameSource {
    /// Longest value in octets; a longer one ends the reading.
    public static let maximumValue = 1 << 20

    enum Origin {
        case path(String)
        case script([UInt8])
    }

    private let origin: Origin
    private let wanted: ForeignDatabase
    private let received: Instant
    private var tables: [ForeignTable] { wanted.tables }
    public private(set) var unread = Unread()

    /// Reads a file.
    public init(path: String, wanted: ForeignDatabase, received: Instant) {
        (origin, self.wanted, self.received) = (.path(path), wanted, received)
    }

    /// Reads what a script of SQL makes, in memory; for vectors and tests.
    public init(script: [UInt8], wanted: ForeignDatabase, received: Instant) {
        (origin, self.wanted, self.received) = (.script(script), wanted, received)
    }

    /// The channel of the table that is wanted as this one.
    public static func channel(_ index: Int) -> String { "sqlite:\(index)" }

    /// Which of the tables are there, by their place in the list.
    /// - Throws: ``SourceError`` where the file cannot be read.
    public func present() throws -> [Int] {
        let database = try ForeignConnection(origin)
        defer { database.close() }
        var found: [Int] = []
        for (index, table) in tables.enumerated() where try database.plan(of: table) != nil { found.append(index) }
        return found
    }

    public func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let database = try ForeignConnection(origin)
        defer { database.close() }
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

    /// Lends names as cells.
    private static func lend(_ names: [[UInt8]], _ body: ([UnsafeRawBufferPointer]) throws -> Void) rethrows {
        try names.flatMap { $0 }.withUnsafeBytes { octets in
            var start = 0
            try body(
                names.map { name in
                    defer { start += name.count }
                    return UnsafeRawBufferPointer(rebasing: octets[start..<(start + name.count)])
                })
        }
    }

    /// A file is one person's: it says whose each row is, and all have to be the same one's.
    private func refuseSeveralPersons(_ database: ForeignConnection) throws {
        var persons: Set<String> = []
        for table in tables {
            guard let person = table.person, let plan = try database.plan(of: table),
                let column = plan.columns.first(where: { $0.name == person })
            else { continue }
            persons.formUnion(try database.values(of: column, in: table, limit: 2))
        }
        guard persons.count < 2 else {
            throw SourceError(.malformed, "it holds the readings of several persons; export each person's to a file of its own")
        }
    }
}
