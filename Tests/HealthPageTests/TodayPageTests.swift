import Glibc
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// The page that a person opens every morning. "Now" is 2027-01-15 08:00 UTC.
@Suite struct TodayPageTests {
    private let served: ServedStore
    private let cookie: String
    private static let midnight: Int64 = 1_800_000_000 - 8 * 3600

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
    }

    private func page(_ headers: String? = nil, _ target: String = "/page/") throws -> String {
        try #require(try served.client().get(target, headers ?? cookie)).text
    }

    /// An interval of core sleep.
    private func sleep(from start: Int64, to end: Int64) throws {
        let type = try #require(SampleType("sleepAnalysis"))
        let core = try #require(type.categoryValues?.value(of: "asleepCore"))
        _ = try served.keep([
            Reading(
                origin: Origin(
                    person: ServedStore.person, type: type, source: SourceRevision(id: "watch", name: "watch", version: nil),
                    device: nil),
                numeral: try Numeral("\(Int(core))"), unit: .one,
                time: .instants(start: Instant(seconds: start), end: Instant(seconds: end), offset: .utc), place: Place(.line, 1))
        ])
    }

    @Test func cardsAreInGroups() throws {
        try served.add([61, 72], from: Self.midnight + 3600)
        try served.add([52], of: "restingHeartRate", from: Self.midnight)
        try served.add(numerals: ["80.2"], of: "bodyMass", from: Self.midnight, every: 60)
        try served.add(numerals: ["81"], of: "bodyMass", from: Self.midnight - 7 * 86_400, every: 60)
        try served.add(numerals: ["37"], of: "bodyTemperature", from: Self.midnight - 50 * 86_400, every: 60)
        let text = try page(cookie, "/page/all")
        let places = [
            "id=\"heart\"", "data-type=\"heartRate\"", "id=\"body\"", "data-type=\"bodyMass\"", "id=\"older\"",
            "data-type=\"bodyTemperature\"",
        ].map { text.firstRange(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil } && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
        #expect(!text.contains("id=\"vitals\""))
        #expect(text.contains("<li>Today 61–72 /min</li>") && text.contains("<li>Resting 52 /min (00:00)</li>"))
        #expect(text.contains("<li>−0.8 kg in a week</li>"))
    }

    /// The keeper of the hub sees backups that need attention here, and all of them among the parts of the hub.
    @Test func failingBackupsNeedTheOwner() throws {
        let served = try ServedStore(page: { settings in
            var door = HubDoor(
                inbox: nil, devices: { (true, []) }, run: { _, _, _ in HubDoor.Outcome(code: 0, output: "", words: "") },
                reload: {})
            door.backups = {
                var (old, good) = (HubDoor.Backup(name: "usb"), HubDoor.Backup(name: "far"))
                (old.made, old.trouble, old.days) = (Instant(seconds: Self.midnight - 5 * 86_400), "Old", 5)
                (good.made, good.proven) = (Instant(seconds: Self.midnight), Instant(seconds: Self.midnight))
                return [old, good]
            }
            settings.hub = door
        })
        func page(_ target: String, as person: String? = nil) throws -> String {
            let cookie = try person.map { try PageTests.cookie(served, as: $0) } ?? PageTests.cookie(served)
            return try #require(try served.client().get(target, cookie)).text
        }
        let words = "The last backup at &#39;usb&#39; was made 5 days ago."
        let today = try page("/page/")
        #expect(today.contains("<h2>Backups at usb</h2>") && !today.contains("Backups at far"))
        #expect(today.contains(words) || today.contains(words.replacing("&#39;", with: "'")))
        let parts = try page("/page/hub")
        #expect(
            parts.contains("Last proven backup") && parts.contains("None yet") && parts.contains("<th scope=\"row\">far</th>"))
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        #expect(try !page("/page/", as: PageTests.other).contains("Backups at usb"))
        #expect(try !page("/page/hub", as: PageTests.other).contains("Last proven backup"))
    }

    /// Everybody who has alerts sees that they cannot be evaluated, without the reason.
    @Test func alertsThatCannotBeEvaluated() throws {
        let served = try ServedStore(page: { settings in
            var door = HubDoor(
                inbox: nil, devices: { (true, []) }, run: { _, _, _ in HubDoor.Outcome(code: 0, output: "", words: "") },
                reload: {})
            door.alertsFail = { true }
            settings.hub = door
        })
        try served.store.people.save(Person(id: PageTests.other, name: "Anna"))
        let words = "Alerts cannot be evaluated."
        func page(_ target: String, as person: String? = nil) throws -> String {
            let cookie = try person.map { try PageTests.cookie(served, as: $0) } ?? PageTests.cookie(served)
            return try #require(try served.client().get(target, cookie)).text
        }
        #expect(try !page("/page/", as: PageTests.other).contains(words), "without an alert, nothing is missing")
        try served.store.alerts.add(
            of: PageTests.other, type: .heartRate, .above, bound: 2, at: Instant(seconds: Self.midnight))
        #expect(try page("/page/", as: PageTests.other).contains(words))
        #expect(try page("/page/alerts", as: PageTests.other).contains(words))
        #expect(try !page("/page/").contains(words))
    }

    @Test func marksQuarantinedReadings() throws {
        try served.add([61], from: Self.midnight)
        let before = try page()
        #expect(!before.contains("class=\"doubt\"") && !before.contains("class=\"badge\""))
        try served.add([62, 900, 901], from: Self.midnight + 600)
        let after = try page()
        #expect(after.contains("Quarantined readings: 2."))
        #expect(try page(cookie, "/page/type/heartRate").contains("Quarantined readings: 2."))
        // On the link to the parts of the hub, and on the part.
        #expect(after.ranges(of: "<span class=\"badge\">2 ").count == 2 && after.contains("class=\"need\""))
        // Another person does not see it.
        #expect(try !page(PageTests.cookie(served, as: PageTests.other)).contains("class=\"badge\""))
    }

    @Test func aWrongUnitIsMarkedUntilItIsRepaired() throws {
        let values = (0..<40).map { "36.\(5 + $0 % 4)" } + (0..<15).map { "98.\($0 % 9)" }
        try served.add(numerals: values, of: "bodyTemperature", from: Self.midnight - 55 * 86_400, every: 86_400)
        var text = try page()
        // The search has a thread of its own.
        while !text.contains("look like") {
            usleep(50_000)
            text = try page()
        }
        #expect(text.contains("15 readings are recorded in °C but look like °F.") && text.contains("<span class=\"badge\">1 "))
    }

    /// A fever is the large card with its course, also if a parent looks at night.
    @Test func aFeverHasItsCourse() throws {
        try served.add(numerals: ["36.8"], of: "bodyTemperature", from: Self.midnight - 30 * 3600, every: 60)
        try served.add(numerals: ["37.9", "39.1", "38.6"], of: "bodyTemperature", from: Self.midnight, every: 3 * 3600)
        let hero = try #require(try page().components(separatedBy: "<li class=\"card stat hero").dropFirst().first)
        let dots = try #require(hero.firstMatch(of: #/<path class="dt" d="([^"]*)"/#)).output.1
        #expect(dots.components(separatedBy: "h0").count == 4)
        #expect(hero.contains(">00:00</text>") && hero.contains(">06:00</text>"))
        #expect(hero.contains("href=\"/page/add?type=bodyTemperature\""))
        // A normal reading ends it.
        try served.add(numerals: ["37.1"], of: "bodyTemperature", from: Self.midnight + 7 * 3600, every: 60)
        #expect(try !page().contains("/page/add?type=bodyTemperature"))
    }

    @Test func emptyPageSuggestsActions() throws {
        let text = try page()
        #expect(
            text.contains("There are no readings yet.")
                && text.contains("action=\"/page/devices\"><button name=\"do\" value=\"scan\">"))
        #expect(text.contains("href=\"/page/files\">Choose a file</a>") && !text.contains("<code>"))
        let other = try page(PageTests.cookie(served, as: PageTests.other))
        #expect(other.contains("Ask the owner of the hub") && !other.contains("Look for sensors"))
        #expect(other.contains("href=\"/page/upload\">Choose a file</a>"))
    }

    /// Sixteen nights of 7 hours, and a last one of 7 hours and 40 minutes.
    @Test func thePageBeginsWithASentence() throws {
        for day in 0...16 as ClosedRange<Int64> {
            let end = Self.midnight - day * 86_400 + 6 * 3600
            try sleep(from: end - (day == 0 ? 460 : 420) * 60, to: end)
        }
        try served.add([52], of: "restingHeartRate", from: Self.midnight)
        let text = try page()
        #expect(text.contains("<h1>You slept 7\u{a0}h 40\u{a0}min, 40\u{a0}min longer than usual.</h1>"))
        #expect(text.contains("<li class=\"card stat hero alone sleep\" data-type=\"sleepAnalysis\">"))
        let german = try page(cookie + "Accept-Language: de\r\n")
        #expect(german.contains("<h1>Du hast 7\u{a0}Std. 40\u{a0}Min. geschlafen, 40\u{a0}Min. länger als üblich.</h1>"))
    }

    /// A goal, past days with letters, and today apart from them.
    @Test func stepsHaveBarsAndTheGoal() throws {
        for day in 0...7 as ClosedRange<Int64> {
            try served.add([4000], of: "stepCount", from: Self.midnight - day * 86_400 + 3600)
        }
        let before = try page()
        #expect(before.ranges(of: "class=\"bar past\"").count == 7 && before.ranges(of: "class=\"bar now\"").count == 1)
        #expect(!before.contains("class=\"goal\""))
        #expect(try PageTests.post(served, "/page/goals", "do=set&type=stepCount&value=8000&span=day", cookie).status == 303)
        let after = try page()
        #expect(after.contains("class=\"goal\"") && after.contains("class=\"bar rest\""))
        // 2027-01-15 is a Friday.
        #expect(after.contains("<text class=\"on\" x=\"95.50%\" y=\"84\" text-anchor=\"middle\">F</text>"))
    }

    /// The summary above a chart, and a usual day of glucose from readings of two weeks.
    @Test func glucoseHasTimeInRangeAndTypicalDay() throws {
        let quarters = 15 * 96
        try served.add(
            numerals: (0..<quarters).map { "\(100 + $0 % 40)" }, of: "bloodGlucose", from: Self.midnight - 15 * 86_400, every: 900
        )
        let text = try page(cookie, "/page/type/bloodGlucose?range=week")
        #expect(
            text.contains("mg/dL on average</small>") && text.contains("In range <b>100 %</b>")
                && text.contains("class=\"profile\""))
        let median = try #require(text.firstMatch(of: #/<p>The median is between (\d+) and (\d+) mg\/dL\.<\/p>/#)).output
        #expect(try #require(Int(median.1)) >= 100 && #require(Int(median.2)) < 140 && median.1 < median.2)
        try served.add([100, 110], of: "bloodGlucose", from: Self.midnight)
        // Another person has too few readings for a usual day.
        let other = try page(PageTests.cookie(served, as: PageTests.other), "/page/type/bloodGlucose?range=week")
        #expect(!other.contains("class=\"profile\"") && !other.contains("class=\"tir\""))
    }

    @Test func navigationHasFiveEntries() throws {
        try served.add([61], from: Self.midnight)
        let text = try page()
        let tabs = try #require(text.firstMatch(of: #/<nav class="tabs".*?<\/nav>/#.dotMatchesNewlines())).output
        #expect(tabs.ranges(of: "<li>").count == 5 && tabs.ranges(of: "aria-current=\"page\"").count == 1)
        for place in ["all", "records", "hub"] {
            #expect(try page(cookie, "/page/\(place)").contains("href=\"/page/\(place)\" aria-current=\"page\""), "\(place)")
        }
        #expect(try page(cookie, "/page/hub").contains("href=\"/page/devices\""))
        let other = try page(PageTests.cookie(served, as: PageTests.other), "/page/hub")
        #expect(!other.contains("href=\"/page/devices\"") && other.contains("href=\"/page/report\""))
    }
}
