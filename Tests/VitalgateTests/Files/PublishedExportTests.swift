import FoundationEssentials
import HealthModel
import Testing

/// Apple Health exports, and parts of them, that others have published for their own tests (`Published/SOURCE.tsv` names them). Each is
/// read completely or refused with a reason, and everything in it is counted.
@Suite struct PublishedExportTests {
    private static let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { $0 + "/" + $1 } + "/Published/exports"

    /// What becomes of a file.
    struct Expected: Sendable {
        var stored = 0
        var quarantined = 0
        var refused = 0
        var skipped: [String: Int] = [:]
        /// Not an export.
        var isForeign = false
        var reason = "no profile reads this file"
        static let foreign = Expected(isForeign: true)
    }

    static let files: [String: Expected] = [
        "alxdrcirilo-export.xml": .init(stored: 8),
        "brtkwr/export.xml": .init(stored: 8),
        "dogsheep-export.xml": .init(stored: 6),
        "dogsheep-zip/export.xml": .init(stored: 6),
        "michellepellon-sample_export.xml": .init(stored: 14, quarantined: 1),
        // The same samples again.
        "ruochenlyu-minimal-export/export_cda.xml": .init(skipped: ["exportCDA": 1]),
        "ruochenlyu-minimal-export/mojibake-name.xml": .init(stored: 1),
        "ruochenlyu-partial-sleep-export/export.xml": .init(stored: 6),
        "tagbug-example.xml": .init(stored: 4),
        "literals/alexisbeaulieu97-conftest-L16.xml": .init(stored: 6),
        // Fragments of a Record without the document around it.
        "literals/jdecool-HKQuantityTypeIdentifierActiveEnergyBurnedTest-L21.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierBasalEnergyBurnedTest-L21.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierDistanceWalkingRunningTest-L22.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierFlightsClimbedTest-L21.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierHeartRateVariabilitySDNNTest-L22.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierRestingHeartRateTest-L21.xml": .foreign,
        "literals/jdecool-HKQuantityTypeIdentifierVO2MaxTest-L22.xml": .foreign,
        "literals/rinoshiyo-test_incremental_reimport-L405.xml": .foreign,
        // It ends in the middle.
        "literals/rinoshiyo-generate-L149.xml": .init(refused: 1),
        "literals/rinoshiyo-test_incremental_reimport-L765.xml": .init(stored: 2),
        "literals/rinoshiyo-test_xml-L153.xml": .init(stored: 1),
        // The files of these routes were not published.
        "literals/rinoshiyo-test_xml-L184.xml": .init(stored: 1, refused: 1),
        // A heart rate with single beats. In the first, their times are invalid.
        "literals/rinoshiyo-test_xml-L245.xml": .init(stored: 1, skipped: ["InstantaneousBeatsPerMinute": 4]),
        "literals/rinoshiyo-test_xml-L311.xml": .init(stored: 2),
        "literals/rinoshiyo-test_xml-L353.xml": .init(stored: 2),
        "literals/rinoshiyo-test_xml-L426.xml": .init(stored: 2),
        "literals/rinoshiyo-test_xml-L504.xml": .init(stored: 3),
        "literals/rinoshiyo-test_xml-L537.xml": .init(stored: 1, refused: 1),
        "literals/rinoshiyo-test_xml-L581.xml": .init(stored: 12, refused: 2),
        "literals/rinoshiyo-test_xml-L694.xml": .init(stored: 2),
        "literals/rinoshiyo-test_xml-L72.xml": .init(stored: 6, refused: 1),
        "literals/rinoshiyo-test_xml-L850.xml": .init(stored: 1),
        // No published export contains a state of mind. These make it a category, with unknown cases.
        "literals/rinoshiyo-test_xml_state_of_mind-L121.xml": .init(quarantined: 1),
        "literals/rinoshiyo-test_xml_state_of_mind-L158.xml": .init(quarantined: 1),
        "literals/rinoshiyo-test_xml_state_of_mind-L206.xml": .init(stored: 1),
        "literals/rinoshiyo-test_xml_state_of_mind-L38.xml": .init(quarantined: 1),
        "literals/rinoshiyo-test_xml_state_of_mind-L81.xml": .init(quarantined: 1),
        "literals/tagbug-test_cli_visualize_commands-L350.xml": .init(refused: 1),
        "literals/tagbug-test_xml_parser-L22.xml": .init(stored: 5),
        "literals/tagbug-test_xml_parser-L265.xml": .init(refused: 3),
        "literals/tagbug-test_xml_parser-L323.xml": .init(refused: 1),
        "literals/tagbug-test_xml_parser-L371.xml": .init(stored: 1),
        // Routes and an electrocardiogram by themselves.
        "brtkwr/workout-routes/route_2024-01-15_10.00am.gpx": .init(stored: 1),
        "brtkwr/workout-routes/route_2024-01-16_1.15pm.gpx": .init(stored: 1),
        "brtkwr/workout-routes/route_2024-02-10_10.00am.gpx": .init(stored: 1),
        "dogsheep-zip/workout-routes/route_2019-06-11_3.00pm.gpx": .init(stored: 1),
        // A location without a latitude is refused on its own. A track has no locations.
        "literals/rinoshiyo-test_gpx-L116.gpx": .init(stored: 1, refused: 1),
        "literals/rinoshiyo-test_gpx-L236.gpx": .init(refused: 1),
        "literals/rinoshiyo-test_gpx-L299.gpx": .init(stored: 1),
        "literals/rinoshiyo-test_gpx-L56.gpx": .init(stored: 1),
        "literals/rinoshiyo-test_incremental_reimport-L91.gpx": .init(stored: 1),
        "literals/vpetersson-gpx-L245.gpx": .init(stored: 1),
        "literals/vpetersson-ecg-L160.csv": .init(stored: 1),
        "literals/vpetersson-mod-L6.xml": .init(stored: 6, refused: 1),
    ]

