import FileSource
import Glibc
import HealthModel
import Pipeline
import Testing

/// A row or its error, in a form that tests compare.
struct Row: Hashable, CustomStringConvertible {
    var line: Int
    var cells: [String] = []
    var isMalformed = false
    var description: String { "\(line): \(isMalformed ? "malformed" : cells.joined(separator: "|"))" }

    init(_ line: Int, _ cells: String...) {
        self.line = line
        self.cells = cells
    }

    static func malformed(_ line: Int) -> Row {
        var row = Row(line)
        row.isMalformed = true
        return row
    }

    init(_ frame: RawFrame) {
        line = frame.place.number
        switch frame.payload {
        case .row(let row): cells = row.cells.indices.map { row.text($0) }
        default: isMalformed = true
        }
    }
}

func rows(_ source: some FrameSource) throws -> [Row] {
    var rows: [Row] = []
    try source.forEachFrame { rows.append(Row($0)) }
    return rows
}

func rows(_ text: String, delimiter: UInt8? = nil) throws -> [Row] { try rows(Array(text.utf8), delimiter: delimiter) }

func rows(_ bytes: [UInt8], delimiter: UInt8? = nil) throws -> [Row] {
    try rows(DelimitedFileSource(bytes: bytes, delimiter: delimiter, received: Instant(seconds: 0)))
}

@Suite struct DelimitedFileSourceTests {
    struct Case: Sendable {
        var name: String
        var text: String
        var rows: [Row]
        init(_ name: String, _ text: String, _ rows: Row...) {
            self.name = name
            self.text = text
            self.rows = rows
        }
    }

    static let cases: [Case] = [
        Case("an empty file", ""),
        Case("no newline at the end", "a,b\n1,2", Row(1, "a", "b"), Row(2, "1", "2")),
        Case("CRLF", "a,b\r\n1,2\r\n", Row(1, "a", "b"), Row(2, "1", "2")),
        Case("CR", "a,b\r1,2\r", Row(1, "a", "b"), Row(2, "1", "2")),
        Case("a blank line", "a,b\n\n1,2\n", Row(1, "a", "b"), Row(2, ""), Row(3, "1", "2")),
        Case("empty cells", "a\n,\n,,\n", Row(1, "a"), Row(2, "", ""), Row(3, "", "", "")),
        Case("quotes", "\"a,b\",\"c \"\"d\"\"\",\"\"\n", Row(1, "a,b", "c \"d\"", "")),
        Case("a newline in quotes", "\"a\nb\",c\nd,e\n", Row(1, "a\nb", "c"), Row(3, "d", "e")),
        Case("a CRLF in quotes", "\"a\r\nb\",c\r\nd,e", Row(1, "a\r\nb", "c"), Row(3, "d", "e")),
        Case("a quote inside a cell", "a\"b,5\" pipe\n", Row(1, "a\"b", "5\" pipe")),
        Case("blanks behind a closing quote", "\"a\" ,b\n", Row(1, "a", "b")),
        Case("text behind a closing quote", "\"a\"b,c\nd,e\n", .malformed(1), Row(2, "d", "e")),
        Case("a quote never closed", "a,b\n\"c,d\ne,f\n", Row(1, "a", "b"), .malformed(2), Row(3, "e", "f")),
        Case("a quote opened in the last row", "a,b\nc,\"d", Row(1, "a", "b"), .malformed(2)),
        Case("a semicolon", "a;\"b,c\"\n", Row(1, "a", "b,c")),
        Case("a tab", "a\tb\tc,d\n", Row(1, "a", "b", "c,d")),
        Case("a NUL byte in a row", "a,b\n1,\0\n3,4\n", Row(1, "a", "b"), .malformed(2), Row(3, "3", "4")),
        Case("a NUL byte in quotes", "a,b\n1,\"\0\"\n3,4\n", Row(1, "a", "b"), .malformed(2), Row(3, "3", "4")),
        Case("a mark of UTF-8", "\u{FEFF}a,b\n", Row(1, "a", "b")),
    ]

    @Test(arguments: cases) func cutsRows(_ wanted: Case) throws {
        #expect(try rows(wanted.text) == wanted.rows, "\(wanted.name)")
    }

    static let umlauts = "Gerät,Größe\n€ 5,ñ\n"

