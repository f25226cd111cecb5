import FoundationEssentials
import HTTPServerTesting
import HealthAnswers
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
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
        let values = PageTexts.ValueList.allCases.flatMap { list in list.values.map { "\(list).\($0)" } }
        let types = Set(SampleType.all.map { "type." + $0.id } + cases + values)
        #expect(types.count > 380 && types.isDisjoint(with: english.keys))
        for (name, texts) in languages {
            let missing = Self.shared(texts).symmetricDifference(Self.shared(english).union(name == "en" ? [] : types))
            #expect(missing.isEmpty, "\(name): \(missing.sorted())")
            for (key, text) in texts {
                if key.hasPrefix(PageTexts.sentencePrefix) {
                    #expect(Set(Self.placeholders(text)).isSubset(of: Self.placeholders(key)), "\(name): \(key)")
                } else {
                    #expect(Self.placeholders(text) == Self.placeholders(english[key] ?? ""), "\(name): \(key)")
                }
            }
        }
    }

    private static func shared(_ texts: [String: String]) -> Set<String> {
        Set(texts.keys.filter { key in !ownPrefixes.contains { key.hasPrefix($0) } })
    }

    /// Keys of texts that only some languages need: sentences of the program, and names of sources and profiles.
    private static let ownPrefixes = [PageTexts.sentencePrefix, "profile.", "source.", "device."]

    /// Texts that are the same in English and in German, for example because they are names or symbols.
    @Test func germanTextsDifferFromEnglish() throws {
        let languages = try PageFiles.read(texts: PageTests.folder)
        let (english, german) = (try #require(languages["en"]), try #require(languages["de"]))
        let equal = english.filter { key, text in
            german[key] == text && text.contains { $0.isLetter } && !Self.symbols.contains { key.hasPrefix($0) }
        }
        #expect(Set(equal.values) == Self.sameWords, "\(equal.sorted { $0.key < $1.key })")
    }

    private static let symbols = ["unit.", "characteristic.value.", "plan.such."]
    /// Words that are also German.
    private static let sameWords: Set<String> = [
        "Person", "Status", "Name", "Code", "Codes", "System", "Signal", "Form", "Normal", "Optimal", "Route", "Start", "Import",
        "REM", "Hub", "Version",
        "h", "N",
        "Byte {0}", "Signal {0} dBm",
    ]

    /// Each value that the page can show has a text in each language.
    @Test func valuesHaveTexts() throws {
        var keys = IngestKind.allCases.map { "ledger.kind." + $0.rawValue }
        keys += ["running", "done", "interrupted", "failed", "undone"].map { "ledger.state." + $0 }
        keys += ["line", "record", "byte", "more"].map { "place." + $0 }
        keys += ["live", "waiting", "stopped", "running", "ignored", "unknown"].map { "devices.state." + $0 }
        keys += ["unit", "scale", "shift", "zone", "subject", "type", "complete"].map { "repair." + $0 }
        keys += DuplicateRule.allCases.map { "sample.rule." + $0.rawValue }
        keys += PressureGuideline.Category.allCases.map { "pressure." + $0.rawValue }
        keys += HealthGroup.allCases.map { "group." + $0.rawValue }
        keys += Alert.Condition.allCases.flatMap { ["alerts.condition." + $0.rawValue, "alerts.text." + $0.rawValue] }
        keys += Goal.Span.allCases.flatMap { ["goals.span." + $0.rawValue, "goals.text." + $0.rawValue] }
        keys += Target.State.allCases.map { "targets." + $0.rawValue }
        keys += ChartWindow.Range.allCases.map { "range." + $0.rawValue }
        keys += RepairForm.Kind.allCases.map { "plan.by." + $0.rawValue }
        keys += CharacteristicType.allCases.map { "characteristic." + $0.rawValue }
        for list in [
            ObjectValues.biologicalSex, ObjectValues.bloodType, ObjectValues.fitzpatrickSkinType, ObjectValues.wheelchairUse,
            ObjectValues.activityMoveMode,
        ] {
            keys += list.cases.filter { $0.name != "notSet" }.map { "characteristic.value." + $0.name }
        }
        keys += ClinicalRecord.dateNames.map { "record." + $0 }
        for (language, texts) in try PageFiles.read(texts: PageTests.folder) {
            let missing = keys.filter { texts[$0] == nil }
            #expect(missing.isEmpty, "\(language): \(missing)")
        }
    }

    /// Profiles whose names contain a word have a German name. Other profiles have names of products.
    @Test func profilesHaveGermanNames() throws {
        let german = try PageFiles(folder: PageTests.folder).texts("de")
        let profiles = PageTests.folder.dropLast("WebPage".count) + "DeviceProfiles"
        let ids = try FileManager.default.contentsOfDirectory(atPath: String(profiles)).filter { $0.hasSuffix(".json5") }.map {
            String($0.dropLast(6))
        }
        #expect(ids.count > 90)
        let words: Set<String> = [
            "sig", "generic", "scale", "weight", "sleep", "heart", "blood", "body", "lines", "activities", "steps",
        ]
        for id in ids where !words.isDisjoint(with: id.split(separator: "-").map(String.init)) {
            #expect(german["profile." + id] != nil, "\(id)")
        }
        for key in german.keys where key.hasPrefix("profile.") { #expect(ids.contains(String(key.dropFirst(8))), "\(key)") }
        #expect(german.profile("sig-heart-rate") == "Herzfrequenz (Bluetooth)" && german.profile("ruuvi-tag") == "Ruuvi tag")
        #expect(german.source("ble.heart-rate", name: "Heart Rate") == "Herzfrequenz (Bluetooth)")
        #expect(german.source("com.example.app", name: "Aq") == "Aq" && german.source("file.generic-csv") == "CSV-Datei")
    }

    @Test func repairsAreDescribedInBothLanguages() throws {
        let files = try PageFiles(folder: PageTests.folder)
        func words(_ text: String, _ language: String) -> String {
            let texts = files.texts(language)
            return texts.repair(text, PageValues(texts: texts, units: { _ in nil }), people: ["1": "Ada"])
        }
        #expect(words("unit [degF]", "en") == "Read as °F" && words("unit [degF]", "de") == "Gelesen als °F")
        #expect(
            words("shift -5400000000", "en") == "Moved by -1h30min"
                && words("shift -5400000000", "de") == "Verschoben um -1h30min")
        #expect(
            words("type respiratoryRate", "de") == "Geändert in Atemfrequenz" && words("subject 1", "de") == "Zugeordnet zu Ada")
        #expect(words("complete", "de") == "Aus einem Duplikat ergänzt" && words("unheard of", "de") == "unheard of")
    }

    /// Sentences of the program, such as reasons in the ledger, in German.
    @Test func sentencesAreTranslated() throws {
        let german = try PageFiles(folder: PageTests.folder).texts("de")
        #expect(german.translation(of: IngestAccount.tooOld) == "das Ende liegt vor dem frühesten Datum, das aufbewahrt wird")
        #expect(german.translation(of: "it has 3 columns and the header has 5") == "sie hat 3 Spalten, die Kopfzeile hat 5")
        for sentence in FullStore.refusals { #expect(german.translation(of: sentence) != nil, "\(sentence)") }
        #expect(german.translation(of: "line 9, the last, " + IngestAccount.openEnd)?.hasPrefix("Zeile 9, die letzte, ") == true)
        #expect(german.sentence("it is <new>").text == "<span lang=\"en\">it is &lt;new&gt;</span>")
        let english = try PageFiles(folder: PageTests.folder).texts("en")
        #expect(english.sentence("it is <new>").text == "it is &lt;new&gt;")
    }

    /// A translated sentence is one that the program has.
    @Test func translatedSentencesAreInTheProgram() throws {
        let root = PageTests.folder.dropLast("WebPage".count) + "Sources"
        var program = ""
        for path in try FileManager.default.subpathsOfDirectory(atPath: String(root)) where path.hasSuffix(".swift") {
            program += try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        }
        // Long sentences are written in parts.
        program = program.replacing(#/"\s*\+ "/#, with: "")
        for key in try PageFiles(folder: PageTests.folder).texts("de").keys where key.hasPrefix(PageTexts.sentencePrefix) {
            let sentence = key.dropFirst(PageTexts.sentencePrefix.count)
            let parts = sentence.replacing(#/\{[0-9]\}|: |; |, the last, |, unless/#, with: "\u{1}").split(separator: "\u{1}")
            for part in parts.map({ $0.split(separator: " ").joined(separator: " ") }) where part.contains(" ") {
                #expect(program.contains(part), "\(key): \(part)")
            }
        }
    }

    /// Values in sentences have names, too.
    @Test func valuesInSentencesAreTranslated() throws {
        let german = try PageFiles(folder: PageTests.folder).texts("de")
        let note =
            "20 readings of bodyTemperature from file.generic-csv would fit far better in [degF] than in Cel: see 'vitalgate repair suggest'"
        #expect(
            german.translation(of: note)?.hasPrefix(
                "20 Messungen von Körpertemperatur aus CSV-Datei würden viel besser zu °F als zu °C") == true)
        #expect(german.shown("1") == "1" && german.shown("value") == "value" && german.shown("line 3") == "Zeile 3")
        #expect(
            german.person("me") == "ich" && german.person("Ada") == "Ada"
                && german.device("Simulated strap") == "Simulierter Brustgurt")
        let source = german.source("simulation.ble.heart-rate", name: "Vitalgate simulation: Heart Rate")
        #expect(source == "Vitalgate-Simulation: Herzfrequenz (Bluetooth)")
    }

    @Test func valuesAreFilledInOnce() {
        let texts = PageTexts(language: "en", ["two": "{1} of {0}", "two.one": "one of {0}", "open": "{0 {a} {0}"])
        #expect(texts("two", "{1}", "3") == "3 of {1}" && texts("two", "9", "1") == "one of 9")
        #expect(texts("open", "x") == "{0 {a} x" && texts("nothing") == "nothing")
        #expect(SentencePattern("{0} of {1}!").values(of: "a of b of c!") == ["a", "b of c"])
        #expect(SentencePattern("{0} of {1}!").values(of: "a of b") == nil && SentencePattern("a").values(of: "b") == nil)
    }

    /// Reasons of the quarantine and of repairs are texts of the page, as in the program.
    @Test func reasonsHaveTexts() throws {
        let languages = try PageFiles.read(texts: PageTests.folder)
        for rule in GateRule.all {
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

    @Test func typesHaveGermanNames() throws {
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
        #expect(page.contains("<html lang=\"de\"") && page.contains("<h1>Messung eintragen</h1>"))
    }

    @Test func numbersHaveTheSeparatorsOfTheLanguage() {
        #expect(PageValues.text(36.6) == "36.6" && PageValues.text(12_345) == "12,345")
        PageLocale.language.withValue("de") {
            #expect(PageValues.text(36.6) == "36,6" && PageValues.text(12_345) == "12.345")
        }
    }
}
