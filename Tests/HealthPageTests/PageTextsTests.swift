import HTTPServerTesting
import HealthServingTesting
import Testing

@testable import HealthPage

/// The page's languages.
@Suite struct PageTextsTests {
    /// Each language has each text of the others, with the same placeholders.
    @Test func languagesHaveTheSameTexts() throws {
        let languages = try PageFiles.read(texts: PageTests.folder)
        #expect(languages.keys.sorted() == ["de", "en"])
        let english = try #require(languages["en"])
        for (name, texts) in languages {
            let missing = Set(texts.keys).symmetricDifference(english.keys)
            #expect(missing.isEmpty, "\(name): \(missing.sorted())")
            for (key, text) in texts {
                #expect(Self.placeholders(text) == Self.placeholders(english[key] ?? ""), "\(name): \(key)")
            }
        }
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