    @Test func readsUTF16() throws {
        let wanted = [Row(1, "Gerät", "Größe"), Row(2, "€ 5", "ñ")]
        let units = Array(Self.umlauts.utf16)
        let little = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let big = units.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        #expect(try rows([0xFF, 0xFE] + little) == wanted)
        #expect(try rows([0xFE, 0xFF] + big) == wanted)
        let plain = Array("time,value\n2026-01-01,5\n".utf16)
        #expect(
            try rows(plain.flatMap { [UInt8(truncatingIfNeeded: $0), 0] }) == [
                Row(1, "time", "value"), Row(2, "2026-01-01", "5"),
            ])
        #expect(
            try rows(plain.flatMap { [0, UInt8(truncatingIfNeeded: $0)] }) == [
                Row(1, "time", "value"), Row(2, "2026-01-01", "5"),
            ])
        // A surrogate alone, and half a unit at the end.
        #expect(try rows([0xFF, 0xFE, 0x00, 0xD8, 0x61, 0x00, 0x62]).first?.cells == ["\u{FFFD}a"])
    }

    @Test func readsWindows1252WithNote() throws {
        let bytes: [UInt8] = Array("a,b\nGer".utf8) + [0xE4, 0x74, 0x2C, 0x80, 0x0A] + Array("ü,c\n".utf8)
        let source = DelimitedFileSource(bytes: bytes, received: Instant(seconds: 0))
        #expect(try rows(source) == [Row(1, "a", "b"), Row(2, "Gerät", "€"), Row(3, "ü", "c")])
        #expect(source.notes == ["text that is not UTF-8 is read as Windows-1252 (first on line 2)"])
    }

    @Test func refusesBinaryFiles() throws {
        for bytes in [
            Array("PK\u{3}\u{4}xxxx".utf8), [0x1F, 0x8B, 8, 0], Array("SQLite format 3\0".utf8), (0..<200).map { UInt8($0 % 32) },
        ] {
            #expect(throws: SourceError.self) { try rows(bytes) }
        }
        #expect(throws: SourceError.self) { try rows(DelimitedFileSource(InputFile(path: "/"), received: Instant(seconds: 0))) }
    }

    @Test func refusesTooManyColumns() throws {
        let wide = String(repeating: ",", count: 9_999)
        #expect(try rows("a,b\n\(wide)\n1,2\n") == [Row(1, "a", "b"), .malformed(2), Row(3, "1", "2")])
        #expect(try rows("a" + String(repeating: ",", count: 4095) + "\n").first?.cells.count == 4096)
    }

    @Test func skipsAHugeLineWithoutKeepingIt() throws {
        let path = "/tmp/vitalgate-huge-line-\(getpid()).csv"
        let file = try #require(fopen(path, "w"))
        defer { unlink(path) }
        fputs("a,b\n", file)
        let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<64 { fwrite(block, 1, block.count, file) }
        fputs("\r\n1,2\n", file)
        fclose(file)
        let source = DelimitedFileSource(try InputFile(path: path), received: Instant(seconds: 0))
        #expect(try rows(source) == [Row(1, "a", "b"), .malformed(2), Row(3, "1", "2")])
    }

    @Test func unclosedQuoteLosesOneRow() throws {
        let rest = (0..<100_000).map { "row \($0),of some length\n" }.joined()
        let found = try rows("a,b\n\"open,2\n" + rest)
        #expect(found.count == 100_002)
        #expect(found[1] == .malformed(2))
        #expect(found[100_001] == Row(100_002, "row 99999", "of some length"))
    }

    /// Rows that straddle the buffer's end come out the same, wherever that is.
    @Test func rowsAcrossBuffersAreWhole() throws {
        let line = "12345,\"quoted \"\"text\"\"\",zz\r\n"
        for shift in [0, 1, 7, 13, 20, 25, 26, 27] {
            let text = String(repeating: "p", count: shift) + ",x,y\r\n" + String(repeating: line, count: 30_000)
            let found = try rows(text)
            #expect(found.count == 30_001)
            #expect(Set(found.dropFirst().map(\.cells)) == [["12345", "quoted \"text\"", "zz"]])
            #expect(found.last?.line == 30_001)
        }
    }

    @Test func longRowsUpToTheLimitAreTaken() throws {
        let cell = String(repeating: "c", count: 900_000)
        #expect(try rows("a,b\n\(cell),2\n1,2\n").map(\.line) == [1, 2, 3])
        let tooLong = String(repeating: "c", count: 1_200_000)
        #expect(try rows("a,b\n\(tooLong),2\n1,2\n") == [Row(1, "a", "b"), .malformed(2), Row(3, "1", "2")])
    }

    @Test func rethrowsErrorsOfHandler() {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try DelimitedFileSource(bytes: Array("a,b\n".utf8), received: Instant(seconds: 0)).forEachFrame { _ in throw Stop() }
        }
    }
}