    @Test func noFileIsForgotten() throws {
        let all = try FileManager.default.subpathsOfDirectory(atPath: Self.folder).filter { path in
            [".xml", ".gpx", ".csv"].contains { path.hasSuffix($0) }
        }
        #expect(Set(all) == Set(Self.files.keys))
    }

    @Test(arguments: files.keys.sorted()) func accountsForPublishedExport(file: String) throws {
        let folder = try TestFolder()
        let expected = try #require(Self.files[file])
        let path = "\(Self.folder)/\(file)"
        let run = try folder.vitalgate("import", path, "--time-zone", "UTC", "--format", "ndjson")
        if expected.isForeign {
            #expect(run.status == 65 && run.errors.contains(expected.reason))
            return
        }
        let account = try Account(run.last)
        #expect(account.addsUp)
        #expect(account.stored == expected.stored && account.quarantined == expected.quarantined)
        #expect(account.refused == expected.refused && account.duplicate == 0)
        #expect(account.skipped == expected.skipped)
        #expect(run.status == (expected.refused + expected.quarantined > 0 ? 65 : 0), "\(run.errors)")
        // Each record with a category is a sample of it, or reported as none.
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let named = text.split(separator: "type=\"HKCategoryTypeIdentifier").count - 1
        let categories = try folder.vitalgate("query", "all", "--kind", "category", "--format", "ndjson").objects()
        #expect(
            named == categories.count + (file.contains("parser-L265") ? 1 : 0)
                + (file.contains("state_of_mind") ? account.quarantined : 0))
        for line in categories {
            let type = try #require(line["type"].text.flatMap { SampleType($0) })
            #expect(line["case"].text == line["value"].integer.flatMap { type.categoryValues?.name(of: $0) })
        }
        // Again, and nothing is new. An export of the store has as many samples of each type when it is imported.
        #expect(try Account(folder.vitalgate("import", path, "--time-zone", "UTC", "--format", "ndjson").last).stored == 0)
        if account.stored > 0 { #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n") }
        let lines = try folder.vitalgate("query", "all", "--format", "ndjson").lines
        let written = lines.filter { line in !Self.isUnwritten(line) }
        guard !written.isEmpty else { return }
        #expect(try folder.vitalgate("export", "--to", folder.path("back.xml")).status == 0)
        let other = folder.path("other.db")
        let back = try folder.vitalgate(
            "import", folder.path("back.xml"), "--time-zone", "UTC", "--format", "ndjson", store: other)
        #expect(try Account(back.last).stored == written.count)
        // From its kind to its start, but for the UUIDs of what belongs to it.
        func reported(_ store: String) throws -> [String] {
            let lines = try folder.vitalgate("query", "all", "--format", "ndjson", store: store).lines
            return try lines.filter { line in !Self.isUnwritten(line) }.map { line in
                // Such a route has no name either.
                let line = line.replacing(/"routes":\[[^\]]*\]|,"name":"Route [^"]*"/, with: "")
                let fields = try #require(line.firstMatch(of: /"kind":.*"zone":/)).output
                return String(fields).replacing(/"[0-9a-f]{8}-[0-9a-f-]{27}"/, with: "\"object\"")
            }
            .sorted()
        }
        #expect(try reported(other) == reported(folder.store))
    }

    /// Each folder as the archive of a phone, with its routes before or after the export, and an electrocardiogram.
    @Test(arguments: ["brtkwr", "dogsheep-zip"], [true, false]) func importsExportAsArchive(name: String, filesFirst: Bool) throws
    {
        let folder = try TestFolder()
        let root = "\(Self.folder)/\(name)"
        func member(_ path: String, _ name: String) throws -> ZIPFile.Member {
            ZIPFile.Member(name: "apple_health_export/" + name, Array(try Data(contentsOf: URL(filePath: path))))
        }
        var members = try FileManager.default.contentsOfDirectory(atPath: root + "/workout-routes").sorted().map {
            try member("\(root)/workout-routes/\($0)", "workout-routes/\($0)")
        }
        members.append(try member("\(Self.folder)/literals/vpetersson-ecg-L160.csv", "electrocardiograms/ecg_2024-06-15.csv"))
        members.append(try member("\(Self.folder)/ruochenlyu-minimal-export/export_cda.xml", "export_cda.xml"))
        let export = try member(root + "/export.xml", "导出.xml")
        let archive = try folder.write("export.zip", ZIPFile(members: filesFirst ? members + [export] : [export] + members).bytes)
        let run = try folder.vitalgate("import", archive, "--format", "ndjson")
        let account = try Account(run.last)
        let expected = try #require(Self.files[name + "/export.xml"])
        #expect(run.status == 0 && account.addsUp && account.refused == 0)
        #expect(account.skipped == expected.skipped.merging(["file.xml": 1]) { $0 + $1 })
        #expect(account.stored == expected.stored + 1)
        // The same as from the folder itself, with the routes beside the export.
        #expect(
            try Account(folder.vitalgate("import", root + "/export.xml", "--format", "ndjson").last).duplicate == expected.stored)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }

    /// Archives that others made to break an importer (`Tests/FileSourceTests/Files/hostile`): an export without a root element is refused, one
    /// without records is read and has none.
    @Test(arguments: [("rinoshiyo-x4-3-multi-empty-xml.zip", 1), ("rinoshiyo-x4-5-original.zip", 0)])
    func hostileArchive(name: String, refused: Int) throws {
        let folder = try TestFolder()
        let path =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/FileSourceTests/Files/hostile/" + name
        let account = try Account(folder.vitalgate("import", path, "--format", "ndjson").last)
        #expect(account.addsUp && account.stored == 0 && account.refused == refused && account.skipped == [:])
    }

    /// Data that a single `export.xml` cannot contain: separate files, routes without a workout, beats of records other than variability.
    private static func isUnwritten(_ line: String) -> Bool {
        ["electrocardiogram", "clinicalRecord", "heartbeatSeries"].contains { line.contains("\"kind\":\"\($0)\"") }
            || line.contains("\"workout\":null")
    }
}
