import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// Answers for the cards of the page. "Now" is 2027-01-15 08:00 UTC.
@Suite struct PageAnswerTests {
    private let served: ServedStore
    private static let hour = 3600
    /// Midnight before "now".
    private static let midnight = 1_800_000_000 - 8 * hour

    init() throws {
        served = try ServedStore()
    }

    private static func reading(
        _ name: String, _ numeral: String, from hours: Double, to end: Double? = nil, source: String = "watch",
        group: UInt64? = nil
    ) throws -> Reading {
        let type = try #require(SampleType(name))
        func instant(_ hours: Double) -> Instant {
            Instant(microseconds: (Int64(midnight) + Int64(hours * Double(hour))) * 1_000_000)
        }
        return Reading(
            origin: Origin(
                person: ServedStore.person, type: type, source: SourceRevision(id: source, name: source, version: nil),
                device: nil),
            numeral: try Numeral(numeral), unit: type.kind == .quantity ? type.canonicalUnit : .one,
            time: .instants(start: instant(hours), end: instant(end ?? hours), offset: .utc),
            group: group.map { .shared($0) } ?? .none, place: Place(.line, 1))
    }

    /// The value on the card of a type.
    private func card(_ type: String) throws -> String? {
        let cookie = try PageTests.cookie(served)
        let text = try #require(try served.client().get("/page/data/today", cookie)).text
        guard let start = text.firstRange(of: "\"type\":\"\(type)\"") else { return nil }
        guard let value = text[start.upperBound...].firstRange(of: "\"value\":\"") else { return nil }
        return String(text[value.upperBound...].prefix { $0 != "\"" })
    }

    private static func stage(_ name: String) throws -> String {
        let value = try #require(SampleType("sleepAnalysis")?.categoryValues?.value(of: name))
        return "\(value)"
    }

    @Test func cardShowsSumOfDay() throws {
        try served.keep([
            Self.reading("stepCount", "500", from: -2, to: -1), Self.reading("stepCount", "785", from: 6, to: 6.5),
            Self.reading("stepCount", "639", from: 7, to: 7.5), Self.reading("heartRate", "61", from: 7),
        ])
        #expect(try card("stepCount") == "1,424")
        #expect(try card("heartRate") == "61")
    }

    @Test func cardShowsSumOfLastDayWithSamples() throws {
        try served.keep([Self.reading("stepCount", "500", from: -3, to: -2), Self.reading("stepCount", "20", from: -1, to: 0)])
        #expect(try card("stepCount") == "520")
    }

    @Test func combinesNightFromSources() throws {
        let (core, deep) = (try Self.stage("asleepCore"), try Self.stage("asleepDeep"))
        let (asleep, inBed) = (try Self.stage("asleepUnspecified"), try Self.stage("inBed"))
        try served.keep([
            Self.reading("sleepAnalysis", core, from: -1, to: 3), Self.reading("sleepAnalysis", deep, from: 3, to: 6),
            Self.reading("sleepAnalysis", asleep, from: 5.5, to: 6.0 + 1.0 / 6, source: "ring"),
            // Ends last, and has no stages.
            Self.reading("sleepAnalysis", inBed, from: -1.5, to: 7, source: "phone"),
        ])
        #expect(try card("sleepAnalysis") == "7\u{a0}h 10\u{a0}min")
    }

    @Test func aNapIsNotTheNight() throws {
        let core = try Self.stage("asleepCore")
        try served.keep([
            Self.reading("sleepAnalysis", core, from: -12, to: -5), Self.reading("sleepAnalysis", core, from: 6, to: 6.5),
        ])
        #expect(try card("sleepAnalysis") == "7\u{a0}h")
    }

    @Test func aLongerNightBeforeIsNotTheLastOne() throws {
        let core = try Self.stage("asleepCore")
        try served.keep([
            Self.reading("sleepAnalysis", core, from: -26, to: -17), Self.reading("sleepAnalysis", core, from: 0, to: 6.25),
        ])
        #expect(try card("sleepAnalysis") == "6\u{a0}h 15\u{a0}min")
    }

    /// A card that changes while it is open shows the same answer as one that is loaded.
    @Test func updatesEqualReloadedCard() throws {
        let (core, deep) = (try Self.stage("asleepCore"), try Self.stage("asleepDeep"))
        try served.keep([
            Self.reading("sleepAnalysis", core, from: -1, to: 3), Self.reading("stepCount", "785", from: 6, to: 6.5),
        ])
        let client = try served.client()
        client.send("GET /page/live HTTP/1.1\r\nHost: localhost\r\n\(try PageTests.cookie(served))\r\n")
        #expect(client.read(until: "retry: 2000") != nil)
        try served.keep([
            Self.reading("sleepAnalysis", deep, from: 3, to: 6), Self.reading("stepCount", "639", from: 7, to: 7.5),
        ])
        let updates = try #require(client.read(until: "\"type\":\"stepCount\",\"name\":\"Steps\",\"value\":\"1,424\""))
        #expect(updates.contains("\"value\":\"7\u{a0}h\""), "\(updates)")
    }

    @Test func twoPressuresOfOneFrameAreOneCard() throws {
        try served.keep([
            Self.reading("bloodPressureSystolic", "124", from: 7, source: "cuff", group: 7),
            Self.reading("bloodPressureDiastolic", "79", from: 7, source: "cuff", group: 7),
        ])
        #expect(try card("bloodPressure") == "124/79")
        #expect(try card("bloodPressureSystolic") == nil)
        #expect(try card("bloodPressureDiastolic") == nil)
        // The list of blood pressures leads to both samples.
        let cookie = try PageTests.cookie(served)
        func get(_ target: some StringProtocol) throws -> String {
            try #require(try served.client().get(String(target), cookie)).text
        }
        let list = try get("/page/type/bloodPressure")
        let link = try #require(list.firstMatch(of: #/<th scope="row"><a href="(/page/sample/[^"]+)"/#)).output.1
        let page = try get(link)
        #expect(page.contains("124/79"))
        #expect(page.contains("Systolic Blood Pressure: 124") && page.contains("Diastolic Blood Pressure: 79"))
    }
}
