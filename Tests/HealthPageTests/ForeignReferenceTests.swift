import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// A reference to another person's object gets the same answer as a reference to nothing, on each route of the page, and changes nothing.
@Suite struct ForeignReferenceTests {
    /// A reference to an object of the owner, and one of the same form to nothing.
    private struct Pair {
        var foreign: String
        var missing: String
    }

    private let full: FullStore
    private let cookie: String
    private let samples: [Pair]
    private let numbers: [Pair]

    init() throws {
        full = try FullStore()
        let (served, now) = (full.served, ServedStore.now.microseconds)
        let beats = try served.add([61, 62], from: 1_780_000_000)
        try served.store.samples.delete([beats[0]], description: IngestDescription(kind: .delete, received: now))
        cookie = try PageTests.cookie(served, as: PageTests.other)
        samples = (Array(full.samples.values) + beats).map { uuid in
            let text = uuid.description
            return Pair(foreign: text, missing: text.dropLast() + (text.last == "0" ? "1" : "0"))
        }
        let alerts = try served.store.alerts.all().map(\.id)
        let held = try served.store.quarantine.all().map(\.id)
        let clients = try served.store.clients.all().map(\.id)
        let entries = try served.store.ledger.accounts(limit: 20).map(\.id)
        let notes = try served.store.people.annotations(of: ServedStore.person, from: "1970-01-01", through: "2100-01-01").map(
            \.id)
        let repairs = try served.store.repairs.all().map(\.id)
        numbers = Set(alerts + held + clients + entries + notes + repairs).sorted().map {
            Pair(foreign: "\($0)", missing: "\($0 + 99_000)")
        }
    }

    /// The references that a route's path may contain.
    private func pairs(_ route: PageRoute) -> [Pair] {
        switch route.path {
        case let path where path.hasPrefix("sample/"): samples
        case "type/*", "static/*": []
        default: numbers
        }
    }

    /// Forms, as a person could send them by hand. `*` is the reference.
    private static let forms = [
        "", "do=accept", "do=reject", "do=withdraw&type=heartRate", "do=read&type=heartRate",
        "do=answer&asked=read.heartRate&yes=read.heartRate", "do=remove&id=*", "value=1&at=2026-11-20T07%3A30&zone=Z",
        "parts=yes",
    ]

    private func answer(_ route: PageRoute, _ target: String, _ form: String) throws -> RawClient.Answer {
        route.method == "GET"
            ? try #require(try full.served.client().get("/page/" + target, cookie))
            : try PageTests.post(full.served, "/page/" + target, form, cookie)
    }

    private func state() throws -> [Int64] {
        let store = full.served.store
        return [
            Int64(try store.quarantine.all().count), Int64(try store.samples.latest().count),
            try store.ledger.accounts(limit: 1).last?.id ?? 0,
        ]
    }

    private func expectSame(_ route: PageRoute, _ pair: Pair, target: (String) -> String, form: (String) -> String) throws {
        let (foreign, missing) = (
            try answer(route, target(pair.foreign), form(pair.foreign)),
            try answer(route, target(pair.missing), form(pair.missing))
        )
        let label = "\(route.method) \(target(pair.foreign)) \(form(pair.foreign))"
        #expect(foreign.status == missing.status, "\(label): \(foreign.status), not \(missing.status)")
        #expect(
            foreign.headers["location"]?.replacing(pair.foreign, with: "")
                == missing.headers["location"]?.replacing(pair.missing, with: ""), "\(label)")
        // A number also occurs in other parts of a page, so only UUIDs are replaced.
        let isNumber = Int(pair.foreign) != nil
        let texts = [(foreign, pair.foreign), (missing, pair.missing)].map { answer, reference in
            isNumber ? answer.text : answer.text.replacing(reference, with: "*")
        }
        let isSame = texts[0] == texts[1]
        #expect(isSame, "\(label)")
    }

    @Test func referencesInPaths() throws {
        let before = try state()
        var count = 0
        for route in PageSite.routes where route.path.contains("*") && route.right != .none && !route.path.hasPrefix("data/") {
            for pair in pairs(route) {
                for form in route.method == "GET" ? [""] : Self.forms where form.utf8.count <= route.body || form.isEmpty {
                    try expectSame(
                        route, pair, target: { route.path.replacing("*", with: $0) }, form: { form.replacing("*", with: $0) })
                    count += 1
                }
            }
        }
        #expect(count > 100)
        #expect(try state() == before)
    }

    @Test func referencesInForms() throws {
        let before = try state()
        for route in PageSite.routes
        where !route.path.contains("*") && route.method == "POST" && route.right == .person && route.path != "logout" {
            for pair in numbers {
                try expectSame(route, pair, target: { _ in route.path }, form: { "do=remove&id=\($0)" })
            }
        }
        #expect(try state() == before)
    }

    /// The UUIDs of a correlation in a member's file are data as well.
    @Test func referencesInConditions() throws {
        let route = try #require(PageSite.routes.first { $0.path == "care/plan" })
        for pair in samples {
            for field in ["workout", "correlation"] {
                try expectSame(
                    route, pair,
                    target: { "care/plan?type=heartRate&repair=scale&by.scale=2&where=\(field)%20%3D%20%22\($0)%22" },
                    form: { _ in "" })
            }
        }
    }
}
