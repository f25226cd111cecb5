import FileSource
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Ingestion
import Pipeline
import SampleStore
import Testing

@testable import HealthAPI
@testable import HealthServing

/// A reference to another's object gets the same answer as a reference to nothing, on each route of the API, and changes nothing.
///
/// The requests are generated from ``RouteTable``. A route with a new parameter or body fails until the tables below name its references.
@Suite struct APIReferenceTests {
    /// A reference to another's object, and one of the same form to nothing.
    private struct Pair: Sendable {
        var foreign: String
        var missing: String
    }

    /// The things that a request can refer to.
    private enum Kind: CaseIterable {
        case object, person, type, source, device, anchor, tag, key
    }

    private static let anna = "7f9c0000-0000-4000-8000-000000000001"
    private let served: ServedStore
    private let pairs: [Kind: [Pair]]
    private let untouched: [SampleIdentity]

    init() throws {
        let served = try ServedStore { settings in
            let intake = IntakeService(store: settings.store, zone: settings.zone, now: settings.now)
            settings.intake = { try intake.run($0.kind, file: $0.file, grouping: $0.grouping, by: $0.client) }
        }
        self.served = served
        let (store, now) = (served.store, ServedStore.now)
        try store.people.save(Person(id: Self.anna, name: "Anna"))
        func strap(_ person: String) -> Origin {
            Origin(
                person: person, type: .heartRate, source: SourceRevision(id: "strap", name: "Strap", version: nil),
                device: Device(key: "qx-7", name: "Qx", manufacturer: "Qy", model: "Qz", serial: "Q9"))
        }
        let beats = try [ServedStore.person, Self.anna].map { person in
            try served.keep(
                (0..<3).map { index in
                    let start = Instant(seconds: 1_790_000_000 + Int64(index) * 60)
                    return Reading(
                        origin: strap(person), numeral: try Numeral(index == 2 ? "9000" : "6\(index)"),
                        unit: SampleType.heartRate.canonicalUnit,
                        time: .instants(start: start, end: start, offset: .utc), place: Place(.line, index + 1))
                })
        }
        for own in beats {
            try store.samples.delete([own[1]], description: IngestDescription(kind: .delete, received: now.microseconds))
        }
        let routes = try [ServedStore.person, Self.anna].flatMap { try served.keep([Self.route(of: $0)]) }
        let record = try served.addRecord("Flu")
        // Another client's object.
        try served.grant("bodyMass", reading: .all, to: served.watch)
        let line = #"{"type":"bodyMass","start":"2026-11-20T07:00:00Z","value":80,"unit":"kg"}"#
        let saved = try served.post("/v1/samples", line, "Idempotency-Key: morning\r\n")
        #expect(saved.status == 200)
        let named = try #require(saved.text.firstMatch(of: #/"uuid":"([^"]+)"/#)).output.1
        let mass = try #require(SampleIdentity(String(named)))
        let untouched = beats.flatMap { $0 } + routes + [record, mass]
        self.untouched = untouched
        let tag = try #require(try served.get("/v1/samples/\(mass)").headers["etag"])
        let anchor = try #require(try served.get("/v1/changes").text.firstMatch(of: #/"anchor":"([^"]+)"/#)).output.1
        pairs = [
            .object: untouched.map { uuid in
                let text = uuid.description
                return Pair(foreign: text, missing: text.dropLast() + (text.last == "0" ? "1" : "0"))
            },
            .person: [Pair(foreign: Self.anna, missing: "7f9c0000-0000-4000-8000-000000000002")],
            .type: [
                Pair(foreign: "heartRate", missing: "restingHeartRate"), Pair(foreign: "bodyMass", missing: "leanBodyMass"),
                Pair(foreign: "immunizationRecord", missing: "conditionRecord"),
            ],
            .source: [
                Pair(foreign: "strap", missing: "strip"), Pair(foreign: "Strap", missing: "Strip"),
                Pair(foreign: "client.1", missing: "client.9"), Pair(foreign: "watch", missing: "witch"),
            ],
            .device: ["qx-7", "Qx", "Qy", "Qz", "Q9"].map { Pair(foreign: $0, missing: "Z" + $0.dropFirst()) },
            .anchor: [Pair(foreign: String(anchor), missing: String(anchor.reversed()))],
            .tag: [Pair(foreign: tag, missing: "\"" + tag.dropFirst().dropLast().reversed() + "\"")],
            .key: [Pair(foreign: "morning", missing: "evening")],
        ]
    }

