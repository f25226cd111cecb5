import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import Testing

@testable import HealthPage

/// The page's languages.
@Suite struct PageTextsTests {
    /// Each language has each text of the others, with the same placeholders, and a name of each type and of its cases. The
    /// English names are in the catalogue.
    @Test func languagesHaveTheSameTexts() throws {
        let languages = try PageFiles.read(texts: PageTests.folder)
        #expect(languages.keys.sorted() == ["de", "en"])
        let english = try #require(languages["en"])
        let cases = SampleType.all.flatMap { $0.categoryValues?.cases ?? [] }.map { "case." + $0.name }
        let types = Set(SampleType.all.map { "type." + $0.id } + cases)
        #expect(types.count > 300 && types.isDisjoint(with: english.keys))
        for (name, texts) in languages {
            let missing = Set(texts.keys).symmetricDifference(name == "en" ? Set(english.keys) : types.union(english.keys))
            #expect(missing.isEmpty, "\(name): \(missing.sorted())")
            for (key, text) in texts {
                #expect(Self.placeholders(text) == Self.placeholders(english[key] ?? ""), "\(name): \(key)")
            }
        }
    }

    /// Reasons of the quarantine and of repairs are texts of the page, as in the program.
    @Test func reasonsHaveTexts() throws {
        let languages = try PageFiles.read(texts: PageTests.folder)
        let rules: [GateRule] = [
            .impossible, .implausible, .unknownValue, .sentinel, .noContact, .badMeasurement, .clockUnknown, .unattributed,
            .provisional,
        ]
        for rule in rules {
            #expect(languages["en"]?["rule." + rule.name] == rule.explanation && languages["de"]?["rule." + rule.name] != nil)
        }
        for reason in RepairReason.allCases {
            let key = "plan.left." + reason.rawValue
            #expect(languages["en"]?[key] == reason.words && languages["de"]?[key] != nil, "\(reason)")
        }
    }

    /// Names are choices in forms, so no two types have the same one.
    @Test func typesHaveDifferentNames() throws {
        for (language, texts) in try PageFiles.read(texts: PageTests.folder) {
            let names = Dictionary(grouping: SampleType.all) { texts["type." + $0.id] ?? $0.displayName }
            #expect(names.allSatisfy { $0.value.count == 1 }, "\(language): \(names.filter { $0.value.count > 1 }.keys)")
        }
    }

    @Test func typesHaveGermanNamesOnCardsInListsAndInCharts() throws {
        let served = try ServedStore(page: { _ in })
        try served.add([61, 62], from: ServedStore.now.microseconds / 1_000_000 - 600)
        try served.add([9], of: "vo2Max", from: ServedStore.now.microseconds / 1_000_000 - 600)
        let headers = try PageTests.cookie(served) + "Accept-Language: de\r\n"
        func text(_ target: String) throws -> String { try #require(try served.client().get(target, headers)).text }
        let today = try text("/page/")
        #expect(today.contains(">Herzfrequenz</a>") && today.contains(">Cardiofitness</a>") && !today.contains("Heart Rate"))
        #expect(try text("/page/type/heartRate").contains("<h1>Herzfrequenz</h1>"))
        #expect(try text("/page/goals").contains("Blutzucker") && text("/page/add").contains("Körpertemperatur"))
        #expect(try text("/page/data/series?types=heartRate&range=day&width=300").contains("\"name\":\"Herzfrequenz\""))
        #expect(try text("/page/data/today").contains("\"name\":\"Herzfrequenz\""))
    }

    private static func placeholders(_ text: String) -> [Substring] { text.matches(of: #/\{[0-9]\}/#).map(\.output).sorted() }

    @Test func thePageIsGermanForAGermanBrowser() throws {
        let served = try ServedStore(page: { _ in })
        let cookie = try PageTests.cookie(served)
        let page = try #require(try served.client().get("/page/add", cookie + "Accept-Language: de-AT,en;q=0.5\r\n")).text
        #expect(page.contains("<html lang=\"de\">") && page.contains("<h1>Messung eintragen</h1>"))
    }

    @Test func numbersHaveTheSeparatorsOfTheLanguage() {
        #expect(PageValues.text(36.6) == "36.6" && PageValues.text(12_345) == "12,345")
        PageLocale.language.withValue("de") {
            #expect(PageValues.text(36.6) == "36,6" && PageValues.text(12_345) == "12.345")
        }
    }
}
