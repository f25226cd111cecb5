import ClinicalModel
import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

/// CDA documents: published ones with their expected results (`Files/EXPECTED.tsv`), and hostile ones.
@Suite struct DocumentTests {
    private static let folder = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/Files"
    private static let profiles = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 } + "/DeviceProfiles"
    private static let received = Instant(seconds: 1_790_000_000)

    private static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(folder)/\(path)")))
    }

    private static func interpreter(keepsInvalid: Bool = false) -> DocumentInterpreter {
        DocumentInterpreter(
            registry: OriginRegistry(person: "me"), schema: DocumentSchema(folders: ["/nowhere", profiles]),
            keepsInvalid: keepsInvalid)
    }

    /// The result for these bytes: a reading, or the reason for the refusal.
    private static func reading(_ bytes: [UInt8], _ interpreter: DocumentInterpreter) throws -> Reading? {
        var readings: [Reading] = []
        let row = TextRow()
        _ = try bytes.withUnsafeBytes { bytes in
            row.cells = [bytes]
            let frame = RawFrame(payload: .row(row), place: Place(.line, 1), received: received, channel: ResourceRow.cda)
            return try interpreter.interpret(frame, into: &readings)
        }
        return readings.first
    }

    private static func reported(_ bytes: [UInt8], _ interpreter: DocumentInterpreter) -> String {
        do {
            guard let reading = try reading(bytes, interpreter), let body = reading.body else { return "skipped" }
            let document = try body.decoded(as: ClinicalDocument.self)
            let names = [document.title, document.patient, document.custodian, document.author]
            return "stored\t" + names.joined(separator: "\t") + "\t" + time(reading.time)
        } catch let refusal as Refusal {
            return "refused\t\(refusal.place)\t\(refusal.reason)"
        } catch {
            return "\(error)"
        }
    }

    private static func time(_ time: ReadingTime) -> String {
        switch time {
        case .instants(let start, _, let offset): "\(start) \(offset.map { "\($0)" } ?? "")"
        case .wall(let start, _, _): "\(start)"
        default: "none"
        }
    }

    @Test func publishedDocumentsHaveExpectedResults() throws {
        let interpreter = Self.interpreter()
        let sources = String(decoding: try Self.bytes("SOURCE.tsv"), as: UTF8.self).split(separator: "\n").dropFirst()
        let files = sources.compactMap { $0.split(separator: "\t").first.map(String.init) }
        let all = try FileManager.default.subpathsOfDirectory(atPath: Self.folder).filter { $0.contains("/") }
        #expect(Set(files) == Set(all))
        let reported = try files.map { "\($0)\t\(Self.reported(try Self.bytes($0), interpreter))" }
        let expected = String(decoding: try Self.bytes("EXPECTED.tsv"), as: UTF8.self).split(separator: "\n").map(String.init)
        for line in reported where !expected.contains(line) { Issue.record("\(line)") }
        #expect(reported.count == expected.count)
    }

    /// Documents that would take the parser minutes. They are refused before it, with the line.
    @Test func refusesDocumentsWithManyNames() throws {
        func refusal(_ text: String, wide: Bool = false) -> String {
            let head = "<?xml version=\"1.0\"?>\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\">\n"
            let whole = head + text + "</ClinicalDocument>"
            let bytes = wide ? [0xFF, 0xFE] + whole.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } : Array(whole.utf8)
            return Self.reported(bytes, Self.interpreter(keepsInvalid: true))
        }
        let attributes = (0..<300_000).map { " a\($0)='<'" }.joined().replacing("<", with: ">")
        let names = (0..<100_000).map { "<n\($0)/>" }.joined(separator: "\n")
        let spaces = (0..<10).map { " xmlns:p\($0)='u'" }.joined()
        let siblings = String(repeating: "<a\(spaces)/><a\(spaces)></a>", count: 100)
        let comment = "<!-- ' \" <x -->\n<![CDATA[ <y a='> ]]>\n<?z '?>\n"
        for wide in [false, true] {
            let elements = refusal("<a\(attributes)/>", wide: wide)
            #expect(elements.hasPrefix("refused\tline 3\t") && elements.contains("256 attributes"), "\(elements)")
            let many = refusal(comment + names, wide: wide)
            #expect(many.contains("more than 4096 different names"), "\(many)")
            let nested = refusal(comment + siblings + String(repeating: "<a\(spaces)>\n", count: 30), wide: wide)
            #expect(nested.hasPrefix("refused\tline 31\t") && nested.contains("256 namespaces"), "\(nested)")
            let targets = refusal((0..<5000).map { "<?n\($0) x?>" }.joined(), wide: wide)
            #expect(targets.contains("more than 4096 different names"), "\(targets)")
        }
        // Many of the same are as in real documents, and left to the schema.
        #expect(refusal(String(repeating: "<a b='1' c='2'/>", count: 10_000)).contains("not valid") == false)
    }

    @Test func preservesOriginalBytes() throws {
        let interpreter = Self.interpreter(keepsInvalid: true)
        for file in ["cda/hl7ex-CCD.XML", "cda/ms-Patient-1.ccda.xml", "cda/hl7ex-Referral_Note.xml", "cda/onc-2023SVAPCCD.xml"] {
            let bytes = try Self.bytes(file)
            let reading = try #require(try Self.reading(bytes, interpreter))
            #expect(try reading.body?.content?.bytes() == bytes)
            #expect(try Self.reading(bytes, interpreter)?.ordinal == reading.ordinal)
            #expect(reading.origin.type.id == "cda" && reading.unit == .one)
        }
    }

    @Test func keepsInvalidDocumentsOnRequest() throws {
        let (strict, lenient) = (Self.interpreter(), Self.interpreter(keepsInvalid: true))
        let bytes = try Self.bytes("cda/onc-Sample_addSchemaErrors.xml")
        #expect(throws: Refusal.self) { try Self.reading(bytes, strict) }
        let document = try #require(try Self.reading(bytes, lenient)?.body?.decoded(as: ClinicalDocument.self))
        #expect(!document.valid && document.reason?.hasPrefix("line ") == true)
        // Invalid XML and XML that is not a document are never kept.
        for file in ["cda-refuse/hl7ex-Health_Concern_Act_Example.xml", "cda-refuse/hl7ex-Brand_Name_Example.xml"] {
            #expect(throws: Refusal.self) { try Self.reading(Self.bytes(file), lenient) }
        }
    }

    @Test func withoutTheSchemaNothingIsGuessed() throws {
        let bytes = try Self.bytes("cda/hl7ex-CCD.XML")
        let interpreter = DocumentInterpreter(
            registry: OriginRegistry(person: "me"), schema: DocumentSchema(folders: ["/nowhere"]), keepsInvalid: true)
        #expect(Self.reported(bytes, interpreter).contains("HL7's schema is missing"))
    }

    /// The schema is next to the folder of profiles in a checkout, and inside it in an installation.
    @Test(arguments: ["/DeviceProfiles", ""]) func theSchemaIsFound(folder: String) throws {
        let root = Self.profiles.dropLast("/DeviceProfiles".count)
        let bytes = try Self.bytes("cda/hl7ex-CCD.XML")
        let interpreter = DocumentInterpreter(
            registry: OriginRegistry(person: "me"), schema: DocumentSchema(folders: ["\(root)\(folder)"]), keepsInvalid: false)
        #expect(Self.reported(bytes, interpreter).hasPrefix("stored"))
    }

    /// The Health app's own document repeats its samples.
    @Test func theHealthAppsOwn() throws {
        let own = """
            <?xml version="1.0"?>
            <ClinicalDocument xmlns="urn:hl7-org:v3"><realmCode code="US"/><typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>
             <id extension="Health Export CDA" root="1.1.1.1.1.1.1.1.1"/><title>Health Data Export</title><entry/></ClinicalDocument>
            """
        #expect(Self.reported(Array(own.utf8), Self.interpreter()) == "skipped")
        #expect(Self.reported(Array(own.replacing("Health Export CDA", with: "x").utf8), Self.interpreter()) == "skipped")
        #expect(
            Self.reported(
                Array(own.replacing("Health Export CDA", with: "x").replacing("<entry/>", with: "").utf8), Self.interpreter()
            ).hasPrefix("refused"))
        // However long it is.
        let long = Array(own.utf8) + [UInt8](repeating: 0x20, count: ResourceRow.maximumLength)
        #expect(Self.reported(long, Self.interpreter()) == "skipped")
    }

    /// Whatever precedes the root, no entity is declared, no file is opened, and nothing is expanded.
    @Test(
        arguments: [
            #"<!DOCTYPE a [<!ENTITY x "y">]><ClinicalDocument xmlns="urn:hl7-org:v3">&x;</ClinicalDocument>"#,
            #"<!-- a --><?p i?> <!DOCTYPE a SYSTEM "file:///etc/passwd"><ClinicalDocument xmlns="urn:hl7-org:v3"/>"#,
            "<?xml version=\"1.0\" encoding=\"UTF-7\"?>+ADwAIQ-DOCTYPE a+AD4-<ClinicalDocument xmlns=\"urn:hl7-org:v3\"/>",
            #"<ClinicalDocument xmlns="urn:hl7-org:v3"><title>&undeclared;</title></ClinicalDocument>"#,
            #"<ClinicalDocument xmlns="urn:hl7-org:v3"><!DOCTYPE a></ClinicalDocument>"#, "", "<", "<?xml", "<!--", "\u{FEFF}",
            "{}",
        ]) func isRefused(_ text: String)
    {
        var wide: [UInt8] = [0xFF, 0xFE]
        for unit in text.utf16 { wide += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        for bytes in [Array(text.utf8), wide] {
            let reported = Self.reported(bytes, Self.interpreter(keepsInvalid: true))
            #expect(reported.hasPrefix("refused"), "\(text)")
        }
    }

    @Test func depthAndLengthHaveBounds() {
        let interpreter = Self.interpreter(keepsInvalid: true)
        let deep = "<ClinicalDocument xmlns=\"urn:hl7-org:v3\">" + String(repeating: "<a>", count: 10_000)
        #expect(Self.reported(Array(deep.utf8), interpreter).hasPrefix("refused"))
        let long = [UInt8](repeating: UInt8(ascii: "<"), count: ResourceRow.maximumLength + 1)
        #expect(Self.reported(long, interpreter).contains("longer than 16 MiB"))
        let comment = Array("<!--".utf8) + [UInt8](repeating: UInt8(ascii: "-"), count: 3 << 20)
        #expect(Self.reported(comment, interpreter).hasPrefix("refused"))
    }

    /// Cut at any byte, it is not a document. A changed byte is refused or read, and never crashes.
    @Test func cutAndChanged() throws {
        let bytes = try Self.bytes("cda/hl7ccda-us-realm-header-example.xml")
        let interpreter = Self.interpreter()
        let end = try #require(bytes.lastIndex(of: UInt8(ascii: ">")))
        for length in stride(from: 0, through: end, by: 7) {
            #expect(!Self.reported(Array(bytes[..<length]), interpreter).hasPrefix("stored"), "cut at \(length)")
        }
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let reported = Self.reported(changed, interpreter)
            #expect(reported.hasPrefix("stored") || reported.hasPrefix("refused") || reported == "skipped", "\(reported)")
        }
    }

    @Test(
        arguments: [
            ("20120815103000-0500", "2012-08-15T15:30:00.000000Z -05:00"),
            ("201208151030+0000", "2012-08-15T10:30:00.000000Z +00:00"),
            ("20120815103000.25+0130", "2012-08-15T09:00:00.250000Z +01:30"), ("20120815", "2012-08-15T00:00:00.000000"),
            ("2012", "2012-01-01T00:00:00.000000"), ("201202", "2012-02-01T00:00:00.000000"),
            ("2012081510", "2012-08-15T10:00:00.000000"),
            ("20120815-0500", "2012-08-15T00:00:00.000000"), ("20120230", "refused"), ("2012081525", "refused"),
            ("12", "refused"),
            ("2012-08-15", "refused"), ("20120815103000-05", "refused"), ("2012081510300", "refused"), ("20120815.5", "refused"),
        ] as [(String, String)]) func times(_ text: String, _ expected: String) throws
    {
        let file = String(decoding: try Self.bytes("cda/hl7ccda-us-realm-header-example.xml"), as: UTF8.self)
        let changed = file.replacing(/<effectiveTime value="[^"]*"/, with: "<effectiveTime value=\"\(text)\"", maxReplacements: 1)
        let reported = Self.reported(Array(changed.utf8), Self.interpreter(keepsInvalid: true))
        if expected == "refused" {
            #expect(reported.hasPrefix("refused"), "\(reported)")
        } else {
            #expect(reported.hasSuffix("\t" + expected), "\(reported)")
        }
    }
}
