import FoundationEssentials
import SQLiteKit
import Testing

/// Files whose rows are statistics of a period or versions of a record, through the program. Each folder of `Rows` is a case.
///
/// `case.json` has the files in the order of their imports, with options, and the expected content of the store: the number of samples
/// of a type (`count`), their values (`values`), the sums of days in UTC (`sums`), and the rows that the imports skip (`skipped`). It must
/// contain the same if the files are imported in the other order (unless `isOrdered`, if the files do not show which one is later), and if
/// they are imported again.
@Suite struct RowsTests {
    static let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Rows"

    struct Case: Decodable {
        struct Sum: Decodable {
            var type: String
            var day: String
            var sum: Double
        }

        var source: String
        var `import`: [[String]]
        var isOrdered: Bool?
        var count: [String: Int]?
        var values: [String: [Double]]?
        var sums: [Sum]?
        var skipped: [String: Int]?
    }

    static func cases() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test(arguments: cases()) func countsEachRowOnce(name: String) throws {
        let text = try Data(contentsOf: URL(filePath: "\(Self.folder)/\(name)/case.json"))
        let rows = try JSONDecoder().decode(Case.self, from: text)
        #expect(!rows.source.isEmpty)
        let isOrdered = rows.isOrdered ?? false
        for steps in isOrdered ? [rows.import] : [rows.import, rows.import.reversed()] {
            let folder = try TestFolder()
            var skipped: [String: Int] = [:]
            for isAgain in [false, true] {
                for step in steps {
                    let file = try Self.prepare(step[0], of: name, in: folder)
                    let run = try folder.vitalgate(["import", file] + step.dropFirst() + ["--format", "ndjson"])
                    #expect(run.status == 0, "\(run.errors)")
                    let account = try Account(run.last)
                    #expect(account.addsUp)
                    if isAgain { #expect(account.stored == 0) }
                    if !isAgain { skipped.merge(account.skipped, uniquingKeysWith: +) }
                }
                try Self.check(rows, folder)
            }
            for (kind, count) in rows.skipped ?? [:] { #expect(skipped[kind] == count, "\(skipped)") }
            #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        }
    }

    private static func check(_ rows: Case, _ folder: TestFolder) throws {
        let live = try folder.vitalgate("query", "all", "--format", "ndjson").objects()
        for (type, count) in rows.count ?? [:] { #expect(live.count { $0["type"].text == type } == count, "\(type)") }
        for (type, values) in rows.values ?? [:] {
            #expect(
                live.filter { $0["type"].text == type }.compactMap { $0["value"].double }.sorted() == values.sorted(), "\(type)")
        }
        for sum in rows.sums ?? [] {
            let days = try folder.vitalgate(
                "stats", sum.type, "--every", "1d", "--time-zone", "UTC", "--format", "ndjson"
            ).objects()
            let day = days.first { $0["start"].text?.hasPrefix(sum.day.prefix(10)) ?? false }
            let found = try #require(day?["sum"].double, "\(sum.type) has no sum on \(sum.day)")
            #expect(abs(found - sum.sum) < 1e-6, "\(sum.type): \(found), not \(sum.sum)")
        }
    }

    /// Copies a file. A script of SQL becomes a database.
    private static func prepare(_ file: String, of name: String, in folder: TestFolder) throws -> String {
        let bytes = Array(try Data(contentsOf: URL(filePath: "\(Self.folder)/\(name)/\(file)")))
        guard file.hasSuffix(".sql") else { return try folder.write(file, bytes) }
        let database = String(file.dropLast(4)) + ".db"
        let path = folder.path(database)
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        try folder.write(database, [UInt8]())
        let connection = try SQLiteConnection<SQLiteError>(.file(path), writable: true)
        try connection.execute(String(decoding: bytes, as: UTF8.self))
        return path
    }
}
