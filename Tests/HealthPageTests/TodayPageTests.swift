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

    private func page(_ headers: String? = nil) throws -> String {
        try #require(try served.client().get("/page/", headers ?? cookie)).text
    }

    @Test func cardsAreInGroups() throws {
        try served.add([61, 72], from: Self.midnight + 3600)
        try served.add([52], of: "restingHeartRate", from: Self.midnight)
        try served.add(numerals: ["80.2"], of: "bodyMass", from: Self.midnight, every: 60)
        try served.add(numerals: ["81"], of: "bodyMass", from: Self.midnight - 7 * 86_400, every: 60)
        try served.add(numerals: ["37"], of: "bodyTemperature", from: Self.midnight - 50 * 86_400, every: 60)
        let text = try page()
        let places = [
            "id=\"heart\"", "data-type=\"heartRate\"", "id=\"body\"", "data-type=\"bodyMass\"", "id=\"older\"",
            "data-type=\"bodyTemperature\"",
        ].map { text.firstRange(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil } && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
        #expect(!text.contains("id=\"vitals\""))
        #expect(text.contains("<li>Today 61–72 /min</li>") && text.contains("<li>Resting 52 /min (00:00)</li>"))
        #expect(text.contains("<li>−0.8 kg in a week</li>"))
    }

    @Test func aReadingInQuarantineIsMarkedWhereItIsShown() throws {
        try served.add([61], from: Self.midnight)
        let before = try page()
        #expect(!before.contains("class=\"doubt\"") && !before.contains("class=\"badge\""))
        try served.add([62, 900, 901], from: Self.midnight + 600)
        let after = try page()
        #expect(after.contains("Quarantined readings: 2."))
        // On the menu of a small screen, and on the link in it.
        #expect(after.ranges(of: "<span class=\"badge\">2 ").count == 2 && after.contains("Menu<span class=\"badge\">2 "))
        // Another person does not see it.
        #expect(try !page(PageTests.cookie(served, as: PageTests.other)).contains("class=\"badge\""))
    }

    @Test func aWrongUnitIsMarkedUntilItIsRepaired() throws {
        let values = (0..<40).map { "36.\(5 + $0 % 4)" } + (0..<15).map { "98.\($0 % 9)" }
        try served.add(numerals: values, of: "bodyTemperature", from: Self.midnight - 55 * 86_400, every: 86_400)
        var text = try page()
        // The search has a thread of its own.
        while !text.contains("Some readings look wrong.") {
            usleep(50_000)
            text = try page()
        }
        #expect(text.contains("Some readings look wrong.") && text.contains("<span class=\"badge\">1 "))
    }

    @Test func anEmptyPageSaysWhatToDo() throws {
        let text = try page()
        #expect(text.contains("There are no readings yet.") && text.contains("<a href=\"/page/devices\">Adopt a sensor</a>"))
        let other = try page(PageTests.cookie(served, as: PageTests.other))
        #expect(other.contains("Ask the owner of the hub") && !other.contains("Adopt a sensor"))
    }
}
