import FoundationEssentials
import Testing

/// Each statement of HealthKit's in the section Authorization of docs/explanation/security.md names tests that there are.
@Suite struct AuthorizationPageTests {
    @Test func everyStatementNamesTest() throws {
        let security = String(decoding: try Repository.data("docs/explanation/security.md"), as: UTF8.self)
        let page = try #require(security.split(separator: "\n## Authorization\n").last)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| ---") }.dropFirst()
        #expect(rows.count > 15)
        var sources = ""
        for path in try Self.files("Tests") { sources += String(decoding: try Repository.data(path), as: UTF8.self) }
        for row in rows {
            let cells = row.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
            try #require(cells.count == 3, "\(row)")
            #expect(cells[0].contains(/\[\d+(, \d+)*\]/), "no source: \(row)")
            let names = cells[2].split(separator: ", ").map { $0.filter { $0 != "`" } }
            #expect(!names.isEmpty, "\(row)")
            for name in names { #expect(sources.contains("func \(name)("), "\(name)") }
        }
    }

    /// Swift's files below a folder of the checkout.
    private static func files(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(Repository.root)/\(folder)").flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") { return [path] }
            var isFolder = false
            _ = FileManager.default.fileExists(atPath: "\(Repository.root)/\(path)", isDirectory: &isFolder)
            return isFolder ? try files(path) : []
        }
    }
}
