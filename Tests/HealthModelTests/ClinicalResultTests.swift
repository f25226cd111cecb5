import Testing

@testable import HealthModel

/// The results of health records, in words, in conditions, and in the order of queries.
@Suite struct ClinicalResultTests {
    private typealias Quantity = ClinicalResult.Quantity
    private typealias Range = ClinicalResult.ReferenceRange

    private static func lab(
        _ quantity: Quantity?, words: String? = nil, ranges: [Range]? = nil, date: String = "2026-10-02",
        components: [ClinicalResult.Component]? = nil, interpretation: [String]? = nil, code: String = "2339-0"
    ) throws -> Sample {
        try ObjectPredicateTests.sample(
            "labResultRecord",
            ClinicalRecord(
                displayName: "Glucose", resourceType: "Observation", identifier: "l", version: "R4", dates: ["effective": date],
                codes: [Coding(system: "http://loinc.org", code: code)],
                result: ClinicalResult(
                    quantity: quantity, words: words, interpretation: interpretation, ranges: ranges, components: components),
                references: [ClinicalReference(element: "performer", reference: "Organization/o", display: "Labor Nord")]))
    }

    private static func milligrams(_ value: String, _ comparator: String? = nil) -> Quantity {
        Quantity(value: value, comparator: comparator, unit: "mg/dL", code: "mg/dL")
    }

    @Test func aResultIsReadAsAText() throws {
        let part = ClinicalResult.Component(
            name: "Systolic", codes: [], result: ClinicalResult(quantity: Quantity(value: "120", unit: "mmHg", code: "mm[Hg]")))
        let empty = ClinicalResult.Component(name: "Diastolic", codes: [], result: ClinicalResult(absent: "Unknown"))
        let cases: [(ClinicalResult, String?, number: String?)] = [
            (ClinicalResult(quantity: Self.milligrams("88.10")), "88.10 mg/dL", "88.10"),
            (ClinicalResult(quantity: Self.milligrams("5", "<")), "<5 mg/dL", nil),
            (ClinicalResult(quantity: Quantity(value: "3")), "3", "3"),
            (ClinicalResult(words: "positive"), "positive", nil),
            (ClinicalResult(absent: "Not Performed"), "absent: Not Performed", nil),
            (ClinicalResult(components: [part, empty]), "Systolic 120 mmHg, Diastolic absent: Unknown", nil),
            (ClinicalResult(notes: ["Fasting"]), nil, nil),
        ]
        for (result, text, number) in cases {
            #expect(result.text == text && result.amount?.numeral.text == number)
        }
    }

    @Test func appliesOnlyRange() throws {
        let typical = Range(low: Self.milligrams("70"), high: Self.milligrams("99"))
        func isOutside(_ value: Quantity, _ ranges: [Range]) -> Bool? {
            ClinicalResult(quantity: value, ranges: ranges).isOutside
        }
        #expect(isOutside(Self.milligrams("88.10"), [typical]) == false && isOutside(Self.milligrams("99.1"), [typical]) == true)
        #expect(isOutside(Self.milligrams("88"), [Range(high: Self.milligrams("60"))]) == true)
        // The unit of a bound may be missing or another one.
        #expect(isOutside(Self.milligrams("88"), [Range(low: Quantity(value: "90"))]) == true)
        #expect(isOutside(Self.milligrams("88"), [Range(high: Quantity(value: "0.9", unit: "g/L", code: "g/L"))]) == false)
        #expect(isOutside(Self.milligrams("88"), [Range(high: Quantity(value: "9", unit: "kg", code: "kg"))]) == nil)
        // Several ranges, a limit, and words decide nothing.
        #expect(
            isOutside(Self.milligrams("120"), [typical, Range(high: Self.milligrams("140"), appliesTo: ["pregnant"])]) == nil)
        #expect(
            isOutside(Self.milligrams("5", "<"), [typical]) == nil
                && isOutside(Self.milligrams("5"), [Range(words: "low")]) == nil)
        #expect(
            typical.text == "70–99 mg/dL"
                && Range(low: Self.milligrams("70"), appliesTo: ["Female", "Adult"]).text == "≥ 70 mg/dL (Female, Adult)")
        #expect(Range(words: "negative").text == "negative")
    }

    @Test func conditionsAndOrderUseTheResult() throws {
        let one = try Self.lab(
            Self.milligrams("88.10"), ranges: [Range(low: Self.milligrams("70"), high: Self.milligrams("99"))],
            interpretation: ["Normal"])
        let limit = try Self.lab(Self.milligrams("5", "<"))
        let words = try Self.lab(nil, words: "positive", date: "2026-09")
        let local = try Self.lab(Quantity(value: "7", unit: "K/uL"), code: "26515-7")
        let pulse = try ObjectPredicateTests.sample("heartRate", number: Numeral(coefficient: 60))
        let cases: [(String, [Bool])] = [
            ("value > 50 mg/dL", [true, false, false, false, false]), ("value > 100 mg/dL", [false, false, false, false, false]),
            ("value = 88.1 mg/dL", [true, false, false, false, false]), ("value > 0.5 g/L", [true, false, false, false, false]),
            // By the molar mass of glucose, which the LOINC code names.
            ("value > 4.8 mmol/L and value < 5 mmol/L", [true, false, false, false, false]),
            ("value < 1000 kg", [false, false, false, false, false]), ("value > 5", [true, false, false, true, true]),
            ("code.loinc = 2339-0 and value > 50 mg/dL", [true, false, false, false, false]),
            ("value = *", [true, false, false, true, true]),
            ("result ~ positive", [false, false, true, false, false]),
            ("result = '<5 mg/dL'", [false, true, false, false, false]),
            ("interpretation = Normal", [true, false, false, false, false]),
            ("outOfRange = false", [true, false, false, false, false]),
            ("date = 2026-10-02", [true, true, false, true, false]), ("date < 2026-10", [false, false, true, false, false]),
            ("reference ~ Nord", [true, true, true, true, false]),
        ]
        for (text, answers) in cases {
            let condition = try SamplePredicate(text)
            #expect([one, limit, words, local, pulse].map { condition.matches($0) } == answers, "\(text)")
            for (sample, answer) in zip([one, limit, words, local, pulse], answers) {
                #expect(PredicatePlanTests.finds(sample, by: condition) == answer, "\(text) by its plan")
            }
        }
        #expect(SampleOrder(.value).key(of: one) == .number(88.1) && SampleOrder(.value).key(of: limit) == .missing)
        let lab = try #require(SampleType("labResultRecord"))
        try SamplePredicate("value > 50 [foz_us]").check(for: [lab, .heartRate])
        #expect(throws: UnitError.self) { try SamplePredicate("value > 50 kg").check(for: [.heartRate]) }
    }
}