    private static func route(of person: String) throws -> Reading {
        var writer = PointsWriter(columns: WorkoutRoute.columns)
        try writer.append([try Numeral("0"), try Numeral("51.4"), try Numeral("5.4"), nil, nil, nil, nil, nil])
        let (points, content) = try writer.end()
        let start = Instant(seconds: 1_790_000_000)
        return Reading(
            origin: Origin(
                person: person, type: try #require(SampleType("workoutRoute")),
                source: SourceRevision(id: "strap", name: "Strap", version: nil), device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: start, end: start, offset: .utc),
            body: try SampleBody(encoding: WorkoutRoute(points: points), content: content), place: Place(.line, 1))
    }

    /// A new client with its token. It may write some types and read nothing. A request leaves nothing to the next one.
    private func newClient(_ number: Int) throws -> (client: Client, token: String) {
        let (clients, now) = (served.store.clients, ServedStore.now)
        let client = try clients.add(named: "asker \(number)", purpose: "Tests", app: PhoneApp.healthAutoExport.id, at: now)
        for name in ["food", "workout", "bodyFatPercentage"] { try served.grant(name, to: client) }
        return (client, try clients.makeToken(for: client, at: now))
    }

    // MARK: The references of a request

    /// Texts whose form does not show what they refer to. `*` is the reference. `nil` if the parameter is not declared here.
    private static func templates(ofText name: String) -> [(Kind, String)]? {
        switch name {
        case "source": [(.source, "*")]
        case "device": [(.device, "*")]
        case "after": [(.anchor, "*")]
        case "If-Match": [(.tag, "*")]
        case "Idempotency-Key": [(.key, "*")]
        case "where": conditions
        // They refer to nothing that is stored.
        case "from", "to", "anchor", "on", "zone", "unit", "sort", "show", "inRange", "automation-aggregation": []
        default: nil
        }
    }

    /// Conditions on each field that identifies something.
    private static let conditions: [(Kind, String)] = SamplePredicate.fields.flatMap { field -> [(Kind, String)] in
        switch field {
        case "uuid", "fromWorkout", "inCorrelation": [(.object, "\(field) = \"*\"")]
        case "subject": [(.person, "subject = \"*\"")]
        case "type": [(.type, "type = *")]
        case let field where field.hasPrefix("source."): [(.source, "\(field) = \"*\"")]
        case let field where field.hasPrefix("device."): [(.device, "\(field) = \"*\""), (.device, "\(field) ~ \"*\"")]
        default: []
        }
    }

    private func templates(_ parameter: Parameter) throws -> [(Kind, String)] {
        switch parameter.form {
        case .uuid: return [(.object, "*")]
        case .person: return [(.person, "*")]
        case .name, .names: return [(.type, "*")]
        case .number, .flag, .words, .interval: return []
        case .text, .field:
            return try #require(Self.templates(ofText: parameter.name), "Name what '\(parameter.name)' refers to.")
        }
    }

