import HealthModel
import Pipeline
import Testing

@testable import FileSource

@Suite struct AppleHealthExportSourceTests {
    @Test func countsEveryElement() {
        let export = ImportedExport(
            elements: """
                <ExportDate value="2025-11-20 10:00:00 -0500"/>
                <Me HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"/>
                \(record())
                <Correlation type="HKCorrelationTypeIdentifierOfTheFuture">\(entry("a", "b"))\(record(value: "61"))</Correlation>
                \(record(value: "62", content: "<Future><Nested/></Future><Future/>"))
                <Workout workoutActivityType="HKWorkoutActivityTypeRunning" startDate="2025-11-20 09:00:00 -0500"
                endDate="2025-11-20 09:30:00 -0500"><WorkoutRoute><FileReference path="/x"/></WorkoutRoute><OfTheFuture><x/></OfTheFuture></Workout>
                <ClinicalRecord/><Audiogram><SensitivityPoint/></Audiogram><VisionPrescription/><StateOfMind/>
                """)
        #expect(export.error == nil)
        #expect(export.readings.map(\.numeral.text) == ["60", "61", "62", "37"])
        #expect(export.readings.map(\.place.number) == [1, 2, 3, 7])
        #expect(export.readings.map(\.repeats?.name) == [nil, "correlationRecord", nil, nil])
        #expect(export.skipped == ["HKCorrelationTypeIdentifierOfTheFuture", "Future", "OfTheFuture", "StateOfMind"])
        #expect(
            export.refused == [
                "route: the file that the export names: cannot open it: No such file or directory",
                "clinical record: it does not name a file", "Audiogram: startDate is missing",
                "VisionPrescription: type is missing",
            ])
        #expect(
            export.events.first { if case .refused = $0.event { true } else { false } }?.place == Place(.line, 7))
    }

    @Test func nestedRecordDoesNotAffectOthers() {
        let export = ImportedExport(elements: record(value: "1", content: record(value: "2")) + record(value: "3"))
        #expect(export.readings.map(\.numeral.text) == ["1", "3"])
        #expect(export.readings.map(\.place.number) == [1, 3])
        #expect(export.skipped == ["Record"])
    }

    @Test func stepsOverByteOrderMarkAndDoctype() {
        let body = "<HealthData>\(record())</HealthData>"
        let prologs = [
            "", "\u{FEFF}", "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n", "<?xml version='1.0' encoding='utf-8'?>",
            "<!-- <HealthData> -->", "<!DOCTYPE HealthData [<!ATTLIST Record unclosed <!ELEMENT X EMPTY>]>\n",
            "<?xml version=\"1.0\"?><?other <HealthData?><!DOCTYPE HealthData [<!-- <HealthData > --><!ENTITY x \"<y>\">]>",
            String(repeating: " ", count: 200_000),
        ]
        for prolog in prologs {
            let bytes = Array((prolog + body).utf8)
            let export = ImportedExport(bytes)
            #expect(export.error == nil)
            #expect(export.readings.count == 1)
            #expect(bytes.withUnsafeBytes { AppleHealthExport.recognises($0) } || prolog.count > 100_000)
        }
    }

    @Test func entitiesOfTheDoctypeNeverCount() {
        let laughs = """
            <!DOCTYPE HealthData [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
            <!ENTITY c SYSTEM "file:///etc/passwd">]>
            """
        for entity in ["b", "c", "nbsp"] {
            let bad = record(source: "&\(entity);")
            let export = ImportedExport("\(laughs)\n<HealthData>\n\(record())\n\(bad)</HealthData>".utf8)
            #expect(export.readings.count == 1)
            #expect(export.error?.kind == .malformed)
            #expect(export.error?.place == Place(.line, 5))
            #expect(export.error?.reason == "not valid XML: undefined entity")
        }
    }

    @Test func makesBlanksOfForbiddenCharacters() {
        for character in ["\u{0B}", "\u{00}", "\u{1F}", "&#11;", "&#x0B;", "&#x1f;", "&#0;", "&#1;", "&#xFFFF;", "&#xD800;"] {
            let export = ImportedExport(elements: record(source: "Scale\(character)One\(character)"))
            #expect(export.error == nil)
            #expect(export.readings.first?.origin.source.name.split(separator: " ") == ["Scale", "One"])
        }
        let retained = ImportedExport(elements: record(content: entry("k", "a&#10;b&#x9;c &#35;11; #11;")))
        #expect(retained.readings.first?.metadata?["k"] == .string("a\nb\tc #11; #11;"))
    }

    /// A reference that two stretches of the file share is still seen.
    @Test func replacesReferencesAcrossChunks() {
        for shift in 0..<12 {
            let filling = String(repeating: " ", count: ElementParserLimits.length - 150 - shift)
            let text = "<HealthData>\(filling)\(record(source: String(repeating: "&#11;", count: 60) + "x"))</HealthData>"
            let export = ImportedExport(text.utf8)
            #expect(export.error == nil)
            #expect(export.readings.first?.origin.source.name == "x")
        }
    }

    @Test func errorNamesLineOfInvalidXML() {
        let export = ImportedExport("<?xml version=\"1.0\"?>\n\n<HealthData>\n\(record())\n<Record a=b/>\n</HealthData>".utf8)
        #expect(export.readings.count == 1)
        let reason = "not valid XML: not well-formed (invalid token)"
        #expect(export.error == SourceError(.malformed, reason, at: Place(.line, 5)))
        let junk = ImportedExport("<HealthData>\(record())</HealthData><HealthData/>".utf8)
        #expect(junk.readings.count == 1)
        #expect(junk.error?.kind == .malformed)
    }

    @Test func refusesOtherFiles() {
        let cases: [(String, String)] = [
            ("", "there is no element HealthData"), ("time,type\n1,2", "there is no element HealthData"),
            ("<ClinicalDocument/>", "its root element is ClinicalDocument, not HealthData"),
            ("<HealthDataset>", "its root element is HealthDataset, not HealthData"),
            ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><HealthData/>", "an encoding other than UTF-8"),
            ("<!DOCTYPE HealthData [" + String(repeating: "x", count: 1 << 20), "there is no element HealthData"),
        ]
        for (text, reason) in cases {
            let export = ImportedExport(text.utf8)
            #expect(export.events.isEmpty)
            #expect(export.error?.kind == .malformed)
            #expect(export.error?.reason.contains(reason) == true)
        }
        #expect(ImportedExport(path: "/nonexistent/export.xml").error?.kind == .noInput)
        #expect(ImportedExport(path: "/tmp").error?.kind == .noInput)
    }

    @Test func refusesUTF16() {
        let units = Array("\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-16\"?><HealthData/>".utf16)
        let bytes = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(ImportedExport(bytes).error?.reason.contains("UTF-16") == true)
        #expect(bytes.withUnsafeBytes { AppleHealthExport.recognises($0) })
    }

    @Test func boundsAttributesAndMetadata() {
        let long = String(repeating: "x", count: 40_000)
        let many = (0..<100_000).map { entry("k\($0)", "v") }.joined()
        let large = (0..<20).map { entry("k\($0)", String(long.prefix(30_000))) }.joined()
        for content in [record(source: long), record(content: entry("k", long)), record(content: many), record(content: large)] {
            let export = ImportedExport(elements: content + record(value: "61"))
            #expect(export.error == nil)
            #expect(export.refused == ["the record has an attribute of more than 32 KiB or more than 1000 metadata entries"])
            #expect(export.readings.map(\.numeral.text) == ["61"])
        }
    }

    @Test func limitsParserMemory() {
        let cases: [(String, String)] = [
            (String(repeating: "<a>", count: 1000), "elements nest more than 64 deep"),
            (record(content: String(repeating: "<a>", count: 1000)), "elements nest more than 64 deep"),
            ("<Workout x=\"" + String(repeating: "x", count: 3 << 20) + "\"/>", "an element's start is longer than 1 MiB"),
            ((0..<5000).map { "<W a\($0)=\"\"/>" }.joined(), "more than 4096 names of elements and attributes"),
            ((0..<5000).map { "<w\($0)/>" }.joined(), "more than 4096 names of elements and attributes"),
        ]
        for (content, reason) in cases {
            let export = ImportedExport(elements: record() + content)
            #expect(export.readings.first?.numeral.text == "60")
            #expect(export.error?.kind == .malformed)
            #expect(export.error?.reason == reason)
        }
    }

    @Test func rethrowsErrorsOfHandler() throws {
        struct Stop: Error {}
        let source = AppleHealthExportSource(
            try InputFile(path: testFile("apple_health_0.xml").path), received: Instant(seconds: 0))
        var count = 0
        #expect(throws: Stop.self) {
            try source.forEachFrame { _ in
                count += 1
                if count == 3 { throw Stop() }
            }
        }
        #expect(count == 3)
    }

    @Test func recognisesByTheBeginning() throws {
        for name in ["apple_health_0.xml", "apple_health_1.xml", "apple_health_2.xml", "apple_health_0.zip"] {
            let file = try testFile(name)
            #expect(AppleHealthExport.recognises(try InputFile(path: file.path)))
            #expect(file.bytes.prefix(300).withUnsafeBytes { AppleHealthExport.recognises($0) })
        }
        for text in ["", "<", "time,value", "<ClinicalDocument>", "<!DOCTYPE html>", "PK", "{}"] {
            #expect(!Array(text.utf8).withUnsafeBytes { AppleHealthExport.recognises($0) })
        }
    }
}
