import Glibc
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// Repairs on the page: preview, apply, undo.
@Suite struct PageRepairTests {
    let served: ServedStore
    let cookie: String

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
    }

    private func get(_ target: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try #require(try served.client().get(target, cookie ?? self.cookie))
    }

    private func post(_ target: String, _ body: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try PageTests.post(served, target, body, cookie ?? self.cookie)
    }

    /// The fields that the form on a page sends.
    private func form(_ page: String) throws -> String {
        let form = try #require(page.firstMatch(of: #/action="/page/care/repair">(.*?)<button>/#.dotMatchesNewlines())).output.1
        return form.matches(of: #/name="([a-z.]+)" value="([^"]*)"/#).map { match in
            let value = match.output.2.replacing("[", with: "%5B").replacing("]", with: "%5D").replacing("+", with: "%2B")
            return "\(match.output.1)=\(value)"
        }.joined(separator: "&")
    }

    /// The page of data quality, once the search for suspicions has ended.
    private func care() throws -> String {
        while true {
            let page = try get("/page/care").text
            guard page.contains("is still running") else { return page }
            usleep(50_000)
        }
    }

    @Test func repairsWrongUnitAndUndoes() throws {
        let celsius = (0..<40).map { 365 + $0 % 7 }.map { "\($0 / 10).\($0 % 10)" }
        let wrong = (0..<20).map { "98.\($0 % 10)" }
        try served.add(numerals: celsius + wrong, of: "bodyTemperature", every: 86_400)
        let page = try care()
        #expect(page.contains("class=\"before\"") && page.contains("class=\"after\""))
        #expect(try post("/page/care/repair", form(page)).headers["location"] == "/page/care?done=repaired")
        let repairID = try #require(try served.store.repairs.all().first)
        #expect(repairID.repaired == 20 && repairID.repair == "unit [degF]")
        #expect(try get("/page/care").text.contains("/page/care/undo/1"))
        #expect(try post("/page/care/undo/1", "").status == 303)
        #expect(try served.store.repairs.all().first?.state == "undone")
        #expect(try post("/page/care/undo/1", "").status == 409)
    }

    /// Readings that look wrong are in no average, table or curve of the page. They are counted, and can be marked as right on Today.
    @Test func doubtfulReadingsAreLeftOut() throws {
        let celsius = (0..<40).map { 365 + $0 % 7 }.map { "\($0 / 10).\($0 % 10)" }
        let wrong = (0..<20).map { "98.\($0 % 10)" }
        let start = ServedStore.now.microseconds / 1_000_000 - 60 * 86_400
        try served.add(numerals: celsius + wrong, of: "bodyTemperature", from: start, every: 86_400)
        _ = try care()
        let page = try get("/page/type/bodyTemperature?range=year").text
        #expect(page.contains("20 readings that look wrong are left out."))
        // The list of readings has all.
        let (figures, list) = try (#require(page.components(separatedBy: "<summary>Readings").first), page)
        #expect(!figures.contains(">98.") && list.contains("<td>98."))
        #expect(page.contains(": 40 readings, lowest 36.5, highest 37.1"))
        let year = try get("/page/data/series?types=bodyTemperature&range=year&width=300").text
        #expect(!year.contains("98.") && year.contains("37.1"))
        let report = try get("/page/report?type=bodyTemperature&from=2026-11-01&until=2027-01-15").text
        #expect(
            report.contains("20 readings that look wrong are left out.") && !report.contains(">98.") && report.contains("37.1"))
        // Before them, nothing is left out.
        let before = (start * 1000, (start + 30 * 86_400) * 1000)
        #expect(try !get("/page/type/bodyTemperature?from=\(before.0)&to=\(before.1)").text.contains("left out"))

        // The latest one is of today, but the cards show the last one that is right.
        let cards = try get("/page/data/today").text
        #expect(cards.contains("\"value\":\"36.9\"") && !cards.contains("98.") && cards.contains("\"week\":[null,"))
        let today = try get("/page/").text
        #expect(today.contains("20 readings are recorded in °C but look like °F."))
        let answer = try post("/page/care/dismiss", fields("dismiss", today))
        #expect(answer.headers["location"]?.hasPrefix("/page/?done=dismissed&series=") == true)
        #expect(try served.store.repairs.suspicions().isEmpty)
        let whole = try get("/page/type/bodyTemperature?range=year").text
        #expect(whole.contains(": 60 readings") && !whole.contains("left out"))
    }

    /// A pressure in kilopascal is on no card, in no average and in no drawing, with both of its values.
    @Test func doubtfulPressuresAreLeftOut() throws {
        let start = ServedStore.now.microseconds / 1_000_000 - 60 * 86_400
        for day in 0..<60 as Range<Int64> {
            let isWrong = day >= 50
            for (name, right, wrong) in [("bloodPressureSystolic", "12", "16.1"), ("bloodPressureDiastolic", "7", "10.4")] {
                let type = try #require(SampleType(name))
                let time = Instant(seconds: start + day * 86_400)
                try served.keep([
                    Reading(
                        origin: Origin(
                            person: ServedStore.person, type: type,
                            source: SourceRevision(id: "cuff", name: "cuff", version: nil), device: nil),
                        numeral: try Numeral(isWrong ? wrong : "\(right)\(day % 10)"), unit: type.canonicalUnit,
                        time: .instants(start: time, end: time, offset: .utc), group: .shared(UInt64(day + 7)),
                        place: Place(.line, 1))
                ])
            }
        }
        _ = try care()
        let page = try get("/page/type/bloodPressure?range=year").text
        #expect(page.contains(": 50 readings.") && page.contains("10 readings that look wrong are left out."))
        let figures = try #require(page.components(separatedBy: "<summary>Readings").first)
        #expect(!figures.contains("16/10") && !figures.contains("16.1"))
        let data = try get("/page/data/series?types=bloodPressure&range=year&width=300").text
        #expect(data.contains(",79.0,129.0,129.0]") && !data.contains("16.1"))
        let today = try get("/page/data/today").text
        #expect(today.contains("\"value\":\"129/79\"") && !today.contains("16.1"))
        let report = try get("/page/report?type=bloodPressure&from=2026-11-01&until=2027-01-15").text
        #expect(report.contains("<td>129/79</td>") && !report.contains("16.1") && report.contains("look wrong are left out."))
    }

    /// The fields of the form with this action.
    private func fields(_ action: String, _ page: String) throws -> String {
        let form = try #require(page.components(separatedBy: "action=\"/page/care/\(action)\">").dropFirst().first)
        return form.components(separatedBy: "</form>")[0].matches(of: #/name="([a-z]+)" value="([^"]*)"/#).map {
            "\($0.output.1)=\($0.output.2.replacing("[", with: "%5B").replacing("]", with: "%5D"))"
        }.joined(separator: "&")
    }

    @Test func dismissesReadingsThatAreRight() throws {
        try served.add(
            numerals: (0..<40).map { "36.\($0 % 7)" } + (0..<20).map { "98.\($0 % 10)" }, of: "bodyTemperature", every: 86_400)
        let fields = try fields("dismiss", try care())
        #expect(try post("/page/care/dismiss", fields.replacing("series=", with: "series=9")).status == 404)
        #expect(try post("/page/care/dismiss", fields).headers["location"] == "/page/care?done=dismissed")
        #expect(try served.store.repairs.suspicions().isEmpty)
        let page = try care()
        #expect(!page.contains("/page/care/dismiss\"") && page.contains("Marked as right"))
        #expect(try post("/page/care/dismiss", fields).status == 404)
        let again = try self.fields("dismissed", page)
        #expect(again == fields)
        #expect(try post("/page/care/dismissed", again).status == 303)
        #expect(try care().contains("/page/care/dismiss\"") && served.store.repairs.suspicions().count == 1)
        #expect(try post("/page/care/dismissed", again).status == 404)
        // Today answers, and its answer can be undone.
        let answered = try #require(try post("/page/care/dismiss", fields + "&then=today").headers["location"])
        let today = try get(answered).text
        #expect(today.contains("The readings are marked as right.") && today.contains(">Undo</button>"))
        #expect(
            try post("/page/care/dismissed", self.fields("dismissed", today)).headers["location"] == "/page/?done=checkedAgain")
        #expect(try served.store.repairs.suspicions().count == 1 && !get(answered).text.contains(">Undo</button>"))
        // Later wrong readings are a new suspicion.
        #expect(try post("/page/care/dismiss", fields).status == 303)
        try served.add(
            numerals: (0..<5).map { "98.\($0)" }, of: "bodyTemperature", from: 1_790_000_000 + 60 * 86_400, every: 86_400)
        #expect(try served.store.repairs.suspicions().count == 1)
    }

    private struct Repaired: CustomTestStringConvertible {
        var (type, numeral): (String, String)
        var (repair, by, text): (String, String, String)
        var testDescription: String { text }

        init(_ type: String, _ numeral: String, _ repair: String, _ by: String, _ text: String) {
            (self.type, self.numeral, self.repair, self.by, self.text) = (type, numeral, repair, by, text)
        }
    }

    private static let repairs = [
        Repaired("bodyMass", "7", "unit", "%5Blb_av%5D", "unit [lb_av]"), Repaired("bodyMass", "7", "scale", "0.5", "scale 0.5"),
        Repaired("bodyMass", "7", "shift", "-1h30min", "shift -5400000000"),
        Repaired("bodyMass", "7", "zone", "%2B02:00", "zone +02:00"),
        Repaired("heartRate", "2", "type", "respiratoryRate", "type respiratoryRate"),
    ]

    @Test(arguments: repairs) private func eachRepairIsShownThenDoneThenUndone(_ one: Repaired) throws {
        let starts = {
            Set(try served.get("/v1/samples?types=\(one.type)&format=ndjson").text.split(separator: "\n").map { $0.prefix(60) })
        }
        try served.add(numerals: ["0", "1", "2"].map { one.numeral + $0 }, of: one.type, every: 60)
        try served.add(numerals: [one.numeral + "5"], of: one.type, from: 1_795_000_000, every: 60)
        let before = try starts()
        let asked =
            "type=\(one.type)&source=strap&from=2026-09-01&to=2026-10-01&repair=\(one.repair)&by.\(one.repair)=\(one.by)&ambiguous=yes"
        let page = try get("/page/care/plan?" + asked).text
        #expect(page.contains("Readings selected: 3.") && page.contains("class=\"compare"), "\(page)")
        #expect(page.contains("<caption id=\"examples\">"))
        // Nothing is done yet.
        #expect(try served.store.repairs.all().isEmpty && starts() == before)
        #expect(try post("/page/care/repair", form(page)).status == 303)
        let repairID = try #require(try served.store.repairs.all().first)
        #expect(repairID.repair == one.text && repairID.repaired == 3)
        #expect(try starts() != before)
        #expect(try post("/page/care/undo/1", "").status == 303)
        #expect(try starts() == before)
    }

    /// A repair that reduces the number of readings merges only as many as the plan announced.
    @Test func mergesOnlyAsManyAsPlanned() throws {
        try served.add([60], from: 1_790_000_000)
        try served.add([60], from: 1_790_003_600)
        let asked = "type=heartRate&to=2026-09-21T15:00:00Z&repair=shift&by.shift=%2B1h"
        let page = try get("/page/care/plan?" + asked).text
        let sent = try form(page)
        #expect(sent.hasSuffix("&merged=1"))
        #expect(try post("/page/care/repair", asked).status == 409)
        #expect(try served.store.repairs.all().isEmpty)
        #expect(try post("/page/care/repair", sent).status == 303)
        #expect(try served.store.repairs.all().first?.merged == 1)
    }

    @Test func aPersonRepairsTheirOwnAndGivesNothingAway() throws {
        try served.add([61, 62])
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        let shift = "type=heartRate&repair=shift&by.shift=%2B1h"
        #expect(try get("/page/care/plan?" + shift, theirs).text.contains("Readings selected: 0."))
        #expect(try post("/page/care/repair", shift, theirs).status == 303)
        #expect(try served.store.repairs.all().isEmpty)
        let away = "type=heartRate&repair=subject&by.subject="
        #expect(try post("/page/care/repair", away + ServedStore.person, theirs).status == 403)
        #expect(try !get("/page/care/plan", theirs).text.contains("by.subject"))
        #expect(try post("/page/care/repair", away + PageTests.other).status == 303)
        #expect(try get("/page/data/today", theirs).text.contains("\"value\":\"62\""))
        #expect(try get("/page/data/today").text == "{\"cards\":[]}\n")
    }

    /// Samples with a record id of their maker and objects with a body are planned and repaired like others.
    @Test(arguments: ["heartRate", "immunizationRecord"]) func recordsAndObjectsAreMoved(type: String) throws {
        try served.grant("heartRate")
        let saved = try served.post(
            "/v1/samples",
            #"{"type":"heartRate","start":"2026-11-20T06:30:00Z","value":61,"unit":"/min","metadata":{"syncIdentifier":"a","syncVersion":1}}"#,
            token: served.otherToken)
        #expect(saved.status == 200)
        _ = try served.addRecord("immunizationRecord")
        let page = try get("/page/care/plan?type=\(type)&repair=shift&by.shift=%2B1h&ambiguous=yes")
        #expect(page.status == 200)
        #expect(try post("/page/care/repair", form(page.text)).status == 303)
        #expect(try served.store.repairs.all().map(\.repaired) == [1])
    }

    private static let wrong = [
        "type=nothing&repair=shift&by.shift=%2B1h", "type=heartRate&repair=all&by.all=1", "type=heartRate&repair=shift",
        "type=heartRate&repair=shift&by.shift=1", "type=heartRate&repair=scale&by.scale=1",
        "type=heartRate&repair=scale&by.scale=nan",
        "type=heartRate&repair=unit&by.unit=kg", "type=heartRate&repair=unit&by.unit=%3Cscript%3E",
        "type=heartRate&repair=zone&by.zone=..%2F..%2Fetc%2Fpasswd", "type=heartRate&repair=type&by.type=workout",
        "type=heartRate&repair=subject&by.subject=x", "type=heartRate&repair=scale&by.scale=2&from=2026-02-30",
        "type=heartRate&repair=scale&by.scale=2&from=2026-02-03&to=2026-02-03", "repair=scale",
    ]

    /// The form has only dates in its fields for dates, because a browser would report anything else as an error.
    @Test(arguments: [
        ("2026-09-01", true), ("2026-02-30", false), ("%22%3E%3Cimg%3E", false), ("today", false), ("now-later-x", false),
    ])
    func theFormHasDatesOnly(date: String, isShown: Bool) throws {
        try served.add([61])
        let page = try get("/page/care/plan?type=heartRate&repair=scale&by.scale=2&from=\(date)&to=\(date)")
        #expect(page.status == 200)
        for name in ["from", "to"] {
            #expect(page.text.contains("<input type=\"date\" name=\"\(name)\" value=\"\(isShown ? date : "")\">"))
        }
    }

    @Test(arguments: wrong) func refusesInvalidRepairs(form: String) throws {
        try served.add([61])
        #expect(try post("/page/care/repair", form).status == 400)
        #expect(try served.store.repairs.all().isEmpty)
        let page = try get("/page/care/plan?" + form)
        #expect(page.status == 200 && page.text.contains("role=\"alert\"") && !page.text.contains("<script>"))
    }
}