    /// Bodies with references. `nil` if the route is not declared here.
    private static func bodies(_ route: Route, _ format: String? = nil) -> [(Kind, String)]? {
        let times = #""start":"2026-11-20T07:00:00Z","end":"2026-11-20T08:00:00Z""#
        let fat = #"{"type":"bodyFatPercentage",\#(times),"value":20,"unit":"%""#
        return switch route.name {
        case "saveSamples":
            [
                (.object, #"{"type":"food",\#(times),"objects":["*"]}"#),
                (.object, #"{"type":"workout",\#(times),"activity":"running","routes":["*"]}"#),
                (.object, fat + #","metadata":{"corrects":"*"}}"#),
                (.object, fat + #","metadata":{"syncIdentifier":"*","syncVersion":2}}"#),
                (.object, fat + #","uuid":"*"}"#), (.object, fat + #","identity":{"uuid":"*"}}"#),
                (.person, fat + #","subject":"*"}"#), (.person, fat + #","identity":{"subject":"*"}}"#),
                (.type, #"{"type":"*",\#(times),"value":20,"unit":"kg"}"#),
                (.source, fat + #","source":{"id":"*","name":"*"}}"#), (.device, fat + #","device":{"key":"*","name":"*"}}"#),
                (.device, fat + #","device":{"model":"*","serial":"*"}}"#), (.key, fat + "}"),
            ]
        case "requestAuthorization":
            [
                (.person, #"{"subject":"*","read":["heartRate"]}"#), (.type, #"{"read":["*"]}"#), (.type, #"{"write":["*"]}"#),
                (.type, #"{"requires":["*","allergyRecord","vitalSignRecord"]}"#),
            ]
        case "reportWriteBack":
            [
                (.object, #"{"results":[{"key":"vitalgate-*","version":1,"outcome":"written"}]}"#),
                (.source, #"{"sources":["*"],"results":[]}"#),
            ]
        case "postIntake":
            posts(format)
        default: nil
        }
    }

    /// Posts in the format of an app. `nil` if the format is not declared here.
    private static func posts(_ format: String?) -> [(Kind, String)]? {
        let (date, time) = ("2026-11-20 07:00:00 +0000", "2026-11-20T07:00:00Z")
        switch format {
        case "health-auto-export":
            let workout =
                #""id":"*","name":"Running","start":"\#(date)","end":"2026-11-20 08:00:00 +0000","duration":3600,"routes":["*"]"#
            return [
                (.object, #""uuid":"*","source":"W""#), (.object, #""metadata":{"corrects":"*"},"corrects":"*""#),
                (.source, #""source":"*""#),
            ].map { kind, members in
                let point = #"{"qty":20,"date":"\#(date)",\#(members)}"#
                return (kind, #"{"data":{"metrics":[{"name":"body_fat_percentage","units":"%","data":[\#(point)]}]}}"#)
            } + [(.object, #"{"data":{"workouts":[{\#(workout)}]}}"#)]
        case "hc-webhook":
            let head = #""timestamp":"2026-11-21T08:00:00Z","app_version":"1""#
            let exercise = #"{"type":"56","start_time":"\#(time)","end_time":"2026-11-20T08:00:00Z","id":"*","routes":["*"]}"#
            return [
                (.object, #""metadata":{"id":"*","client_record_id":"*","client_record_version":5}"#),
                (.object, #""uuid":"*","id":"*","corrects":"*""#), (.source, #""metadata":{"data_origin":"*"}"#),
                (.device, #""metadata":{"device":{"manufacturer":"*","model":"*"}}"#),
            ].map { ($0, #"{\#(head),"body_fat":[{"percentage":20,"time":"\#(time)",\#($1)}]}"#) }
                + [(.object, #"{\#(head),"exercise":[\#(exercise)]}"#)]
        default: return nil
        }
    }

    /// The formats that the path of a route names, or `nil` if it names none.
    private static func formats(_ route: Route) -> [String?] {
        for parameter in route.allParameters where parameter.isInPath {
            if case .words(let words) = parameter.form { return words }
        }
        return [nil]
    }

    /// A value that makes the request valid.
    private static func sampleValue(_ parameter: Parameter) -> String {
        switch parameter.form {
        case .uuid: "019a0000-0000-8000-8000-000000000000"
        case .person: "me"
        case .name, .names: "stepCount"
        case .words(let words): words.first ?? ""
        case .interval: "1d"
        case .number: "1"
        default: "x"
        }
    }

    // MARK: Requests

    private struct Request {
        var target: String
        var headers = ""
        var body = ""
    }

    private func request(
        _ route: Route, _ varied: Parameter? = nil, _ value: String = "", body: String = "", format: String? = nil
    ) -> Request {
        var request = Request(target: route.path, body: body)
        var query: [String] = []
        for parameter in route.allParameters where parameter.isRequired || parameter.name == varied?.name {
            let text = parameter.name == varied?.name ? value : Self.sampleValue(parameter)
            if parameter.isInPath, case .words = parameter.form, let format {
                request.target = request.target.replacing("{\(parameter.name)}", with: format)
            } else if parameter.isInPath {
                request.target = request.target.replacing("{\(parameter.name)}", with: text)
            } else if parameter.isInHeader {
                request.headers += "\(parameter.name): \(text)\r\n"
            } else {
                query.append(parameter.name + "=" + Self.escaped(text))
            }
        }
        if !query.isEmpty { request.target += "?" + query.joined(separator: "&") }
        return request
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            return character.isLetter || character.isNumber
                ? String(character) : "%" + String(Int(byte) + 256, radix: 16).dropFirst()
        }.joined()
    }

    private func answer(_ route: Route, _ request: Request, _ token: String) throws -> (text: String, headers: [String: String]) {
        func whole(_ answer: RawClient.Answer?) throws -> (String, [String: String]) {
            let answer = try #require(answer)
            return ("HTTP/1.1 \(answer.status) " + answer.text, answer.headers)
        }
        let (client, head) = (try served.client(), "Authorization: Bearer \(token)\r\n" + request.headers)
        guard route.body == nil else {
            return try whole(client.send(route.method, request.target, head, request.body))
        }
        guard route.answers == [.events] else { return try whole(client.get(request.target, head, method: route.method)) }
        // A stream has no end. Its first event or comment arrives at once or not at all.
        client.send("GET \(request.target) HTTP/1.1\r\nHost: localhost\r\n\(head)\r\n")
        return (String(decoding: client.readAll(), as: UTF8.self), [:])
    }

    /// All of an answer but the time of day, the UUID and source of a saved object, and what the request contained.
    private func shown(_ answer: (text: String, headers: [String: String]), without reference: String) -> String {
        var headers = answer.headers
        headers["date"] = nil
        // The text is compared below, and a reference can be longer than the other.
        headers["content-length"] = nil
        var text = answer.text.replacing(#/date: [^\r]*/#.ignoresCase()) { _ in "" }
        if text.contains("\"outcome\"") || text.contains("\"anchor\"") { headers["etag"] = nil }
        text = text.replacing(#/"uuid":"[^"]*"/#) { _ in "" }.replacing(#/[0-9a-f]{40,}/#) { _ in "" }
        return "\(text.replacing(reference, with: "*"))\n\(headers.sorted { $0.key < $1.key })"
    }

    /// What the client sees of the objects that it saved.
    private func own(_ token: String) throws -> String {
        let head = "Authorization: Bearer \(token)\r\nAccept: application/x-ndjson\r\n"
        return try #require(try served.client().get("/v1/samples", head)).text
    }

    /// What the person sees of the objects that a client saved, and what happens if the person undoes, deletes and restores them.
    private func changed(_ client: Client) throws -> [String] {
        let sessions = served.store.pageSessions
        let now = ServedStore.now
        let opened = try #require(try sessions.open(with: sessions.makeCode(for: ServedStore.person, at: now), at: now))
        let changes = try served.service.core.changes(of: opened.session)
        let view = try SampleStore(path: served.store.path, access: .read)
        try view.restrict(toPerson: ServedStore.person)
        var found: [Sample] = []
        let cursor = try view.samples.cursor(matching: SampleQuery(person: ServedStore.person, source: client.source))
        while let next = try cursor.next() { found.append(next.sample) }
        cursor.close()
        return try found.flatMap { sample in
            let uuid = sample.identity
            let references = (try sample.body?.object(of: sample.origin.kind))??.references ?? []
            let undone: String
            do {
                undone = "\(try changes.undoCorrection(uuid, at: now)?.count ?? -1)"
            } catch {
                undone = "\(error)"
            }
            return [
                "\(sample.origin.type) \(references)", undone, "\(try changes.delete(uuid, withParts: true, at: now))",
                "\(try changes.restore(uuid, at: now))",
            ]
        }
    }

    private func compare(_ route: Route, _ pair: Pair, _ make: (String) -> Request) throws -> Bool {
        var (answers, seen): ([String], [String]) = ([], [])
        for reference in [pair.foreign, pair.missing] {
            let (client, token) = try newClient(try served.store.clients.all().count)
            answers.append(shown(try answer(route, make(reference), token), without: reference))
            answers.append(try changed(client).map { $0.replacing(reference, with: "*") }.joined(separator: "\n"))
            seen.append(
                try own(token).replacing(#/"(uuid|ordinal|source)":("[^"]*"|\d+|\{[^}]*\}),?/#) { _ in "" }.replacing(
                    reference, with: "*"))
        }
        let request = make(pair.foreign)
        let label = "\(route.method) \(request.target) \(request.headers)\(request.body)"
        #expect(answers[0] == answers[2], "\(label)")
        #expect(answers[1] == answers[3], "\(label)")
        #expect(seen[0] == seen[1], "\(label)")
        return answers[0].hasPrefix("HTTP/1.1 200")
    }

    /// The fate of each object of others, and the number of people.
    private func state() throws -> [String] {
        let store = served.store
        return try untouched.map {
            try store.samples.lookup($0).map { "\("\($0)".prefix(20))" } ?? store.quarantine.sample($0)?.state ?? "-"
        } + ["\(try store.people.names().count)"]
    }

    // MARK: Tests

    @Test func referencesInParameters() throws {
        let before = try state()
        var tried: [Kind: Int] = [:]
        for route in RouteTable.all {
            for parameter in route.allParameters {
                for (kind, template) in try templates(parameter) {
                    for pair in try #require(pairs[kind]) {
                        let format = Self.formats(route)[0]
                        let body = try route.body.map { _ in try #require(Self.bodies(route, format)?.last?.1) } ?? ""
                        _ = try compare(route, pair) {
                            request(route, parameter, template.replacing("*", with: $0), body: body)
                        }
                        tried[kind, default: 0] += 1
                    }
                }
            }
        }
        for kind in Kind.allCases { #expect(tried[kind, default: 0] > 0, "\(kind)") }
        #expect(try state() == before)
    }

    @Test func referencesInBodies() throws {
        let before = try state()
        var (tried, accepted) = (0, 0)
        for route in RouteTable.all where route.body != nil {
            for format in Self.formats(route) {
                let bodies = try #require(
                    Self.bodies(route, format), "Name what the body of '\(route.name)' refers to, in each format.")
                var isEverAccepted = false
                for (kind, template) in bodies {
                    for pair in try #require(pairs[kind]) {
                        let isAccepted = try compare(route, pair) {
                            request(route, body: template.replacing("*", with: $0), format: format)
                        }
                        tried += 1
                        if isAccepted { (accepted, isEverAccepted) = (accepted + 1, true) }
                    }
                }
                #expect(isEverAccepted, "\(route.name) \(format ?? "")")
            }
        }
        // Most bodies are valid, otherwise the comparison would prove little.
        #expect(tried > 60 && accepted > tried / 3, "\(accepted) of \(tried)")
        let after = try state()
        #expect(after == before)
    }

    /// A token that was valid once is like one that never was.
    @Test func revokedTokens() throws {
        try served.revoke()
        let pair = Pair(foreign: served.token, missing: String(served.token.reversed()))
        for route in RouteTable.all where route.right != .none {
            let body = route.body == nil ? "" : "{}"
            let answers = try [pair.foreign, pair.missing].map { token in
                try shown(answer(route, request(route, body: body), token), without: token)
            }
            #expect(answers[0] == answers[1], "\(route.path)")
            #expect(answers[0].hasPrefix("HTTP/1.1 401"), "\(route.path)")
        }
    }
}
