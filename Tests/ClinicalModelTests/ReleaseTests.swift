import ClinicalModel
import Testing

/// Of which release a resource is.
@Suite struct ReleaseTests {
    static let procedure = """
        {"resourceType":"Procedure","id":"p","status":"completed","code":{"text":"Lumpectomy"},"subject":{"reference":"Patient/1"}}
        """

    @Test func refusesAmbiguousRelease() throws {
        let outcome = try Outcome(Self.procedure)
        #expect(
            outcome.text.contains("can be of DSTU2 or R4") && outcome.text.contains("--profile fhir-dstu2 or --profile fhir-r4"))
        #expect(try Outcome(Self.procedure, release: .r4).text == "procedureRecord R4")
        #expect(try Outcome(Self.procedure, release: .dstu2).text == "procedureRecord DSTU2")
    }

    @Test func usesReleaseOfEarlierResources() throws {
        #expect(try Outcome(Resources.immunization + "\n" + Self.procedure).text == "immunizationRecord R4 | procedureRecord R4")
        let old = """
            {"resourceType":"MedicationOrder","id":"m","medicationCodeableConcept":{"text":"Ibuprofen"}}
            """
        #expect(try Outcome(old + "\n" + Self.procedure).text == "medicationRecord DSTU2 | procedureRecord DSTU2")
    }

    @Test func missingElementDoesNotDecideRelease() throws {
        // Without elements that DSTU2 requires (an effective time, a performer), it is valid R4. After a DSTU2 resource, it is a damaged
        // DSTU2 resource.
        let report = """
            {"resourceType":"DiagnosticReport","id":"r","status":"final","code":{"text":"Lipids"},"subject":{"reference":"Patient/1"}}
            """
        let old = """
            {"resourceType":"MedicationOrder","id":"m","medicationCodeableConcept":{"text":"Ibuprofen"}}
            """
        #expect(try Outcome(report).text.contains("can be of DSTU2 or R4"))
        #expect(
            try Outcome(old + "\n" + report).text.contains("refused DiagnosticReport.effective[x]: is missing (DSTU2)"))
        #expect(try Outcome(report, release: .r4).text == "labResultRecord R4")
    }

    @Test func validatesAgainstGivenRelease() throws {
        #expect(
            try Outcome(Resources.immunization, release: .dstu2).text
                == "refused Immunization.occurrenceDateTime: is not an element of it (DSTU2)")
    }

    @Test func profileDecidesRelease() throws {
        let profiled = Self.procedure.replacing(
            #""id":"p""#,
            with: #""id":"p","meta":{"profile":["http://hl7.org/fhir/us/core/StructureDefinition/us-core-procedure"]}"#)
        #expect(try Outcome(profiled).text == "procedureRecord R4")
        #expect(FHIRRelease("4.0.1") == .r4 && FHIRRelease("1.0.2") == .dstu2 && FHIRRelease("3.0.2") == nil)
    }
}
