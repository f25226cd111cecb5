import ClinicalModel
import FoundationEssentials
import HealthModel
import Pipeline
import Testing

/// The fields that are read from a valid resource.
@Suite struct RecordTests {
    private func reading(_ text: String) throws -> Reading {
        let outcome = try Outcome(text)
        #expect(outcome.refusals.map(\.reason) == [])
        return try #require(outcome.readings.first)
    }

    // MARK: Names

    /// The vaccine's concept, and the resulting name.
    static let names: [(String, String)] = [
        // A code without names gets CDC's name.
        (#"{"coding":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94"}]}"#, "MMRV"),
        (#"{"coding":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94","display":"Shot"}],"text":"Shot"}"#, "MMRV"),
        // A code that no list has, and no name at all: the type.
        (#"{"coding":[{"system":"http://hl7.org/fhir/sid/cvx","code":"9999"}]}"#, "Immunization"),
        (#"{"coding":[{"display":" "}],"text":" "}"#, "Immunization"),
        // The user's own choice, then the order of systems, then that of the resource.
        (
            #"{"coding":[{"system":"http://snomed.info/sct","display":"A"},{"system":"http://a.b","userSelected":true,"display":"B"}]}"#,
            "B"
        ),
        (#"{"coding":[{"system":"http://a.b","display":"A"},{"system":"http://snomed.info/sct","display":"B"}]}"#, "B"),
        (
            #"{"coding":[{"system":"http://hl7.org/fhir/sid/ndc","display":"FLUZONE"},{"system":"http://snomed.info/sct","display":"B"}]}"#,
            "B"
        ),
        (#"{"coding":[{"system":"http://a.b","display":"A"},{"system":"http://c.d","display":"B"}],"text":"C"}"#, "A"),
        (#"{"coding":[{"system":"http://a.b","code":"1"}],"text":"Flu shot"}"#, "Flu shot"),
        (#"{"text":"Gripp\u00e9 \ud83d\udc89 \"2012\""}"#, "Grippé 💉 \"2012\""),
    ]

    @Test(arguments: names) func theNameIsChosenInOneOrder(concept: String, name: String) throws {
        let old = #"{"coding":[{"system":"http://hl7.org/fhir/sid/cvx","code":"94"}]}"#
        #expect(try reading(Resources.immunization(old, concept)).resource.displayName == name)
    }

    @Test func namesMedicationByReference() throws {
        let request = """
            {"resourceType":"MedicationRequest","status":"active","intent":"order","subject":{"reference":"Patient/1"},\
            "contained":[{"resourceType":"Medication","id":"m","code":{"text":"Nizatidine"}}],"medicationReference":{"reference":"#m"}}
            """
        #expect(try reading(request).resource.displayName == "Nizatidine")
        let display = request.replacing("#m", with: "Medication/m").replacing(
            #""reference":"Medication/m""#, with: #""display":"Axid""#)
        #expect(try reading(display).resource.displayName == "Axid")
    }

    // MARK: Dates, bytes, identity

    @Test func datesAreAsWritten() throws {
        #expect(try reading(Resources.observation).resource.dates == ["effective": "2020-01-01T08:00:00+01:00"])
        #expect(try reading(Resources.immunization("2012-05-15", "2012-05")).resource.dates == ["occurrence": "2012-05"])
        let condition = """
            {"resourceType":"Condition","subject":{"reference":"Patient/1"},"code":{"text":"a"},"recordedDate":"2013",\
            "onsetPeriod":{"start":"2011","end":"2012-01"},"abatementDateTime":"2014-05-05"}
            """
        #expect(
            try reading(condition).resource.dates == [
                "recorded": "2013", "onset": "2011", "onsetEnd": "2012-01", "abatement": "2014-05-05",
            ])
    }

    @Test func preservesDigitsAndBlanks() throws {
        let text = Resources.observation("6.30", " 6.30 ")
        #expect(try reading(text).bytes == Array(text.utf8))
        #expect(String(decoding: try reading(text).bytes, as: UTF8.self).contains("6.30"))
    }

    @Test func bodyEqualsEncodedResource() throws {
        for text in [
            Resources.observation, Resources.immunization,
            Resources.immunization(#""code":"94""#, #""display":"a\"\\\n\u0001/é""#),
        ] {
            let reading = try reading(text)
            let body = try #require(reading.body)
            #expect(Array(body.json) == Array(try SampleBody(encoding: reading.resource).json))
        }
    }

    @Test func theVersionIsWhenItWasUpdated() throws {
        let updated = try reading(Resources.observation)
        #expect(updated.record == RecordIdentifier(id: "Observation/o1", version: 1_577_934_245))
        let nominal = Instant(microseconds: 1_577_934_245_500_000)
        #expect(updated.time == .added(Outcome.now, nominal: nominal))
        let other = try reading(Resources.immunization)
        #expect(other.record == RecordIdentifier(id: "Immunization/imm-1", version: Outcome.now.microseconds / 1_000_000))
    }

    /// The fields that identify the source, and its id.
    @Test func sourceDoesNotDependOnFileName() throws {
        func source(_ text: String) throws -> String { try reading(text).origin.source.id }
        let person = try source(Resources.immunization)
        #expect(person.hasPrefix("fhir/") && person.count == 13)
        #expect(try source(Resources.observation) == person)
        #expect(try source(Resources.immunization("Patient/1", "Patient/2")) != person)
        let meta = Resources.immunization(#""id":"imm-1""#, #""id":"imm-1","meta":{"source":"https://clinic.example#7f"}"#)
        #expect(try source(meta) == "fhir/https://clinic.example")
        let entry = """
            {"resourceType":"Bundle","entry":[{"fullUrl":"https://a.example/r4/Immunization/imm-1","resource":\(Resources.immunization)}]}
            """
        #expect(try source(entry) == "fhir/https://a.example/r4")
        #expect(try reading(entry).resource.sourceURL == "https://a.example/r4/Immunization/imm-1")
    }

    @Test func identifiesByAddressOrHashWithoutId() throws {
        let plain = Resources.immunization(#""id":"imm-1","#, "")
        let one = try reading(plain).resource.identifier
        #expect(one.hasPrefix("sha256-") && one.count == 39)
        #expect(try reading(plain).resource.identifier == one)
        #expect(try reading(plain.replacing("94", with: "21")).resource.identifier != one)
        let entry = """
            {"resourceType":"Bundle","entry":[{"fullUrl":"urn:uuid:1c2d","resource":\(plain)}]}
            """
        #expect(try reading(entry).resource.identifier == "1c2d")
    }

    // MARK: What surrounds it

    @Test func rowColumnsOverrideResource() throws {
        let cells = [
            Resources.immunization, "Clinic", "https://c.example/Immunization/imm-1", "4.0.1", "2020-05-01T10:00:00+02:00", "",
        ]
        let bytes = cells.map { Array($0.utf8) }
        let row = TextRow()
        var readings: [Reading] = []
        let interpreter = ClinicalInterpreter(registry: OriginRegistry(person: "me"))
        let buffers = bytes.map { UnsafeMutableRawBufferPointer.allocate(byteCount: $0.count, alignment: 1) }
        defer { for buffer in buffers { buffer.deallocate() } }
        for (buffer, bytes) in zip(buffers, bytes) { buffer.copyBytes(from: bytes) }
        row.cells = buffers.map { UnsafeRawBufferPointer($0) }
        let frame = RawFrame(payload: .row(row), place: Place(.record, 1), received: Outcome.now, channel: ResourceRow.fhir)
        #expect(try interpreter.interpret(frame, into: &readings) == .readings)
        let reading = try #require(readings.first)
        let added = Instant(seconds: 1_588_320_000)
        #expect(reading.time == .added(added, nominal: added))
        #expect(reading.origin.source == SourceRevision(id: "fhir/Clinic", name: "Clinic"))
        #expect(reading.record?.version == 1_588_320_000)
    }

    @Test func typesWithoutAClinicalTypeAreCountedByName() throws {
        #expect(try Outcome(#"{"resourceType":"Patient","id":"1"}"#).text == "skipped fhir.Patient")
        #expect(try Outcome(Resources.observation("laboratory", "survey")).text == "skipped fhir.Observation.survey")
        #expect(try Outcome(Resources.observation("laboratory", "sdoh")).text == "skipped fhir.Observation.other")
        #expect(try Outcome(Resources.observation("laboratory", "vital-signs")).text == "vitalSignRecord R4")
    }
}
