import FoundationEssentials
import Testing

/// Categories of a newer phone. The export is made up for Vitalgate.
@Suite struct UnknownCaseTests {
    private static func export(_ state: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <HealthData locale="en_DE">
         <ExportDate value="2026-11-21 09:00:00 +0100"/>
         <Record type="HKCategoryTypeIdentifierMenopausalState" sourceName="Phone" startDate="2026-11-19 10:00:00 +0100" endDate="2026-11-19 10:00:00 +0100" value="HKCategoryValueMenopausalState\(state)"/>
         <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" startDate="2026-11-19 17:30:00 +0100" endDate="2026-11-19 18:10:00 +0100" value="2410"/>
        </HealthData>

        """
    }

    @Test func aCaseOfIOS27IsRead() throws {
        let folder = try TestFolder()
        #expect(try folder.vitalgate("import", try folder.write("export.xml", Self.export("Perimenopause"))).status == 0)
        let line = try folder.vitalgate("query", "menopausalState", "--format", "ndjson").last
        #expect(
            line.contains(#""case":"perimenopause","start":"2026-11-19T09:00:00.000000Z","end":"2026-11-19T09:00:00.000000Z""#))
    }

    @Test func showsUnknownCaseAsReceived() throws {
        let folder = try TestFolder()
        let run = try folder.vitalgate("import", try folder.write("export.xml", Self.export("OfTheFuture")))
        #expect(run.status == 65 && run.errors.contains("1 reading quarantined as unknown"), "\(run.errors)")
        let table = try folder.vitalgate("quarantine", "list").output
        #expect(table.contains("HKCategoryValueMenopausalStateOfTheFuture") && !table.contains(" -1 "), "\(table)")
        let page = try folder.vitalgate("quarantine", "show", "1").output
        #expect(page.contains("received: HKCategoryValueMenopausalStateOfTheFuture"), "\(page)")
        #expect(try folder.vitalgate("query", "stepCount", "--format", "ndjson").lines.count == 1)
    }
}
