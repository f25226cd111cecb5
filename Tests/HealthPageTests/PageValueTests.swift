import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// The value of each kind of object on the page.
@Suite struct PageValueTests {
    private let served: ServedStore

    init() throws { served = try ServedStore() }

    private func shown(
        _ name: String, _ value: Double = 0, body: SampleBody? = nil, to seconds: Int64 = 0, in language: String? = nil
    ) throws -> String {
        let type = try #require(SampleType(name))
        let start = ServedStore.now
        let reading = Reading(
            origin: Origin(
                person: ServedStore.person, type: type, source: SourceRevision(id: "phone", name: "phone", version: nil)),
            numeral: try Numeral("\(Int(value))"), unit: .one,
            time: .instants(start: start, end: Instant(microseconds: start.microseconds + seconds * 1_000_000), offset: .utc),
            body: body, place: Place(.line, 1))
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: start)
        let values = PageValues(texts: try PageFiles(folder: PageTests.folder).texts(language), units: { _ in nil })
        let (text, unit) = try values.shown(try #require(samples.first).sample, in: served.store)
        return unit.isEmpty ? text : text + " " + unit
    }

    private func name(_ id: String) throws -> String { try #require(SampleType(id)).displayName }

    @Test func eachKindHasText() throws {
        var summary = ActivitySummary(date: "2026-11-20")
        #expect(try shown("activitySummary", body: SampleBody(encoding: summary)) == name("activitySummary"))
        summary.exerciseTime = Amount(try Numeral("31"), try Unit(ucum: "min"))
        #expect(try shown("activitySummary", body: SampleBody(encoding: summary)) == "31 min")
        #expect(try shown("workoutRoute") == name("workoutRoute"))
        #expect(try shown("workoutRoute", to: 1800) == "30\u{a0}min")
        #expect(try shown("electrocardiogram", 1) == "Sinus rhythm")
        #expect(try shown("workout", 37) == "Running")
        let german = try [("electrocardiogram", 1.0), ("workout", 37), ("sleepAnalysis", 4)].map { try shown($0, $1, in: "de") }
        #expect(german == ["Sinusrhythmus", "Laufen", "Tiefschlaf"])
        // Numbers that no catalogue knows.
        for name in ["electrocardiogram", "sleepAnalysis", "workout"] {
            let text = try shown(name, 9999)
            #expect(!text.contains("9999"), "\(text)")
        }
    }
}
