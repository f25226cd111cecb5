import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Testing

@testable import HealthPage

/// The German page contains no English text, except names, units, and texts of people.
@Suite struct PageLanguageTests {
    private let full: FullStore
    private let isEnglish: @Sendable (String) -> Bool

    init() throws {
        full = try FullStore()
        let languages = try PageFiles.read(texts: PageTests.folder)
        func words(_ texts: some Sequence<String>) -> Set<String> { Set(texts.flatMap { VisibleText.words($0) }) }
        let german = words(languages["de", default: [:]].filter { !$0.key.hasPrefix(PageTexts.sentencePrefix) }.values)
        var english = words(languages["en", default: [:]].values)
        // English names are made from the catalogue.
        english.formUnion(words(SampleType.all.map(\.displayName)))
        english.formUnion(words(SampleType.all.flatMap { $0.categoryValues?.cases ?? [] }.map { PageValues.words($0.name) }))
        english.formUnion(words(PageTexts.ValueList.allCases.flatMap(\.values).map { PageValues.words($0) }))
        let only = english.subtracting(german).subtracting(Self.names)
        isEnglish = { only.contains($0) }
    }

    /// Names and commands that are the same in German.
    private static let names: Set<String> = ["vitalgate", "javascript"]

    private func get(_ target: String, _ language: String = "de") throws -> RawClient.Answer {
        try #require(try full.served.client().get(target, full.cookie + "Accept-Language: \(language)\r\n"))
    }

