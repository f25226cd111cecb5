import ClinicalModel
import HealthModel
import Testing

/// The results, references and names that are read from resources. The resources are made up for Vitalgate.
@Suite struct ResultTests {
    private func record(_ text: String) throws -> ClinicalRecord {
        let outcome = try Outcome(text)
        #expect(outcome.refusals.map(\.reason) == [])
        return try #require(outcome.readings.first).resource
    }

    /// An Observation of the laboratory with a value and other members.
    private func result(_ rest: String, category: String = "laboratory") throws -> ClinicalResult? {
        try record(
            """
            {"resourceType":"Observation","id":"o","status":"final","category":[{"coding":[{"system":\
            "http://terminology.hl7.org/CodeSystem/observation-category","code":"\(category)"}]}],"code":{"text":"a test"},\
            "subject":{"reference":"Patient/1"},\(rest)}
            """
        ).result
    }

    @Test func preservesDigitsUnitAndRange() throws {
        let record = try record(
            """
            {"resourceType":"Observation","id":"l-2","meta":{"versionId":"1","lastUpdated":"2026-10-02T09:00:00Z"},"status":"final",\
            "category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory"}]}],\
            "code":{"coding":[{"system":"http://loinc.org","code":"2339-0"}]},"subject":{"reference":"Patient/p-1"},\
            "effectiveDateTime":"2026-10-02","valueQuantity":{"value":88.10,"unit":"mg/dL","system":"http://unitsofmeasure.org",\
            "code":"mg/dL"},"interpretation":[{"coding":[{"code":"N","display":"Normal"}]}],\
            "referenceRange":[{"low":{"value":70,"unit":"mg/dL"},"high":{"value":99,"unit":"mg/dL"}}]}
            """)
        // A code without a text has LOINC's name.
        #expect(record.displayName == "Glucose [Mass/volume] in Blood" && record.date == "2026-10-02")
        #expect(record.result?.text == "88.10 mg/dL" && record.result?.range?.text == "70–99 mg/dL")
        #expect(record.result?.interpretation == ["Normal"] && record.result?.isOutside == false)
        #expect(try record.result?.amount == Amount(Numeral("88.10"), Unit(ucum: "mg/dL")))
    }

