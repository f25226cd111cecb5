import SQLiteKit
import Testing

@Suite struct SQLiteConnectionTests {
    private typealias Connection = SQLiteConnection<SQLiteError>

    private func connection() throws -> Connection { try Connection(.memory, writable: true) }

    private func error(_ body: () throws(SQLiteError) -> Void) -> SQLiteError? {
        do throws(SQLiteError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func valuesRoundTrip() throws {
        let connection = try connection()
        let values: [SQLiteValue] = [
            .integer(.min), .real(0.1), .text("né\u{0}t"), .blob([0, 255]), .null, .optional(nil as String?),
        ]
        let statement = try connection.statement("SELECT ?, ?, ?, ?, ?, ?")
        defer { statement.reset() }
        try statement.bind(values)
        #expect(try statement.step())
        #expect(statement.columnCount == 6)
        #expect(statement.integer(0) == .min && statement.real(1) == 0.1 && statement.text(2) == "né\u{0}t")
        #expect(statement.isBlob(3) && Array(statement.blob(3)) == [0, 255])
        #expect(statement.isNull(4) && statement.optionalInteger(4) == nil && statement.optionalText(5) == nil)
        #expect(try !statement.step())
        #expect(try connection.statement("SELECT ?, ?, ?, ?, ?, ?") === statement, "it is prepared once")
    }

    @Test func errorHasCodeAndStatement() throws {
        let connection = try connection()
        try connection.execute("CREATE TABLE pet(name TEXT PRIMARY KEY)")
        try connection.run("INSERT INTO pet VALUES(?)", .text("Ada"))
        let again = error { () throws(SQLiteError) in try connection.run("INSERT INTO pet VALUES(?)", .text("Ada")) }
        // SQLITE_CONSTRAINT_PRIMARYKEY
        #expect(again?.code == 1555 && again?.sql == "INSERT INTO pet VALUES(?)")
        #expect(throws: SQLiteError.self) { try connection.statement("SELECT nothing FROM pet") }
        #expect(throws: SQLiteError.self) { try Connection(.file("/nowhere/at.all"), writable: true) }
    }

    @Test func aPartIsRolledBackWithoutTheWhole() throws {
        struct Stop: Error {}
        let connection = try connection()
        try connection.execute("CREATE TABLE pet(name)")
        var begun = 0
        func begin() { begun += 1 }
        func stop() throws { throw Stop() }
        try connection.transaction(onBegin: begin) {
            #expect(connection.isInTransaction)
            try connection.run("INSERT INTO pet VALUES('Ada')")
            #expect(throws: Stop.self) {
                try connection.transaction(onBegin: begin) {
                    try connection.run("INSERT INTO pet VALUES('Bob')")
                    throw Stop()
                }
            }
        }
        #expect(begun == 1 && !connection.isInTransaction)
        #expect(try connection.text("SELECT group_concat(name) FROM pet") == "Ada")
        #expect(throws: Stop.self) { try connection.transaction(onBegin: stop, begin) }
        #expect(begun == 1)
        #expect(!connection.isInTransaction)
    }

    @Test func aProgressHandlerInterrupts() throws {
        let connection = try connection()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        var calls = 0
        connection.onProgress(every: 100) {
            calls += 1
            return calls == 3
        }
        let interruption = error { () throws(SQLiteError) in _ = try connection.integer(endless) }
        #expect(interruption.map { SQLiteFault(code: $0.code) } == .interrupted && calls == 3)
        connection.onProgress(every: 0, nil)
        #expect(try connection.integer("SELECT 7") == 7)
    }

    @Test func aFilterKeepsHidesOrFails() throws {
        struct Stop: Error {}
        let connection = try connection()
        try connection.defineFilter("kept") { text in
            guard text != "fail" else { throw Stop() }
            return text != "hide"
        }
        #expect(try connection.text("SELECT kept('keep')") == "keep")
        #expect(try connection.integer("SELECT kept('hide') IS NULL AND kept(NULL) IS NULL") == 1)
        #expect(throws: SQLiteError.self) { try connection.text("SELECT kept('fail')") }
    }

    private final class Pets: VirtualTable {
        let names = ["Ada", "Bob"]
        init() { super.init(name: "pet", columns: "name, number, half, digest, blank") }
        override var count: Int { names.count }
        override func give(_ position: Int, _ column: Int32, to result: SQLiteResult) {
            switch column {
            case 0: result.give(names[position])
            case 1: result.give(Int64(position))
            case 2: result.give(Double(position) / 2)
            case 3: withUnsafeBytes(of: UInt8(position)) { result.give(bytes: $0) }
            default: return
            }
        }
    }

    @Test func rowsInMemoryAreATable() throws {
        let connection = try connection()
        let pets = Pets()
        try pets.register(with: connection)
        let sql = "SELECT group_concat(name || number || half || hex(digest) || ifnull(blank, '-')) FROM pet"
        #expect(try connection.text(sql) == "Ada00.000-,Bob10.501-")
        withExtendedLifetime(pets) {}
    }

    private static let faults: [(code: Int32, fault: SQLiteFault)] = [
        (5, .busy), (261, .busy), (517, .staleSnapshot), (6, .locked), (13, .full), (4874, .full), (10, .inputOutput),
        (8, .readOnly), (14, .cannotOpen), (11, .corrupt), (26, .notADatabase), (23, .permission), (9, .interrupted), (1, .other),
    ]

    @Test func categories() {
        for (code, fault) in Self.faults { #expect(SQLiteFault(code: code) == fault, "\(code)") }
    }
}
