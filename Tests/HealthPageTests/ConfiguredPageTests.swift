import HTTPServerTesting
import HealthAnswers
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// Parts of the page that the owner configures: categories of blood pressure, and a map below routes.
@Suite struct ConfiguredPageTests {
    private static let midnight: Int64 = 1_800_000_000 - 8 * 3600
    private static let plainPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// Stores a reading one minute after midnight.
    private func keep(
        _ name: String, _ value: String, in served: ServedStore, body: SampleBody? = nil, group: UInt64? = nil
    ) throws -> SampleIdentity {
        let type = try #require(SampleType(name))
        let start = Instant(seconds: Self.midnight + 60)
        let end = Instant(seconds: Self.midnight + (type.kind == .quantity ? 60 : 720))
        let source = SourceRevision(id: "watch", name: "watch", version: nil)
        let reading = Reading(
            origin: Origin(person: ServedStore.person, type: type, source: source, device: nil), numeral: try Numeral(value),
            unit: type.kind == .quantity ? type.canonicalUnit : .one, time: .instants(start: start, end: end, offset: .utc),
            group: group.map { .shared($0) } ?? .none, body: body, place: Place(.line, 1))
        return try #require(try served.keep([reading]).first)
    }

    private func route(in served: ServedStore) throws -> SampleIdentity {
        var writer = PointsWriter(columns: Array(WorkoutRoute.columns.prefix(4)))
        for minute in 0..<12 {
            try writer.append([
                Numeral("\(minute * 60_000_000)"), Numeral("52.\(510 + minute * 2)"), Numeral("13.4"), Numeral("\(40 + minute)"),
            ])
        }
        let (points, content) = try writer.end()
        return try keep(
            "workoutRoute", "0", in: served, body: SampleBody(encoding: WorkoutRoute(points: points), content: content))
    }

    private func answer(_ target: String, _ served: ServedStore, _ language: String = "en") throws -> RawClient.Answer {
        let headers = try PageTests.cookie(served) + "Accept-Language: \(language)\r\n"
        return try #require(try served.client().get(target, headers))
    }

    private func pressures(in served: ServedStore) throws {
        _ = try keep("bloodPressureSystolic", "142", in: served, group: 7)
        _ = try keep("bloodPressureDiastolic", "84", in: served, group: 7)
    }

    private func samplePage(_ served: ServedStore) throws -> String {
        let list = try answer("/page/type/bloodPressure", served).text
        let link = try #require(list.firstMatch(of: #/<th scope="row"><a href="(/page/sample/[^"]+)"/#)).output.1
        return try answer(String(link), served).text
    }

    @Test func aPressureHasNoCategoryWithoutAGuideline() throws {
        let served = try ServedStore()
        try pressures(in: served)
        for text in [try answer("/page/", served).text, try samplePage(served)] {
            #expect(text.contains("142/84") && !text.contains("ypertension") && !text.contains("ESC"))
        }
    }

    @Test(arguments: [
        (PressureGuideline.accAHA2017, "Stage 2 hypertension (ACC/AHA 2017)", "Hypertonie Stadium 2 (ACC/AHA 2017)"),
        (.escESH2018, "Grade 1 hypertension (ESC/ESH 2018)", "Hypertonie Grad 1 (ESC/ESH 2018)"),
        (.esc2024, "Hypertension (ESC 2024)", "Hypertonie (ESC 2024)"),
    ])
    func aPressureHasTheCategoryOfTheGuideline(_ guideline: PressureGuideline, _ english: String, _ german: String) throws {
        let served = try ServedStore(page: { $0.pressureGuideline = guideline })
        try pressures(in: served)
        #expect(try answer("/page/all", served).text.contains("<li>\(english)</li>"))
        #expect(try answer("/page/all", served, "de").text.contains("<li>\(german)</li>"))
        #expect(try samplePage(served).contains("<p>\(english)</p>"))
    }

    /// Each category has a text.
    @Test func categoriesHaveTexts() throws {
        for (language, texts) in try PageFiles.read(texts: PageTests.folder) {
            for category in PressureGuideline.Category.allCases {
                #expect(texts["pressure." + category.rawValue] != nil, "\(language): \(category)")
            }
        }
    }

    @Test func aRouteWithoutTilesLoadsNothingFromElsewhere() throws {
        let served = try ServedStore()
        let page = try answer("/page/sample/\(try route(in: served))", served)
        #expect(page.text.contains("class=\"way\"") && !page.text.contains("<image") && !page.text.contains("http"))
        #expect(page.headers["content-security-policy"] == Self.plainPolicy)
    }

    @Test func drawsRouteOverConfiguredTiles() throws {
        let tiles = try #require(
            MapTiles(url: "https://tiles.example.org:8443/{z}/{x}/{y}.png?a=1&b=2", attribution: "© <Example>"))
        let served = try ServedStore(page: { $0.tiles = tiles })
        let route = try route(in: served)
        let page = try answer("/page/sample/\(route)", served)
        let images = page.text.matches(of: #/<image href="([^"]*)"/#).map(\.output.1)
        #expect((1...16).contains(images.count) && page.text.contains("class=\"way\""))
        #expect(
            images.allSatisfy {
                $0.wholeMatch(of: #/https://tiles\.example\.org:8443/[0-9]+/[0-9]+/[0-9]+\.png\?a=1&amp;b=2/#) != nil
            })
        #expect(page.text.contains("<span class=\"credit\">© &lt;Example&gt;</span>"))
        #expect(
            page.headers["content-security-policy"]
                == Self.plainPolicy.replacing("img-src 'self'", with: "img-src 'self' https://tiles.example.org:8443"))
        // Pages without a map do not allow the server.
        _ = try keep("heartRate", "61", in: served)
        for target in ["/page/", "/page/type/heartRate", "/page/type/workoutRoute", "/page/add"] {
            let other = try answer(target, served)
            #expect(
                other.headers["content-security-policy"] == Self.plainPolicy && !other.text.contains("tiles.example"), "\(target)"
            )
        }
    }
}
