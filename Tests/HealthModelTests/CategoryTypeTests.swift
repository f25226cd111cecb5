import Testing

@testable import HealthModel

/// Category types and their values match the facts, row by row.
@Suite struct CategoryTypeTests {
    private static func facts() throws -> [[String: String]] { try TestFile.csv("Facts/category-types.csv") }

    @Test func rowsMatchFacts() throws {
        let facts = try Self.facts()
        #expect(facts.count == 272)
        for fact in facts {
            let identifier = try #require(fact["identifier"])
            let type = try #require(SampleType(identifier), "\(identifier)")
            let (name, raw) = try (#require(fact["case"]), #require(fact["raw"].flatMap { Int($0) }))
            #expect(type.healthKitIdentifier == identifier && type.kind == .category && type.isKnown)
            #expect(SampleType(type.id) == type)
            #expect(type.since == "iOS \(fact["first_ios"] ?? "")")
            #expect(type.categoryValues?.value(of: name) == raw, "\(identifier) \(name)")
            #expect(type.categoryValues?.name(of: raw) != nil)
        }
        // No other values exist.
        #expect(
            Set(SampleType.all.filter { $0.kind == .category }.map(\.healthKitIdentifier)) == Set(facts.map { $0["identifier"] }))
        for type in SampleType.all where type.kind == .category {
            let raws = Set(
                facts.filter { $0["identifier"] == type.healthKitIdentifier }.compactMap { $0["raw"].flatMap { Int($0) } })
            #expect(type.categoryValues.map { Set($0.cases.map(\.value)) } == raws, "\(type)")
        }
    }

    @Test func categoryNamesRoundTrip() throws {
        let sleep = try #require(SampleType("sleepAnalysis")?.categoryValues)
        #expect(sleep.cases.map(\.name) == ["inBed", "asleepUnspecified", "awake", "asleepCore", "asleepDeep", "asleepREM"])
        #expect(sleep.constant(of: 1) == "HKCategoryValueSleepAnalysisAsleepUnspecified")
        #expect(SampleType("menstrualFlow")?.categoryValues?.constant(of: 4) == "HKCategoryValueVaginalBleedingHeavy")
        #expect(SampleType("mindfulSession")?.categoryValues?.constant(of: 0) == "HKCategoryValueNotApplicable")
        #expect(sleep.constant(of: 6) == nil)
        // Values can be read back after writing.
        for type in SampleType.all {
            for each in type.categoryValues?.cases ?? [] {
                #expect(
                    type.categoryValues?.constant(of: each.value).flatMap { type.categoryValues?.value(of: $0) } == each.value)
            }
        }
    }

    /// One id is one type, whatever its kind, because a series has no other name.
    @Test func idsAreOfOneKind() {
        #expect(Set(SampleType.all.map(\.id)).count == SampleType.all.count)
    }

    @Test func unknownCategoryTypes() throws {
        #expect(SampleType("ofTheFuture2031") == nil)
        let type = try #require(SampleType(category: "HKCategoryTypeIdentifierOfTheFuture2031"))
        #expect(type.id == "ofTheFuture2031" && type.healthKitIdentifier == "HKCategoryTypeIdentifierOfTheFuture2031")
        #expect(!type.isKnown && type.kind == .category && type.categoryValues == nil)
        // From now on it has a name.
        #expect(SampleType("ofTheFuture2031") == type)
        #expect(SampleType("HKCategoryTypeIdentifierOfTheFuture2031") == type)
        #expect(SampleType("ofTheFuture2031", kind: .category) == type)
        #expect(SampleType("ofTheFuture2031", kind: .quantity) == nil)
        #expect(SampleType(category: "heartRate") == nil, "another kind's")
        for none in ["", "HKCategoryTypeIdentifier", "a b", "a\"b", "7days", String(repeating: "a", count: 101), "ä"] {
            #expect(SampleType(category: none) == nil)
        }
    }

    @Test func numbersOfCasesAreNoAmounts() throws {
        let type = try #require(SampleType("sleepAnalysis"))
        #expect(try type.conversion(from: .one).isIdentity)
        for unit in ["%", "min", "1{steps}"] {
            #expect(throws: UnitError.self) { try type.conversion(from: Unit(ucum: unit)) }
        }
    }
}