    /// The English words in the visible texts of a page.
    private func english(_ html: String) -> [String] {
        VisibleText(html).all.filter { !FullStore.typed.contains($0) }.compactMap { text in
            // Names of form fields are in quotation marks.
            let found = VisibleText.words(text.replacing(#/„[a-z]+“/#, with: "")).filter(isEnglish)
            return found.isEmpty ? nil : "\(found) in '\(text)'"
        }
    }

    private func expectGerman(_ html: String, _ target: String) {
        #expect(html.contains("<html lang=\"de\""), "\(target)")
        let found = english(html)
        #expect(found.isEmpty, "\(target): \(found.joined(separator: "\n"))")
    }

    /// The targets for a route's path.
    private func targets(_ path: String) -> [String] {
        switch path {
        case "type/*":
            SampleType.all.filter { full.samples[$0.id] != nil }.map { "type/\($0.id)?range=all" } + ["type/bloodPressure"]
        case "sample/*": full.samples.values.map { "sample/\($0)" }
        case "sample/*/correct", "sample/*/delete":
            full.samples["heartRate"].map { [path.replacing("*", with: "\($0)")] } ?? []
        case "care/ingest/*": Self.entries(full).map { "care/ingest/\($0)" }
        case "care": ["care", "care?done=judged", "care?done=repaired", "care?done=undone"]
        case "care/plan": ["care/plan"] + Self.plans
        case "add":
            ["add", "add?type=heartRate", "add?type=bloodPressure"]
                + ["stored", "duplicate", "quarantined", "refused"].map { "add?done=\($0)" }
        case "report": ["report", "report?type=heartRate&type=bloodPressure&type=stepCount"]
        case "deleted": ["deleted", "deleted?done=restored"]
        default: [path]
        }
    }

    private static let plans = [
        "unit=%5BdegF%5D", "scale=2", "shift=%2B1h", "zone=%2B01:00", "type=bodyMass", "subject=\(ServedStore.person)",
    ].map { by in
        let kind = by.prefix { $0 != "=" }
        return "care/plan?type=bodyTemperature&repair=\(kind)&by.\(by)&ambiguous=yes"
    }

    private static func entries(_ full: FullStore) -> [Int64] {
        (try? full.served.store.ledger.accounts(limit: 100).map(\.id)) ?? []
    }

    @Test func eachPageIsGerman() throws {
        // The results of a scan and of an upload, once they have ended.
        #expect(try PageTests.post(full.served, "/page/devices", "do=scan", full.cookie).status == 303)
        #expect(eventually { (try? get("/page/devices").text.contains("C0:01:02:03:04:09")) ?? false })
        #expect(eventually { (try? !get("/page/care").text.contains("http-equiv=\"refresh\"")) ?? false })
        let routes = PageSite.routes.filter { $0.method == "GET" && $0.right != .none && $0.path != "live" }
        for route in routes where !route.path.hasPrefix("data/") && !route.path.hasSuffix(".csv") {
            let all = targets(route.path)
            #expect(!all.isEmpty, "\(route.path)")
            for target in all {
                let answer = try get("/page/" + target)
                #expect(answer.status == 200, "\(target)")
                expectGerman(answer.text, target)
            }
        }
        expectGerman(try #require(try full.served.client().get("/page/", "Accept-Language: de\r\n")).text, "login")
    }

    /// The test finds English.
    @Test func theEnglishPageIsNotGerman() throws {
        for target in ["", "care", "devices", "alerts", "goals", "type/heartRate"] {
            #expect(try !english(get("/page/" + target, "en").text).isEmpty, "\(target)")
        }
    }

    @Test func problemsAreGerman() throws {
        let targets = [
            "type/nothing", "sample/nothing", "sample/nothing/delete", "care/ingest/999", "report?from=x",
            "report?from=2027-01-02&until=2027-01-01",
            "report?type=nothing", "type/heartRate?from=9&to=5", "care/plan?type=bodyMass&repair=unit&by.unit=furlong",
            "care/plan?type=bodyMass&repair=scale&by.scale=1", "care/plan?type=bodyMass&repair=shift&by.shift=x",
            "care/plan?type=bodyMass&repair=zone&by.zone=x", "care/plan?type=bodyMass&repair=type&by.type=sleepAnalysis",
            "care/plan?repair=unit", "care/plan?type=bodyMass&repair=unit", "report/readings.csv",
        ]
        for target in targets {
            let answer = try get("/page/" + target)
            #expect(answer.status >= 400 || answer.text.contains("class=\"problem\""), "\(target)")
            expectGerman(answer.text, target)
        }
        let forms = [
            ("add", "type=heartRate&value=x&at=x&zone=x&unit=x"), ("add", "type=heartRate&value=60&at=2030-01-01T00:00&zone=UTC"),
            ("goals", "do=set&type=stepCount&value=-1&span=day"), ("alerts", "do=add&type=heartRate&condition=missing&bound=x"),
            ("alerts", "do=add&type=heartRate&condition=above&bound=x"), ("notes", "do=add&day=x"), ("people", "do=add&name=me"),
            ("people", "do=x"), ("alerts", "do=remove&id=999"), ("goals", "do=remove&type=height"), ("notes", "do=remove&id=999"),
            ("cards", "do=up&key=nothing"), ("care/held/00000000-0000-8000-8000-000000000000", "do=accept"),
            ("care/undo/999", ""), ("care/dismiss", "series=999"), ("care/dismissed", "series=999"),
            ("devices", "do=pair&address=x"),
            ("clients/999", "do=withdraw&type=heartRate"), ("people", "do=invite&person=x"),
        ]
        for (target, body) in forms {
            let answer = try PageTests.post(full.served, "/page/" + target, body, full.cookie + "Accept-Language: de\r\n")
            #expect(answer.status >= 400, "\(target): \(answer.status)")
            expectGerman(answer.text, "\(target) \(body)")
        }
    }

    /// The texts in the data for scripts.
    @Test func dataIsGerman() throws {
        let targets = [
            "data/today", "data/series?types=heartRate,bodyMass&range=week&width=300&sources=yes",
            "data/events?types=heartRate&range=week&width=300",
            "data/series?types=stepCount&range=day&width=600",
        ]
        for target in targets {
            let text = try get("/page/" + target).text
            let values = text.matches(of: #/"(?:name|value|unit|when|source|text)":"([^"]*)"/#).map { String($0.output.1) }
            #expect(!values.isEmpty, "\(target): \(text)")
            for value in values where !FullStore.typed.contains(value) {
                #expect(VisibleText.words(value).filter(isEnglish).isEmpty, "\(target): \(value)")
            }
        }
        let failed = try get("/page/data/series?types=nothing")
        #expect(failed.status == 400 && failed.text.contains("Wähle"), "\(failed.text)")
    }
}
