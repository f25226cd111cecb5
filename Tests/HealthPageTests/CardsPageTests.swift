import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthPage

/// The order of the cards of all data and of Today, and hidden cards.
@Suite struct CardsPageTests {
    private let served: ServedStore
    private let cookie: String

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
        let now = ServedStore.now.microseconds / 1_000_000
        for (value, type) in [("61", "heartRate"), ("52", "restingHeartRate"), ("80.2", "bodyMass"), ("22", "bodyFatPercentage")]
        {
            try served.add(numerals: [value], of: type, from: now - 3600, every: 60)
        }
        try served.add(numerals: ["500"], of: "stepCount", from: now - 3600, every: 60)
    }

    private func get(_ target: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try #require(try served.client().get(target, cookie ?? self.cookie))
    }

    private func change(_ body: String, _ cookie: String? = nil) throws -> RawClient.Answer {
        try PageTests.post(served, "/page/cards", body, cookie ?? self.cookie)
    }

    /// The types of the cards and the groups on Today, in their order.
    private func shown(_ cookie: String? = nil) throws -> [String] {
        try get("/page/all", cookie).text.matches(of: #/data-type="([A-Za-z]+)"|<h2 id="([a-z]+)"/#).compactMap {
            ($0.output.1 ?? $0.output.2).map(String.init)
        }
    }

    private static let standard = [
        "activity", "stepCount", "heart", "heartRate", "restingHeartRate", "body", "bodyMass", "bodyFatPercentage",
    ]

    @Test func cardsAndGroupsMoveAmongTheirNeighbors() throws {
        #expect(try shown() == Self.standard)
        let answer = try change("do=up&key=restingHeartRate")
        #expect(answer.status == 303 && answer.headers["location"] == "/page/cards?key=restingHeartRate&did=up")
        #expect(try shown()[3...4] == ["restingHeartRate", "heartRate"])
        // The first card stays in its place.
        #expect(try change("do=up&key=restingHeartRate").status == 303)
        #expect(try shown()[3...4] == ["restingHeartRate", "heartRate"])
        #expect(try change("do=down&key=group.activity").status == 303)
        #expect(try shown()[0...4] == ["heart", "restingHeartRate", "heartRate", "activity", "stepCount"])
        // A new type follows.
        try served.add(
            numerals: ["45"], of: "heartRateVariabilitySDNN", from: ServedStore.now.microseconds / 1_000_000 - 60, every: 60)
        #expect(try shown()[0...3] == ["heart", "restingHeartRate", "heartRate", "heartRateVariabilitySDNN"])
        #expect(try change("do=reset").status == 303)
        #expect(try shown().filter { $0 != "heartRateVariabilitySDNN" } == Self.standard)
    }

    @Test func aHiddenCardIsNotOnToday() throws {
        #expect(try change("do=hide&key=bodyMass").status == 303)
        var page = try get("/page/").text
        #expect(!page.contains("data-type=\"bodyMass\"") && page.contains("data-hidden=\"bodyMass\""))
        #expect(page.contains("Hidden cards: 1"))
        #expect(try !get("/page/all").text.contains("data-type=\"bodyMass\""))
        #expect(try get("/page/cards").text.contains("aria-label=\"Show: Weight\""))
        // Its own page remains.
        #expect(try get("/page/type/bodyMass").status == 200)
        #expect(try change("do=show&key=bodyMass").status == 303)
        page = try get("/page/").text
        #expect(page.contains("data-type=\"bodyMass\"") && !page.contains("Hidden cards"))
        #expect(try change("do=hide&key=rings").status == 303)
        #expect(try get("/page/").text.contains("data-hidden=\"rings\""))
    }

    /// A key can be pressed repeatedly.
    @Test func theUsedButtonGetsTheFocus() throws {
        func focused(_ query: String) throws -> [Substring] {
            try get("/page/cards?\(query)").text.matches(of: #/aria-label="([^"]*)" autofocus/#).map(\.output.1)
        }
        #expect(try focused("key=restingHeartRate&did=up") == ["Up: Resting Heart Rate"])
        #expect(try focused("key=heartRate&did=up") == ["Down: Heart Rate"])
        #expect(try focused("key=restingHeartRate&did=down") == ["Up: Resting Heart Rate"])
        #expect(try focused("key=heartRate&did=hide") == ["Hide: Heart Rate"])
        #expect(try focused("") == [] && focused("key=heartRate&did=nothing") == [])
    }

    @Test func refusesCardChangesForOtherPeople() throws {
        let theirs = try PageTests.cookie(served, as: PageTests.other)
        #expect(try change("do=hide&key=bodyMass&person=\(PageTests.other)").status == 303)
        #expect(try served.store.people.todayLayout(of: PageTests.other) == .standard)
        // The other person has no such card.
        #expect(try change("do=show&key=bodyMass&person=\(ServedStore.person)", theirs).status == 404)
        #expect(try change("do=reset&person=\(ServedStore.person)", theirs).status == 303)
        #expect(try served.store.people.todayLayout(of: ServedStore.person).hidden == ["bodyMass"])
        #expect(try !get("/page/cards", theirs).text.contains("Weight"))
        #expect(try change("do=hide&key=heartRate", "X: y\r\n").status == 401)
        #expect(try served.store.people.todayLayout(of: ServedStore.person).hidden == ["bodyMass"])
    }

    @Test func otherInputIsRefused() throws {
        for (body, status) in [
            ("do=hide&key=nothing", 404), ("do=hide&key=vo2Max", 404), ("do=hide", 404), ("key=heartRate", 400),
            ("do=drop&key=heartRate", 400), ("do=hide&key=group.heart", 400),
            ("do=hide&key=\(String(repeating: "a", count: 5000))", 413),
        ] {
            #expect(try change(body).status == status, "\(body.prefix(40))")
        }
        #expect(try served.store.people.todayLayout(of: ServedStore.person) == .standard)
    }
}
