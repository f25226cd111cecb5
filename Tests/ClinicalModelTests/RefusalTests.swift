import Testing

/// Refused input, with the path of the error and never a value.
@Suite struct RefusalTests {
    /// A part of the immunization, its replacement, and the reason.
    static let structure: [(String, String, String)] = [
        (#""vaccineCode":"#, #""vaccinecode":"#, "Immunization.vaccinecode: is not an element of it (R4)"),
        (#""status":"completed","#, "", "Immunization.status: is missing (R4)"),
        (#""completed""#, #""done""#, "Immunization.status: is not a code of its list (R4)"),
        (#""completed""#, "1", "Immunization.status: is not a text (R4)"),
        (
            #""2012-05-15""#, #""2012-02-30""#,
            "Immunization.occurrenceDateTime: is not a date, or a time with a zone (R4)"
        ),
        (
            #""2012-05-15""#, #""2012-05-15T08:00:00""#,
            "Immunization.occurrenceDateTime: is not a date, or a time with a zone (R4)"
        ),
        (
            #""Patient/1""#, #""Peter""#,
            "Immunization.patient.reference: is not a reference (Type/id, Type?query, #id or a URI) (R4)"
        ),
        (#""Patient/1""#, #""Device?identifier=1""#, "Immunization.patient.reference: refers to a resource of another type (R4)"),
        (
            #""Patient/1""#, #""Patient?""#,
            "Immunization.patient.reference: is not a reference (Type/id, Type?query, #id or a URI) (R4)"
        ),
        (#""Patient/1""#, #""Device/1""#, "Immunization.patient.reference: refers to a resource of another type (R4)"),
        (
            #""Patient/1""#, ##""#p""##,
            "Immunization.patient.reference: refers to a contained resource that is not there (R4)"
        ),
        (#"{"reference":"Patient/1"}"#, "[]", "Immunization.patient: is not an object (R4)"),
        (#"{"reference":"Patient/1"}"#, "{}", "Immunization.patient: is empty (R4)"),
        (#""code":"94""#, #""code":"""#, "Immunization.vaccineCode.coding[0].code: is empty (R4)"),
        (#""code":"94""#, #""code":" 94""#, "Immunization.vaccineCode.coding[0].code: is not a code (R4)"),
        (
            #""code":"94""#, #""userSelected":"yes""#,
            "Immunization.vaccineCode.coding[0].userSelected: is not true or false (R4)"
        ),
        (
            #""id":"imm-1""#, #""id":"imm-1","extension":[{"url":"http://a.b/c"}]"#,
            "Immunization.extension[0]: has neither a value nor extensions (R4)"
        ),
        (
            #""id":"imm-1""#, #""id":"imm-1","extension":[{"valueString":"a"}]"#,
            "Immunization.extension[0].url: is missing (R4)"
        ),
        (
            #""id":"imm-1""#, #""id":"imm-1","occurrenceString":"in May""#,
            "Immunization.occurrence[x]: is present in two types (R4)"
        ),
        (
            #""id":"imm-1""#, #""id":"imm-1","contained":[{"resourceType":"Nothing","id":"a"}]"#,
            "Immunization.contained[0].resourceType: is not a resource type of FHIR (R4)"
        ),
        (#""id":"imm-1""#, #""id":"imm 1""#, "Immunization.id: is not an id of letters, digits, - and . (R4)"),
        (
            #""id":"imm-1""#, #""id":"1","meta":{"lastUpdated":"2020-01-01"}"#,
            "Immunization.meta.lastUpdated: is not an instant (YYYY-MM-DDThh:mm:ss with a zone) (R4)"
        ),
        (
            #""id":"imm-1""#, #""id":"1","meta":{"lastUpdated":"2030-01-01T00:00:00Z"}"#,
            "Immunization.meta.lastUpdated: is in the future"
        ),
        (#""Immunization""#, #""Imunization""#, "resourceType: is not a resource type of FHIR"),
        (#""resourceType":"Immunization","#, "", "resourceType: is missing"),
    ]

    @Test(arguments: structure) func structureIsCompared(old: String, new: String, reason: String) throws {
        let outcome = try Outcome(Resources.immunization(old, new))
        #expect(outcome.text == "refused \(reason)")
    }

    /// The same for invalid JSON, and for JSON that is not a resource.
    static let json: [(String, String, String)] = [
        ("6.30", "6.", "Observation.valueQuantity.value: a number has no digit after its point (byte +2)"),
        ("6.30", "NaN", "Observation.valueQuantity.value: it is not JSON (byte +0)"),
        ("6.30", "Infinity", "Observation.valueQuantity.value: it is not JSON (byte +0)"),
        ("6.30", "06.3", "Observation.valueQuantity.value: it is not JSON (byte +0)"),
        ("6.30", "+6", "Observation.valueQuantity.value: it is not JSON (byte +0)"),
        ("6.30", "1e", "Observation.valueQuantity.value: a number has no digit in its exponent (byte +2)"),
        (
            "6.30", "1" + String(repeating: "0", count: 200),
            "Observation.valueQuantity.value: has more than 128 digits (R4)"
        ),
        ("6.30", "6.3,\"value\":6.3", "Observation.valueQuantity.value: occurs twice in one object (byte +11)"),
        ("6.30", "6.3,\"v\\u0061lue\":6.3", "Observation.valueQuantity: a name is written with an escape (byte +16)"),
        ("6.30", "\"6.30\"", "Observation.valueQuantity.value: is not a number (R4)"),
        ("Potassium", "Potas\u{1}sium", "Observation.code.coding[0].display: a text contains a control character (byte +5)"),
        ("Potassium", "\\ud800", "Observation.code.coding[0].display: a text has half a character (byte +0)"),
        ("Potassium", "\\x", "Observation.code.coding[0].display: a text has an escape that JSON does not know (byte +0)"),
        (
            "6.30", String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000),
            "Observation.valueQuantity.value" + String(repeating: "[0]", count: 62)
                + ": it is nested more than 64 levels deep (byte +62)"
        ),
    ]

    @Test(arguments: json) func jsonErrorsNamePlace(old: String, new: String, reason: String) throws {
        let outcome = try Outcome(Resources.observation(old, new))
        // The reason counts from the piece that was changed.
        let text = Resources.observation
        let start = text.utf8.distance(from: text.startIndex, to: try #require(text.firstRange(of: old)).lowerBound)
        var expected = reason
        for offset in 0...100 where reason.contains("(byte +\(offset))") {
            expected = reason.replacing("+\(offset)", with: "\(start + offset)")
        }
        #expect(outcome.text == "refused \(expected)")
    }

    @Test func refusesInvalidUTF8() throws {
        let bytes = Array(Resources.observation.utf8)
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "P")))
        for wrong: UInt8 in [0xFF, 0xC0, 0xED, 0x80] {
            var changed = bytes
            changed[place] = wrong
            let outcome = try Outcome(changed)
            #expect(outcome.readings.isEmpty && outcome.refusals.map(\.reason) == ["it is not UTF-8 (byte \(place))"])
        }
    }

    @Test func aNameTwiceAmongManyIsFound() throws {
        let names = (0..<200).map { "\"n\($0)\":1" } + ["\"n7\":2"]
        let outcome = try Outcome("{\"resourceType\":\"Patient\",\"a\":{\(names.joined(separator: ","))}}")
        #expect(outcome.readings.isEmpty && outcome.refusals.count == 1)
        #expect(outcome.refusals.first?.reason.contains("an object has the same name twice") == true)
    }

    @Test func tooManyValuesAreRefused() throws {
        let zeros = Array(repeating: "0", count: 300_000).joined(separator: ",")
        let outcome = try Outcome("{\"resourceType\":\"Patient\",\"a\":[\(zeros)]}")
        #expect(outcome.refusals.first?.reason.contains("it has more than 200000 values") == true)
    }

    @Test func readsSelfReferenceOnce() throws {
        let outcome = try Outcome(
            Resources.observation(#""subject""#, #""hasMember":[{"reference":"Observation/o1"}],"subject""#))
        #expect(outcome.readings.count == 1 && outcome.refusals.isEmpty)
    }

    @Test func reasonsContainNoValues() throws {
        let outcome = try Outcome(
            Resources.immunization("completed", "SECRET") + "\n" + Resources.immunization("Patient/1", "SECRET"))
        #expect(outcome.refusals.count == 2)
        for refusal in outcome.refusals { #expect(!refusal.reason.contains("SECRET")) }
    }
}
