import FoundationEssentials
import HealthModel
import Testing

/// An export of the Health app with its folders, written from a store and imported into another, gives the same content.
@Suite struct AppleFoldersTests {
    private static let published = Repository.tests + "/Published/exports/brtkwr"

    private static let others = """
         <Audiogram type="HKDataTypeIdentifierAudiogram" sourceName="Settings" sourceVersion="17" \
        startDate="2024-02-11 10:08:12 +0100" endDate="2024-02-11 10:10:12 +0100">
          <MetadataEntry key="HKDeviceName" value="x"/>
          <SensitivityPoint frequencyValue="250" frequencyUnit="Hz" leftEarValue="5.0" leftEarUnit="dBHL" rightEarValue="8" \
        rightEarUnit="dBHL" leftEarMasked="1" leftEarClampingRangeLowerBound="-10"/>
          <SensitivityPoint frequencyValue="1" frequencyUnit="kHz" leftEarValue="15.0" leftEarUnit="dBHL"/>
         </Audiogram>
         <VisionPrescription type="HKVisionPrescriptionTypeContacts" dateIssued="2024-02-11 00:00:00 +0100" \
        expirationDate="2026-02-11 00:00:00 +0100" brand="B&amp;C">
          <RightEye sphere="-1.25" sphereUnit="D" cylinder="-0.50" cylinderUnit="D" axis="180" axisUnit="deg" baseCurve="8.6" \
        baseCurveUnit="mm"/>
          <LeftEye sphere="-1.50" sphereUnit="D"/>
          <Attachment identifier="A-1"/>
         </VisionPrescription>
         <ClinicalRecord type="Immunization" identifier="imm-1" sourceName="Clinic &amp; Co" sourceURL="https://fhir.example/r4" \
        fhirVersion="4.0.1" receivedDate="2024-02-01 10:00:00 +0000" resourceFilePath="/clinical-records/Immunization-1.json"/>
         <Record type="HKQuantityTypeIdentifierHeartRateVariabilitySDNN" sourceName="Watch" unit="ms" \
        startDate="2024-02-11 08:00:00 +0100" endDate="2024-02-11 08:01:00 +0100" value="42.5">
          <HeartRateVariabilityMetadataList>
           <InstantaneousBeatsPerMinute bpm="66" time="08:00:00.25"/>
           <InstantaneousBeatsPerMinute bpm="70" time="8:00:20,5 AM"/>
          </HeartRateVariabilityMetadataList>
         </Record>
        </HealthData>
        """

    private static let electrocardiogram = """
        Name,Test User
        Recorded Date,2024-06-15 10:30:00 +0200
        Classification,Inconclusive Low Heart Rate
        Symptoms,None
        Software Version,2.0
        Device,"Watch7,12"
        Sample Rate,512.000 Hz
        Lead,Lead I
        Unit,µV

        100.25
        -50
        -50.100
        """

    private static let resource = """
        {"resourceType":"Immunization",  "id":"imm-1","status":"completed","patient":{"reference":"Patient/1"},
         "vaccineCode":{"coding":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94"}]},"doseQuantity":{"value":0.50},
         "occurrenceDateTime":"2012-05-15"}
        """

    /// A person's archive with routes, an electrocardiogram, and data that is only in the export.
    private func archive(in folder: TestFolder) throws -> String {
        let export = String(decoding: try Data(contentsOf: URL(filePath: Self.published + "/export.xml")), as: UTF8.self)
        let whole = export.replacing("</HealthData>", with: Self.others)
        var members = [ZIPFile.Member(name: "apple_health_export/export.xml", Array(whole.utf8))]
        let routes = try FileManager.default.contentsOfDirectory(atPath: Self.published + "/workout-routes")
        for route in routes.sorted() {
            let bytes = Array(try Data(contentsOf: URL(filePath: Self.published + "/workout-routes/" + route)))
            members.append(.init(name: "apple_health_export/workout-routes/" + route, bytes))
        }
        members.append(
            .init(name: "apple_health_export/electrocardiograms/ecg_2024-06-15.csv", Array(Self.electrocardiogram.utf8)))
        members.append(.init(name: "apple_health_export/clinical-records/Immunization-1.json", Array(Self.resource.utf8)))
        return try folder.write("in.zip", ZIPFile(members: members).bytes)
    }

