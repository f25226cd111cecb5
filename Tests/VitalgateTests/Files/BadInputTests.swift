import FoundationEssentials
import Glibc
import Testing

/// Errors in files from outside. Each is refused with its place, the valid data is kept, the ledger is consistent, the store is intact, and
/// no error contains a health value.
@Suite struct BadInputTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static let header = "time,type,value,unit\n"
    static func row(_ second: Int, _ value: String = "61.7319") -> String {
        "2026-03-28T08:\(second / 600)\(second / 60 % 10):\(second % 60 / 10)\(second % 10)Z,heartRate,\(value),/min\n"
    }

    static let corpus = Repository.tests + "/BadInput"

    /// Imports a file, and checks the rules for all files.
    @discardableResult
    func refuse(
        _ path: String, status: Int32 = 65, stored: Int? = nil, refused: Int? = nil, saying texts: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (run: Vitalgate.Run, account: Account?) {
        let run = try Vitalgate.run(
            folder.options() + ["import", path, "--format", "ndjson"], environment: Vitalgate.environment(home: folder.root),
            memory: 64 << 20)
        #expect(run.status == status, "\(run.errors)", sourceLocation: sourceLocation)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        #expect(run.errors.contains(name), "\(run.errors)", sourceLocation: sourceLocation)
        for text in texts { #expect(run.errors.contains(text), "\(run.errors)", sourceLocation: sourceLocation) }
        // The values of all files here have these digits.
        #expect(
            !run.errors.contains("7319") && !run.errors.contains("731,9") && !run.errors.contains("731.9"), "\(run.errors)",
            sourceLocation: sourceLocation)
        #expect(run.lines.count <= 1, sourceLocation: sourceLocation)
        var account: Account?
        if let line = run.lines.first {
            let read = try Account(line)
            account = read
            #expect(read.addsUp, "\(line)", sourceLocation: sourceLocation)
            let shown = try folder.vitalgate("ledger", "show", "\(read.ingest ?? 0)", "--format", "ndjson")
            #expect(shown.output == run.output, sourceLocation: sourceLocation)
        }
        if let stored {
            #expect((account?.stored ?? 0) == stored, "\(run.errors)", sourceLocation: sourceLocation)
            if folder.exists("store.db") {
                #expect(
                    try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == stored,
                    sourceLocation: sourceLocation)
            }
        }
        if let refused { #expect(account?.refused == refused, "\(run.errors)", sourceLocation: sourceLocation) }
        if folder.exists("store.db") {
            #expect(try folder.vitalgate("store", "check").output == "ok\n", sourceLocation: sourceLocation)
        }
        return (run, account)
    }

    // MARK: Nothing to read

    @Test func aMissingFile() throws { try refuse(folder.path("missing.csv"), status: 66, stored: 0, saying: "No such file") }

    @Test func aDirectory() throws { try refuse(folder.root, status: 66, stored: 0, saying: "directory") }

    @Test func anEmptyFile() throws { try refuse(folder.write("empty.csv", ""), stored: 0) }

    /// Not even the administrator reads a link that leads to itself.
    @Test func anUnreadableFile() throws {
        symlink("loop.csv", folder.path("loop.csv"))
        try refuse(folder.path("loop.csv"), status: 66, stored: 0, saying: "symbolic links")
    }

    @Test func aForbiddenFile() throws {
        let file = try folder.write("forbidden.csv", Self.header + Self.row(0))
        chmod(file, 0)
        let run = try Vitalgate.runWithoutPrivileges(
            folder.options() + ["import", file], environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 66, "\(run.errors)")
        #expect(run.errors.contains("forbidden.csv: Permission denied"))
    }

    /// A header and nothing below it is a file without readings: there is nothing to refuse.
    @Test func aHeaderOnly() throws {
        let run = try folder.vitalgate("import", folder.write("header.csv", Self.header), "--format", "ndjson")
        #expect(run.status == 0)
        let account = try Account(run.last)
        #expect(account.read == 0 && account.addsUp)
    }

    // MARK: Other kinds of files

    @Test func binaryData() throws {
        var state: UInt64 = 7319
        let bytes = (0..<100_000).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
        try refuse(folder.write("random.csv", bytes), stored: 0)
        try refuse(folder.write("picture.xml", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + bytes), stored: 0)
        try refuse(folder.write("packed.csv", [0x1F, 0x8B, 0x08] + bytes), stored: 0)
        try refuse(folder.write("packed.zip", [0x50, 0x4B, 0x03, 0x04] + bytes), stored: 0)
    }

    @Test func anotherTable() throws {
        try refuse(folder.write("other.csv", "Name,Phone\nSomebody,617319\n"), stored: 0, saying: "no profile")
        try refuse(folder.write("other.json", "[{\"name\":\"Somebody\",\"phone\":617319}]\n"), stored: 0, saying: "no profile")
        try refuse(folder.write("other.xml", "<html><body>617319</body></html>\n"), stored: 0)
    }

    @Test func refusesTruncatedRow() throws {
        let text = Self.header + Self.row(0) + Self.row(1) + "2026-03-28T08:00:02Z,heartRa"
        try refuse(folder.write("truncated.csv", text), stored: 2, refused: 1, saying: "line 4: ")
    }

    @Test func refusesUnclosedQuote() throws {
        let text = Self.header + Self.row(0) + "2026-03-28T08:00:01Z,\"heartRate,61.7319,/min\n" + Self.row(2) + Self.row(3)
        try refuse(folder.write("quote.csv", text), stored: 3, refused: 1, saying: "line 3: ")
    }

    @Test func tenThousandColumns() throws {
        let wide = String(Self.row(1).dropLast()) + String(repeating: ",617319", count: 9996) + "\n"
        try refuse(
            folder.write("row.csv", Self.header + Self.row(0) + wide + Self.row(2)), stored: 2, refused: 1, saying: "line 3: ")
    }

    /// The rest of a bad row is not a row of its own, wherever the reader's buffer ends.
    @Test func theRestOfABadRow() throws {
        let nul = "\0," + String(repeating: "x", count: 300_000) + ",61.7319,/min\n"
        let wide = String(repeating: String(repeating: "x", count: 100) + ",", count: 5000) + "61.7319\n"
        let text = Self.header + Self.row(0) + nul + Self.row(1) + wide + Self.row(2)
        try refuse(
            folder.write("rest.csv", text), stored: 3, refused: 2, saying: "line 3: it contains a NUL byte",
            "line 5: it has more than 4096 columns")
    }

    @Test func aHeaderOfTenThousandColumns() throws {
        let header = "time,type,value,unit" + (0..<9996).map { ",c\($0)" }.joined() + "\n"
        let row = String(Self.row(1).dropLast()) + String(repeating: ",", count: 9996) + "\n"
        try refuse(folder.write("header.csv", header + row), stored: 0, saying: "columns")
    }

    @Test func nulBytes() throws {
        let text = Self.header + Self.row(0) + Self.row(1, "61\0.7319") + Self.row(2) + "\0\0\0\n" + Self.row(3)
        try refuse(folder.write("nul.csv", text), stored: 3, refused: 2, saying: "line 3: ", "line 5: ")
    }

    @Test(arguments: [("little", false), ("big", true)]) func sixteenBitsACharacter(name: String, big: Bool) throws {
        let text = "\u{FEFF}" + Self.header + Self.row(0) + Self.row(1, "x")
        let bytes = text.utf16.flatMap { big ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        try refuse(folder.write("\(name).csv", bytes), stored: 1, refused: 1, saying: "line 3: ")
        // Cut within a character.
        try refuse(folder.write("cut-\(name).csv", bytes.dropLast(5)), refused: 1, saying: "line 3: ")
    }

    /// Text of old spreadsheets is read as Windows-1252, and this is reported. Invalid bytes are refused.
    @Test func oldAndBrokenText() throws {
        let header = Array("time,type,value,unit,source\n".utf8)
        let old = Array("2026-03-28T08:00:00Z,heartRate,61.7319,/min,G".utf8) + [0xFC] + Array("rtel\n".utf8)
        let run = try folder.vitalgate("import", folder.write("old.csv", header + old), "--format", "ndjson")
        #expect(try Account(run.last).stored == 1)
        #expect(run.errors.contains("Windows-1252"))
        let sample = try JSON(folder.vitalgate("query", "all", "--format", "ndjson").last)
        #expect(sample["source"]["name"].text == "Gürtel")
        let broken = Array("2026-03-28T08:00:01Z,heartRate,61.7319".utf8) + [0xC3, 0x28, 0xFF] + Array(",/min,\n".utf8)
        try refuse(folder.write("broken.csv", header + broken), refused: 1, saying: "line 2: ")
    }

    /// NaN, 1e400, 1970, 2094, the 30th of February, types and units that do not exist, rows too short and too long.
    @Test func valuesThatAreNone() throws {
        let (_, account) = try refuse(Self.corpus + "/values.csv", stored: 3, saying: "values.csv: line 3: ")
        #expect(account?.quarantined == 1)
        #expect(account?.refused == 17)
        let shown = try folder.vitalgate("ledger", "show", "1").output
        // Line 18 has more columns than the header, all of them empty. Line 20 is quarantined.
        for line in [3...17, 19...19, 21...21].joined() { #expect(shown.contains("refused: line \(line): "), "line \(line)") }
        #expect(!shown.contains("7319"))
        try Snapshot.expect(
            shown.split(separator: "\n").filter { $0.hasPrefix("refused") }.joined(separator: "\n") + "\n",
            matches: "refusals-csv.txt")
    }

    @Test func recordsThatAreNone() throws {
        let (_, account) = try refuse(Self.corpus + "/values.xml", stored: 2, refused: 7, saying: "values.xml: record 2: ")
        #expect(account?.quarantined == 0)
        let shown = try folder.vitalgate("ledger", "show", "1").output
        try Snapshot.expect(
            shown.split(separator: "\n").filter { $0.hasPrefix("refused") }.joined(separator: "\n") + "\n",
            matches: "refusals-xml.txt")
    }

    // MARK: XML

    @Test func aTruncatedExport() throws {
        try refuse(Self.corpus + "/truncated.xml", stored: 1, refused: 1, saying: "truncated.xml: line ")
    }

    @Test func aBillionLaughs() throws {
        try refuse(Self.corpus + "/billion-laughs.xml", stored: 1, refused: 1, saying: "billion-laughs.xml: line 1")
    }

    @Test func anExternalEntity() throws {
        let secret = try folder.write("secret.txt", "the secret")
        let text = String(decoding: try Data(contentsOf: URL(filePath: Self.corpus + "/external-entity.xml")), as: UTF8.self)
        let (run, _) = try refuse(
            folder.write("external-entity.xml", text.replacing("SECRET", with: secret)), stored: 1, refused: 1, saying: "line ")
        #expect(!run.errors.contains("the secret"))
        let all = try folder.vitalgate("query", "all", "--format", "ndjson").output
        #expect(!all.contains("the secret"))
    }

    /// 200,000 elements, one in the other.
    @Test func deepNesting() throws {
        let text = "<HealthData>" + String(repeating: "<Correlation>", count: 200_000)
        try refuse(folder.write("deep.xml", text), stored: 0)
    }

    @Test func aLongAttribute() throws {
        let text =
            "<HealthData><Record type=\"HKQuantityTypeIdentifierHeartRate\" sourceName=\""
            + String(repeating: "x", count: 8 << 20)
        try refuse(folder.write("attribute.xml", text), stored: 0)
    }

    // MARK: ZIP

    static let export = """
        <?xml version="1.0" encoding="UTF-8"?>
        <HealthData locale="de_DE">
         <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Strap" unit="count/min" \
        creationDate="2026-03-28 08:00:00 +0100" startDate="2026-03-28 08:00:00 +0100" endDate="2026-03-28 08:00:00 +0100" \
        value="61.7319"/>
        </HealthData>

        """

    /// A name is never used as a path: the content is read, and nothing is written elsewhere.
    @Test func namesThatClimb() throws {
        try folder.write("sub", "")
        let archive = ZIPFile(members: [
            .init(name: "../../../../../../../../\(folder.root)/escaped.xml", Array(Self.export.utf8)),
            .init(name: "../escaped.txt", Array("x".utf8)),
        ])
        let run = try folder.vitalgate("import", folder.write("climb.zip", archive.bytes), "--format", "ndjson")
        #expect(try Account(run.last).stored == 1, "\(run.errors)")
        #expect(!folder.exists("escaped.xml") && !folder.exists("escaped.txt") && !folder.exists("../escaped.txt"))
    }

    /// 150 MB of blanks in 150 kB.
    @Test func aBomb() throws {
        let kernel = Array(try Data(contentsOf: URL(filePath: Self.corpus + "/blanks.deflate")))
        let blanks = kernel[..<218] + [UInt8](repeating: 0, count: 150_000) + kernel[218...]
        let archive = ZIPFile(members: [.init(name: "apple_health_export/export.xml", deflated: Array(blanks), size: 155_000_000)]
        )
        try refuse(folder.write("bomb.zip", archive.bytes), stored: 0, refused: 1, saying: "bomb.zip: ")
    }

    /// One digit of 9000 was changed in transit, after the first commits of an import. None of them remains, and the whole file is new
    /// afterwards.
    @Test func aWrongChecksum() throws {
        var text = "<HealthData>"
        for index in 0..<40_000 {
            let minute = index % 2880 / 2
            let clock = "\(minute / 600)\(minute / 60 % 10):\(minute / 10 % 6)\(minute % 10):\(index % 2 * 3)0"
            let time = "2025-10-\(10 + index / 2880) \(clock) +0000"
            text +=
                "<Record type=\"HKQuantityTypeIdentifierHeartRate\" sourceName=\"Strap\" unit=\"count/min\" startDate=\"\(time)\" "
            text += "endDate=\"\(time)\" value=\"\(60 + index % 7)\"/>"
        }
        let whole = ZIPFile(members: [.init(name: "export.xml", Array((text + "</HealthData>").utf8))]).bytes
        var damaged = whole
        damaged[whole.count - 1000] ^= 1
        try refuse(folder.write("flipped.zip", damaged), stored: 0, refused: 1, saying: "nothing was imported")
        #expect(try folder.vitalgate("changes", "--after", "0", "--format", "ndjson").lines.isEmpty)
        let run = try folder.vitalgate("import", folder.write("whole.zip", whole), "--format", "ndjson")
        let account = try Account(run.last)
        #expect(run.status == 0 && account.state == "done")
        #expect(account.stored == 40_000)
    }

    @Test func aDamagedArchive() throws {
        var bytes = Array(try Data(contentsOf: URL(filePath: Repository.files + "/apple_health_0.zip")))
        for index in stride(from: bytes.count / 2, to: bytes.count / 2 + 200, by: 1) { bytes[index] ^= 0x5A }
        try refuse(folder.write("damaged.zip", bytes))
        try refuse(folder.write("cut.zip", bytes.prefix(bytes.count / 3)))
        try refuse(folder.write("nothing.zip", ZIPFile(members: []).bytes), stored: 0)
        try refuse(
            folder.write("foreign.zip", ZIPFile(members: [.init(name: "notes.txt", Array("x".utf8))]).bytes), stored: 0,
            saying: "no Apple Health export")
    }

    // MARK: JSON

    @Test func brokenJSON() throws {
        let text = String(
            decoding: try Data(contentsOf: URL(filePath: Repository.files + "/fitbit_hr_json_2.json")), as: UTF8.self)
        try refuse(folder.write("cut.json", String(text.prefix(text.count * 2 / 3))), saying: "cut.json: ")
        try refuse(folder.write("deep.json", String(repeating: "[", count: 1_000_000)), stored: nil)
    }

    // MARK: Size

    /// A line of 1 GiB, a hole in the file: passed over without being kept.
    @Test func aLineOfAGigabyte() throws {
        let path = folder.path("long.csv")
        let head = Array((Self.header + (0..<200).map { Self.row($0) }.joined() + "2026-03-28T09:00:00Z,heartRate,").utf8)
        let tail = Array((",/min\n" + Self.row(300)).utf8)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(pwrite(descriptor, head, head.count, 0) == head.count)
        try #require(pwrite(descriptor, tail, tail.count, head.count + 1 << 30) == tail.count)
        try refuse(path, stored: 201, refused: 1, saying: "long.csv: line 202: ")
    }

    /// More refusals than anyone wants to read: all are counted, few are listed.
    @Test func countsManyRefusals() throws {
        let text = Self.header + (0..<20_000).map { "2026-03-28T08:00:00Z,heartRate,x\($0)7319,/min\n" }.joined() + Self.row(1)
        let (run, _) = try refuse(
            folder.write("refusals.csv", text), stored: 1, refused: 20_000, saying: "line 2: ", "20,000 refused")
        #expect(run.errors.split(separator: "\n").count < 20)
    }
}
