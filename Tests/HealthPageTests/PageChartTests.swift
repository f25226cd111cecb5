import FoundationEssentials
import HTTPServerTesting
import HealthAnswers
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// What charts are drawn of.
@Suite struct PageChartTests {
    private struct ChartResponse: Decodable {
        struct Series: Decodable {
            var type: String
            var unit: String
            var sum: Bool
            var gap: Int64
            var points: [[Double]]
        }
        struct Tick: Decodable {
            var at: Int64
            var text: String
        }
        var series: [Series]
        var ticks: [Tick]
    }

    private let served: ServedStore
    private let cookie: String
    private static let first: Int64 = 1_790_000_000

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
    }

    private func reported(_ query: String, from: Int64, to: Int64) throws -> ChartResponse {
        let target = "/page/data/series?\(query)&from=\(from * 1000)&to=\(to * 1000)"
        let answer = try #require(try served.client().get(target, cookie))
        try #require(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(ChartResponse.self, from: Data(answer.body))
    }

    @Test func pixelHasMinimumMaximumAndAverage() throws {
        try served.add([60, 90, 66, 70], from: Self.first)
        let series = try reported("types=heartRate&width=100", from: Self.first, to: Self.first + 3600).series[0]
        #expect(series.points.map { $0[4] } == [60, 90, 66, 70] && !series.sum && series.unit == "/min")
        // Two samples a pixel.
        let coarse = try reported("types=heartRate&width=100", from: Self.first - 60, to: Self.first + 96_000 - 60).series[0]
        #expect(coarse.points.map { Array($0[2...]) } == [[60, 60, 60], [66, 90, 78], [70, 70, 70]])
        // By the hour, day, year: the same figures as statistics.
        for length in [86_400, 40 * 86_400, 3000 * 86_400] as [Int64] {
            let points = try reported("types=heartRate&width=60", from: Self.first - length, to: Self.first + 600).series[0]
                .points
            #expect(points.map { $0[2] }.min() == 60 && points.map { $0[3] }.max() == 90, "\(length)")
        }
        #expect(
            try reported("types=heartRate&unit.heartRate=Hz&width=100", from: Self.first, to: Self.first + 3600).series[0].points[
                0][
                    4] == 1)
    }

    @Test func chartReturnsCalendarSumsOfSeveralTypes() throws {
        try served.add([20, 30], of: "stepCount")
        try served.add([60])
        let reported = try reported("types=stepCount,heartRate&width=100", from: Self.first - 86_400, to: Self.first + 86_400)
        #expect(reported.series.map(\.type) == ["stepCount", "heartRate"])
        #expect(reported.series[0].sum && reported.series[0].points.map { $0[4] }.reduce(0, +) == 50)
    }

    @Test func aPauseIsAGap() throws {
        try served.add(Array(repeating: 60, count: 10))
        try served.add(Array(repeating: 70, count: 10), from: Self.first + 7200)
        let series = try reported("types=heartRate&width=400", from: Self.first, to: Self.first + 9000).series[0]
        #expect(series.gap == 240_000)
        #expect(zip(series.points.dropFirst(), series.points).filter { Int64($0[0] - $1[0]) > series.gap }.count == 1)
    }

    @Test func ticksFollowLocalTime() throws {
        let path = "/usr/share/zoneinfo/Europe/Berlin"
        let berlin = try TimeZoneRules(
            identifier: "Europe/Berlin", tzif: Array(try #require(FileManager.default.contents(atPath: path))))
        let texts = try PageFiles(folder: PageTests.folder).texts(nil)
        // The night of 25 October 2026: 02:00 comes twice.
        func ticks(_ from: Int64, _ to: Int64, _ width: String) throws -> [(at: Int64, text: String)] {
            let frame = try #require(ChartFrame(from: from * 1000, to: to * 1000, width: Int(width) ?? 0))
            return ChartTicks(frame, zone: berlin, texts: texts).all
        }
        let autumn: Int64 = 1_792_879_200
        let night = try ticks(autumn, autumn + 5 * 3600, "480").map(\.text)
        #expect(night == ["25 Oct", "01:00", "02:00", "02:00", "03:00", "04:00"])
        let days = try ticks(autumn - 86_400, autumn + 3 * 86_400, "500")
        #expect(days.map(\.text).prefix(4) == ["24 Oct", "25 Oct", "26 Oct", "27 Oct"])
        #expect(days[2].at - days[1].at == 25 * 3_600_000)
        // The morning of 28 March 2027 has no 02:00.
        let spring: Int64 = 1_806_188_400
        #expect(try ticks(spring, spring + 4 * 3600, "480").map(\.text) == ["28 Mar", "01:00", "03:00", "04:00", "05:00"])
        #expect(try ticks(autumn, autumn + 700 * 86_400, "300").map(\.text).contains("2027"))
    }

    @Test func refusesInvalidIntervals() throws {
        for query in [
            "types=heartRate&from=5", "types=heartRate&from=5&to=4", "types=nothing&from=1&to=2", "types=workout&from=1&to=2",
            "types=heartRate&from=1&to=9000000000000000000", "types=heartRate&from=-9223372036854775808&to=9223372036854775807",
            "types=heartRate&from=-9223372036854775808&to=-9223372036854775807", "types=a,b,c,d,e&from=1&to=2", "from=1&to=2",
        ] {
            let answer = try #require(try served.client().get("/page/data/series?" + query, cookie))
            #expect(answer.status == 400, "\(query)")
        }
    }

    /// Two doses a day for 300 days. The chart of a year has a mark for each day, up to the last.
    @Test func chartShowsAllEvents() throws {
        let type = try #require(SampleType("medicationDoseEvent"))
        let taken = try #require(type.categoryValues?.value(of: "taken"))
        let body = try SampleBody(encoding: MedicationDoseEvent(medication: "Ibu", scheduleType: "schedule"))
        let begin = Self.first - 20_000_000
        let last = begin + 600 * 43_200
        try served.keep(
            try (0...600).map { index in
                let start = Instant(seconds: begin + Int64(index) * 43_200)
                return Reading(
                    origin: Origin(
                        person: ServedStore.person, type: type, source: SourceRevision(id: "x", name: "x", version: nil),
                        device: nil),
                    numeral: try Numeral("\(taken)"), unit: .one, time: .instants(start: start, end: start, offset: .utc),
                    body: body,
                    place: Place(.line, index + 1))
            })
        struct Events: Decodable {
            struct Event: Decodable {
                var from: Int64
                var name: String
            }
            var events: [Event]
        }
        func events(_ width: Int) throws -> [Events.Event] {
            let (from, to) = ((last - 365 * 86_400) * 1000, (last + 86_400) * 1000)
            let answer = try #require(
                try served.client().get("/page/data/events?types=heartRate&from=\(from)&to=\(to)&width=\(width)", cookie))
            return try JSONDecoder().decode(Events.self, from: Data(answer.body)).events
        }
        let wide = try events(800)
        #expect(wide.last?.name == "Ibu · Taken")
        #expect(wide.count >= 599 && wide.last?.from == last * 1000)
        let narrow = try events(300)
        #expect(narrow.count > 200 && narrow.count <= 300 && narrow.first?.from == begin * 1000)
        #expect(narrow.contains { $0.name.hasSuffix("×2") })
    }

    /// A day leads to the range that contains it, and to its readings, without a script.
    @Test func aDayIsReachable() throws {
        try served.add((0..<45).map { 50 + $0 })
        try served.add([99], from: Self.first + 30 * 86_400)
        func answer(_ target: String) throws -> RawClient.Answer { try #require(try served.client().get(target, cookie)) }
        #expect(try answer("/page/type/heartRate").text.contains("<input type=\"date\" name=\"date\""))
        let target = try #require(try answer("/page/type/heartRate?range=week&date=2026-09-21").headers["location"])
        #expect(target.hasPrefix("/page/type/heartRate?range=week&back=16&before="))
        let text = try answer(target).text
        #expect(
            text.contains("<details class=\"behind\" open>") && text.contains("<td>94 /min</td>")
                && !text.contains("<td>99 /min</td>"))
        for wrong in ["x", "2026-09-31", "2026-9-1"] { #expect(try answer("/page/type/heartRate?date=\(wrong)").status == 400) }
        // A day that has not come is today.
        #expect(try answer("/page/type/heartRate?range=day&date=2099-01-01").headers["location"]?.contains("back=0&") == true)
    }

    /// All readings can be opened, also those of one instant at the end of a page.
    @Test func allReadingsAreReachable() throws {
        try served.add((0..<45).map { 50 + $0 })
        for source in ["one", "two", "three"] {
            try served.keep([
                Reading(
                    origin: Origin(
                        person: ServedStore.person, type: .heartRate,
                        source: SourceRevision(id: source, name: source, version: nil),
                        device: nil),
                    numeral: try Numeral("40"), unit: SampleType.heartRate.canonicalUnit,
                    time: .instants(
                        start: Instant(seconds: Self.first + 25 * 60), end: Instant(seconds: Self.first + 25 * 60), offset: .utc),
                    place: Place(.line, 1))
            ])
        }
        var (found, target, pages) = (Set<Substring>(), "/page/type/heartRate", 0)
        while pages < 9 {
            let text = try #require(try served.client().get(target, cookie)).text
            found.formUnion(text.matches(of: #/\/page\/sample\/([0-9a-f-]{36})/#).map(\.output.1))
            pages += 1
            guard let next = text.firstMatch(of: #/href="(\/page\/type\/heartRate\?before=[0-9]+)#latest"/#) else { break }
            target = String(next.output.1)
        }
        #expect(found.count == 48 && pages == 3)
    }
}