    /// The value and its text.
    @Test(arguments: [
        (#""valueQuantity":{"value":5,"comparator":"<","unit":"mg/dL"}"#, "<5 mg/dL"),
        (#""valueQuantity":{"value":1.50e2,"unit":"K/uL"}"#, "1.50e2 K/uL"), (#""valueInteger":3"#, "3"),
        (#""valueString":"5.4""#, "5.4"), (#""valueBoolean":true"#, "true"),
        (#""valueCodeableConcept":{"coding":[{"code":"10828004","display":"Positive"}]}"#, "Positive"),
        (#""valueCodeableConcept":{"text":"Yellow","coding":[{"code":"1"}]}"#, "Yellow"),
        (#""valueRange":{"low":{"value":1,"unit":"mg"},"high":{"value":2,"unit":"mg"}}"#, "1–2 mg"),
        (#""valueRatio":{"numerator":{"value":1},"denominator":{"value":128}}"#, "1 : 128"),
        (#""valueTime":"08:30:00""#, "08:30:00"),
        (#""valuePeriod":{"start":"2026","end":"2027"}"#, "2026–2027"),
        (#""dataAbsentReason":{"coding":[{"code":"not-performed","display":"Not Performed"}]}"#, "absent: Not Performed"),
        (#""valueQuantity":{"unit":"mg/dL"}"#, "-"),
    ]) func valuesOfEachTypeHaveAText(rest: String, text: String) throws {
        let result = try result(rest)
        #expect(result?.text ?? "-" == text)
        #expect((result?.amount != nil) == (rest.contains("1.50e2") || rest.contains("Integer")), "\(rest)")
    }

    @Test func aPanelHasParts() throws {
        let panel = try result(
            """
            "component":[{"code":{"coding":[{"system":"http://loinc.org","code":"8480-6"}]},"valueQuantity":{"value":120,"unit":"mmHg",\
            "system":"http://unitsofmeasure.org","code":"mm[Hg]"}},{"code":{"text":"Diastolic"},"dataAbsentReason":{"text":"not asked"}}]
            """, category: "vital-signs")
        #expect(panel?.amount == nil && panel?.text == "Systolic blood pressure 120 mmHg, Diastolic absent: not asked")
        #expect(panel?.components?.first?.result.amount?.unit?.code == "mm[Hg]")
    }

    @Test func preservesAllReferenceRanges() throws {
        let result = try result(
            """
            "valueQuantity":{"value":120,"unit":"mg/dL"},"referenceRange":[{"high":{"value":99,"unit":"mg/dL"},"type":{"text":"normal"}},\
            {"high":{"value":140,"unit":"mg/dL"},"appliesTo":[{"text":"pregnant"}],"age":{"low":{"value":18,"unit":"a"}}},{"text":"see letter"}]
            """)
        #expect(
            result?.ranges?.map(\.text) == ["≤ 99 mg/dL (normal)", "≤ 140 mg/dL (pregnant, age ≥ 18 a)", "see letter"])
        #expect(result?.range == nil && result?.isOutside == nil)
    }

    @Test func preservesReferences() throws {
        let bundle = """
            {"resourceType":"Bundle","type":"collection","entry":[\
            {"fullUrl":"https://clinic.example.org/fhir/MedicationRequest/m-1","resource":{"resourceType":"MedicationRequest","id":"m-1",\
            "meta":{"lastUpdated":"2026-10-02T09:00:00Z"},"status":"active","intent":"order","medicationReference":{"reference":"Medication/x-1"},\
            "subject":{"reference":"Patient/p-1"},"requester":{"display":"Dr. Bell"},"reasonReference":[{"reference":"Condition/c-1"}],\
            "reasonCode":[{"coding":[{"code":"1","display":"not a reference"}]}]}},\
            {"fullUrl":"https://clinic.example.org/fhir/Medication/x-1","resource":{"resourceType":"Medication","id":"x-1",\
            "code":{"coding":[{"system":"http://www.nlm.nih.gov/research/umls/rxnorm","code":"860975","display":"metformin 500 MG"}]}}},\
            {"resource":{"resourceType":"Practitioner","id":"d","name":[{"family":"Bell","given":["Ada"],"prefix":["Dr."]}]}},\
            {"resource":{"resourceType":"Organization","id":"o","name":"Labor Nord"}},{"resource":{"resourceType":"Location","id":"l","name":"Room 5"}},\
            {"resource":{"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB","display":"ambulatory"}}},\
            {"resource":{"resourceType":"Patient","id":"p-1"}}]}
            """
        let outcome = try Outcome(bundle)
        #expect(outcome.skipped == ["fhir.Patient"] && outcome.refusals.isEmpty)
        #expect(
            outcome.readings.map { "\($0.origin.type.id) \($0.resource.displayName)" } == [
                "medicationRecord MedicationRequest", "referencedRecord metformin 500 MG", "referencedRecord Dr. Ada Bell",
                "referencedRecord Labor Nord", "referencedRecord Room 5", "referencedRecord ambulatory",
            ])
        #expect(
            outcome.readings[0].resource.references == [
                ClinicalReference(element: "medicationReference", reference: "Medication/x-1"),
                ClinicalReference(element: "requester", display: "Dr. Bell"),
                ClinicalReference(element: "reasonReference", reference: "Condition/c-1"),
            ])
        #expect(outcome.readings[0].origin.source.id == outcome.readings[1].origin.source.id)
        // Without a source, two clinics may use the same id.
        #expect(outcome.readings[2].record?.id.hasPrefix("Practitioner/d/sha256-") == true)
        #expect(outcome.readings[1].record?.id == "Medication/x-1")
    }

    @Test func referencesInPartsAndWithinAreFound() throws {
        let references = try record(
            """
            {"resourceType":"Immunization","id":"i","status":"completed","vaccineCode":{"text":"a"},"patient":{"reference":"Patient/1"},\
            "occurrenceDateTime":"2012","contained":[{"resourceType":"Organization","id":"o","name":"Serum Ltd"}],\
            "manufacturer":{"reference":"#o"},"performer":[{"actor":{"reference":"Practitioner/2"}}]}
            """
        ).references
        #expect(
            references == [
                ClinicalReference(element: "manufacturer", reference: "#o", display: "Serum Ltd"),
                ClinicalReference(element: "performer.actor", reference: "Practitioner/2"),
            ])
    }
}