    /// The content of the lines with points, without UUIDs and the data about storage.
    private func reported(_ folder: TestFolder, _ store: String, _ name: String) throws -> [String] {
        #expect(try folder.vitalgate("export", "--to", folder.path(name), store: store).status == 0)
        return folder.text(name).split(separator: "\n").map { line in
            let fields = line.firstMatch(of: /"kind":.*"device":/)?.output ?? ""
            return String(fields).replacing(/"[0-9a-f]{8}-[0-9a-f-]{27}"/, with: "\"object\"")
        }
        .sorted()
    }

    @Test func archiveRoundTrips() throws {
        let folder = try TestFolder()
        let first = try Account(folder.vitalgate("import", archive(in: folder), "--format", "ndjson").last)
        // Five workouts and records, three routes, a record with its beats, ears, eyes, a heart, an immunization.
        #expect(first.stored == 14 && first.skipped.isEmpty)
        let run = try folder.vitalgate("export", "--to", folder.path("back.zip"))
        #expect(run.status == 0 && run.errors.contains("14 samples") && !run.errors.contains("left out"))
        let other = folder.path("other.db")
        let back = try Account(folder.vitalgate("import", folder.path("back.zip"), "--format", "ndjson", store: other).last)
        #expect(back.stored == 14 && back.skipped.isEmpty && back.refused == 0)
        let (here, there) = (try reported(folder, folder.store, "here.ndjson"), try reported(folder, other, "there.ndjson"))
        #expect(here == there)
        #expect(here.count { $0.contains("\"data\":{\"columns\":") } == 5)
        #expect(here.contains { $0.contains("Immunization\\\",  \\\"id\\\"") && $0.contains("0.50") })
        #expect(here.contains { $0.contains("[100.25],[-50],[-50.100]") })
    }

    /// A single XML file contains the locations, and names data that it cannot contain.
    @Test func singleFileContainsRoutes() throws {
        let folder = try TestFolder()
        try folder.vitalgate("import", archive(in: folder))
        let run = try folder.vitalgate("export", "--to", folder.path("back.xml"))
        #expect(run.errors.contains("12 samples"))
        #expect(run.errors.contains("left out: 1 sample: clinicalRecord: it needs a file of its own"))
        #expect(run.errors.contains("left out: 1 sample: electrocardiogram: it needs a file of its own"))
        let other = folder.path("other.db")
        let back = try Account(folder.vitalgate("import", folder.path("back.xml"), "--format", "ndjson", store: other).last)
        #expect(back.stored == 12 && back.skipped.isEmpty && back.refused == 0)
        // Such a route has no name.
        let here = try reported(folder, folder.store, "here.ndjson").filter {
            !$0.contains("\"electrocardiogram\"") && !$0.contains("\"clinicalRecord\"")
        }.map {
            $0.replacing(/,"name":"Route [^"]*"/, with: "")
        }
        #expect(here == (try reported(folder, other, "there.ndjson")))
    }

    /// A route without a workout is a file that nothing refers to. A single XML file cannot contain it.
    @Test func exportsRouteWithoutWorkout() throws {
        let folder = try TestFolder()
        try folder.vitalgate("import", Self.published + "/workout-routes/route_2024-01-15_10.00am.gpx")
        #expect(try folder.vitalgate("export", "--to", folder.path("back.zip")).errors.contains("1 sample"))
        let other = folder.path("other.db")
        #expect(
            try Account(folder.vitalgate("import", folder.path("back.zip"), "--format", "ndjson", store: other).last).stored == 1)
        #expect(try reported(folder, folder.store, "here.ndjson") == reported(folder, other, "there.ndjson"))
        #expect(
            try folder.vitalgate("export", "--to", folder.path("back.xml")).errors.contains("left out: 1 sample: an export.xml"))
    }
}
