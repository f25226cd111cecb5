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

        init(foreign: String, missing: String) { (self.foreign, self.missing) = (foreign, missing) }

        /// A text and one that differs in its last letter.
        init(of text: String) { self.init(foreign: text, missing: text.dropLast() + (text.last == "0" ? "1" : "0")) }
    }

    private let full: FullStore
    private let cookie: String
    private let samples: [Pair]
    private let numbers: [Pair]
    private let quarantined: [Pair]

    init() throws {
        full = try FullStore()
        let (served, now) = (full.served, ServedStore.now.microseconds)
        let beats = try served.add([61, 62], from: 1_780_000_000)
        try served.store.samples.delete([beats[0]], description: IngestDescription(kind: .delete, received: now))
        cookie = try PageTests.cookie(served, as: PageTests.other)
        samples = (Array(full.samples.values) + beats).map { uuid in
            Pair(of: uuid.description)
        }
        let alerts = try served.store.alerts.all().map(\.id)
        quarantined = try served.store.quarantine.all().map { Pair(of: $0.stored.sample.identity.description) }
        let clients = try served.store.clients.all().map(\.id)
        let entries = try served.store.ledger.accounts(limit: 20).map(\.id)
        let notes = try served.store.people.annotations(of: ServedStore.person, from: "1970-01-01", through: "2100-01-01").map(
            \.id)
        let repairs = try served.store.repairs.all().map(\.id)
        numbers = Set(alerts + clients + entries + notes + repairs).sorted().map {
            Pair(foreign: "\($0)", missing: "\($0 + 99_000)")
        }
    }

    /// The references that a route's path may contain.
    private func pairs(_ route: PageRoute) -> [Pair] {
        switch route.path {
        case let path where path.hasPrefix("sample/"): samples
        case let path where path.hasPrefix("care/held/"): quarantined
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
        #expect(count > 100 && !quarantined.isEmpty)
        #expect(try state() == before)
    }

    /// A text with the references of a kind in all their fields.
    private func fields(_ kind: PageFields.Kind, _ reference: String) -> String {
        PageFields.references.filter { $0.kind == kind }.map { field($0.name, $0.form, reference) }.joined(separator: "&")
    }

    private func field(_ name: String, _ form: String, _ reference: String) -> String {
        "\(name)=" + form.replacing("*", with: reference).replacing(" ", with: "%20").replacing("\"", with: "%22")
    }

    /// Pairs of each kind. Some samples are live, one is deleted, one is granted by itself.
    private func pairs(_ kind: PageFields.Kind) throws -> [Pair] {
        switch kind {
        case .object:
            try ["heartRate", "labResultRecord", "workout"].map { Pair(of: try #require(full.samples[$0]).description) }
                + samples.suffix(2)
        case .number: numbers
        case .person: [Pair(of: ServedStore.person)]
        case .source:
            ["ble.heart-rate", "qx0", "bluetooth:C0:01:02:03:04:00"].map { Pair(foreign: $0, missing: $0.dropLast() + "7") }
        }
    }

    /// The fields that make a request of a route valid, if it needs some.
    private static func sampleValue(_ route: PageRoute) -> String {
        switch route.path {
        case "data/series", "data/events": "types=heartRate&"
        case "care/plan", "care/repair": "type=heartRate&repair=scale&by.scale=2&"
        case "data/upload/*", "data/files/*": "at=0&name=qx.csv&"
        case "add": "type=bodyMass&"
        default: ""
        }
    }

    /// The routes without the stream, which reads no field, and those that everybody may use.
    private static let routes = PageSite.routes.filter { $0.right != .none && $0.path != "live" && $0.path != "logout" }

    /// The actions of the forms of the page.
    private static let actions = [
        "", "accept", "reject", "remove", "acknowledge", "add", "show", "hide", "code", "assign", "adopt", "withdraw", "grant",
        "read",
        "answer",
    ]

    /// The things of the owner. The member's own things may change.
    private func owned() throws -> [String] {
        let (store, person) = (full.served.store, ServedStore.person)
        var all = try samples.compactMap { SampleIdentity($0.foreign) }.map { uuid in
            "\(try store.samples.lookup(uuid).map { "\($0)".prefix(20) } ?? "-")"
        }
        all.append("\(try store.quarantine.all().count)")
        // A check in the background changes the state of an alert.
        all.append("\(try store.alerts.all(of: person).map { [$0.id, Int64($0.bound)] })")
        all += try store.people.names().map { "\($0.key) \($0.value)" }.sorted()
        all += try store.people.goals(of: person).map { "\($0.key) \($0.value)" }.sorted()
        all.append("\(try store.people.annotations(of: person, from: "1970-01-01", through: "2100-01-01"))")
        all.append("\(try store.devices.adopted().map(\.person))")
        for client in try store.clients.all() {
            all.append("\(try store.clients.grants(of: client).filter { $0.person == person })")
        }
        all.append("\(try store.repairs.all().count)")
        all.append("\(try store.pageSessions.all(at: ServedStore.now).filter { $0.person == person }.count)")
        return all
    }

    @Test func eachFieldOfThePageIsDeclared() throws {
        let read = try PageFields.read()
        let declared = PageFields.others.union(PageFields.references.map { String($0.name.prefix { $0 != "." }) })
        #expect(read.subtracting(declared) == [], "Declare what these fields refer to.")
        #expect(PageFields.others.subtracting(read) == [])
    }

    @Test func referencesInQueries() throws {
        let before = try owned()
        for route in Self.routes where route.method == "GET" && !route.path.contains("*") {
            for reference in PageFields.references {
                for pair in try pairs(reference.kind) {
                    try expectSame(
                        route, pair,
                        target: { "\(route.path)?\(Self.sampleValue(route))\(field(reference.name, reference.form, $0))" },
                        form: { _ in "" })
                }
            }
        }
        #expect(try owned() == before)
    }

    @Test func referencesInForms() throws {
        let before = try owned()
        let path = try #require(samples.first)
        for route in Self.routes where route.method == "POST" {
            let target = route.path.replacing("*", with: path.missing)
            for kind in PageFields.Kind.allCases {
                for (action, pair) in try Self.actions.flatMap({ action in try pairs(kind).suffix(6).map { (action, $0) } }) {
                    let isData = route.path.hasPrefix("data/")
                    guard !isData || action.isEmpty else { continue }
                    try expectSame(
                        route, pair, target: { isData ? "\(target)?\(Self.sampleValue(route))\(fields(kind, $0))" : target },
                        form: { isData ? "" : "\(Self.sampleValue(route))do=\(action)&\(fields(kind, $0))" })
                }
            }
        }
        let changed = try zip(before, owned()).filter { $0 != $1 }.map { "\($0) became \($1)" }
        #expect(changed.isEmpty, "\(changed.joined(separator: "\n"))")
    }

    /// Every sample of the owner in a condition of a repair.
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

    /// A piece of another person's unfinished upload is a piece of none.
    @Test func referencesToDrafts() throws {
        let (draft, missing) = ("5b1f0000-0000-4000-8000-000000000001", "5b1f0000-0000-4000-8000-000000000002")
        let owner = full.cookie
        let name = "name=qx.csv"
        #expect(try PageTests.post(full.served, "/page/data/upload/\(draft)?\(name)&at=0", "owner", owner).status == 200)
        for route in Self.routes where route.path.hasPrefix("data/") && route.path.contains("*") {
            for query in ["at=5", "at=2", "at=5&whole=true", "at=0"] {
                try expectSame(
                    route, Pair(foreign: draft, missing: missing),
                    target: { route.path.replacing("*", with: $0) + "?\(name)&\(query)" }, form: { _ in "abc" })
            }
        }
        // The owner's piece is as it was, so the next one fits.
        let next = try PageTests.post(full.served, "/page/data/upload/\(draft)?\(name)&at=5", "", owner)
        #expect(next.status == 200 && next.text.contains("\"have\":5"), "\(next.text)")
    }
}
