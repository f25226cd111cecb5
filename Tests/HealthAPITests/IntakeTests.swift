import Dispatch
import FileSource
import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServing
import HealthServingTesting
import Ingestion
import Pipeline
import SampleStore
import Synchronization
import Testing

@testable import HealthAPI

/// Posts of phones.
@Suite struct IntakeTests {
    private let served: ServedStore
    private let phone: Client
    private let token: String
    private let path = "/v1/intake/health-auto-export"

    init() throws {
        served = try ServedStore { settings in
            let intake = IntakeService(store: settings.store, zone: settings.zone, now: settings.now)
            settings.intake = { try intake.run($0.kind, file: $0.file, grouping: $0.grouping, by: $0.client) }
        }
        let now = ServedStore.now
        phone = try served.store.clients.add(named: "phone", purpose: "Tests", app: PhoneApp.healthAutoExport.id, at: now)
        token = try served.store.clients.makeToken(for: phone, at: now)
        for type in ["stepCount", "heartRateAverage", "heartRateMinimum", "heartRateMaximum", "bodyMass"] {
            try served.grant(type, to: phone)
        }
    }

    /// A value of a day replaces an earlier one, whichever phone sent it. Another client must not hide the phone's value.
    @Test func onlyPhonesPost() throws {
        #expect(try post(steps("8342")).status == 200)
        try served.grant("stepCount")
        let before = try served.store.lastChange()
        #expect(throws: IntakeService.Failure.notAPhone) { try intake(steps("20"), by: served.other) }
        // The purpose is a text that a person types.
        let purpose = PhoneApp.healthAutoExport.purpose
        let program = try served.store.clients.add(named: "program", purpose: purpose, at: ServedStore.now)
        try served.grant("stepCount", to: program)
        #expect(throws: IntakeService.Failure.notAPhone) { try intake(steps("20"), by: program) }
        #expect(try post(steps("20"), token: served.otherToken).status >= 400)
        #expect(try served.store.lastChange() == before && live("stepCount") == [8342])
    }

    private func intake(_ body: String, by client: Client) throws {
        let file = served.folder.file("post.json")
        try Data(body.utf8).write(to: URL(filePath: file))
        let service = IntakeService(store: served.store.path, zone: TimeZoneRules(fixed: .utc), now: { ServedStore.now })
        _ = try service.run("health-auto-export", file: file, grouping: "Days", by: client)
    }

    private func metric(_ name: String, _ unit: String, _ points: String) -> String {
        #"{"data":{"metrics":[{"name":"\#(name)","units":"\#(unit)","data":[\#(points)]}]}}"#
    }

    private func steps(_ count: String, _ source: String = "Watch") -> String {
        metric("step_count", "count", #"{"date":"2026-11-20 00:00:00 +0000","qty":\#(count),"source":"\#(source)"}"#)
    }

    private func post(_ body: String, grouping: String? = "Days", token: String? = nil) throws -> RawClient.Answer {
        let header = grouping.map { "automation-aggregation: \($0)\r\n" } ?? ""
        return try served.post(path, body, header, token: token ?? self.token)
    }

    private func live(_ type: String) throws -> [Double] {
        let type = try #require(SampleType(type))
        let cursor = try served.store.samples.cursor(matching: SampleQuery(types: [type]))
        defer { cursor.close() }
        var values: [Double] = []
        while let next = try cursor.next() { values.append(next.sample.value) }
        return values
    }

    @Test func replacesAGrowingDay() throws {
        #expect(try post(steps("1200")).text == #"{"read":1,"accepted":1,"refused":0,"skipped":{}}"# + "\n")
        #expect(try live("stepCount") == [1200])
        #expect(try post(steps("8342.6", "Phone|Watch")).status == 200)
        #expect(try live("stepCount") == [8342.6])
        // The same post again changes nothing.
        let last = try served.store.lastChange()
        #expect(try post(steps("8342.6", "Watch|Phone")).status == 200)
        #expect(try served.store.lastChange() == last)
        // The last value that arrives counts, also if an earlier post had it.
        #expect(try post(steps("1200")).status == 200)
        #expect(try live("stepCount") == [1200])
        #expect(try post(steps("8342.6", "Watch|Phone")).status == 200)
        #expect(try live("stepCount") == [8342.6])
        // All posts of a day are one entry.
        let accounts = try served.store.ledger.accounts().filter { $0.kind == .import }
        #expect(accounts.map(\.name) == ["phone (client.3)"])
        #expect(accounts.map(\.read) == [5] && accounts.map(\.stored) == [2] && accounts.map(\.state) == ["done"])
    }

    @Test func storesNothingOfATruncatedPost() throws {
        let whole = steps("1200")
        let webhook =
            #"{"timestamp":"2026-11-21T08:00:00Z","app_version":"1","weight":[{"kilograms":81,"time":"2026-11-20T07:00:00Z"}]}"#
        for length in 0..<whole.utf8.count {
            #expect(try post(String(whole.prefix(length))).status >= 400, "\(length)")
        }
        for length in 0..<webhook.utf8.count {
            let answer = try served.post("/v1/intake/hc-webhook", String(webhook.prefix(length)), token: token)
            #expect(answer.status >= 400, "\(length)")
        }
        // A connection that breaks inside of the body.
        for length in stride(from: 0, to: whole.utf8.count, by: 16) {
            let head = [
                "POST \(path) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(token)",
                "automation-aggregation: Days", "Content-Type: application/json", "Content-Length: \(whole.utf8.count)", "", "",
            ]
            try served.client().send(head.joined(separator: "\r\n") + whole.prefix(length))
        }
        #expect(try live("stepCount").isEmpty && live("bodyMass").isEmpty)
        #expect(try served.store.ledger.accounts().isEmpty)
    }

    /// Phones of two people post the same bytes with one UUID, several times and at once. Each person has each reading once.
    @Test func equalPostsOfTwoPeople() throws {
        let bob = "22222222-2222-4333-8444-555555555555"
        let phone = try served.store.clients.add(
            named: "bob", purpose: "Tests", app: PhoneApp.healthAutoExport.id, at: ServedStore.now)
        let token = try served.store.clients.makeToken(for: phone, at: ServedStore.now)
        let type = try #require(SampleType("bodyMass"))
        try served.store.clients.set(
            Grant(person: bob, type: ObjectType(type), reading: .none, mayWrite: true), of: phone, at: ServedStore.now)
        func weights(_ value: Int) -> String {
            let points = (10..<60).map { #"{"date":"2026-11-20 07:\#($0):05 +0000","qty":\#(value),"uuid":"\#(uuid($0))"}"# }
            return metric("weight_body_mass", "kg", points.joined(separator: ","))
        }
        func uuid(_ number: Int) -> String { "AAAAAAAA-1111-4222-8333-4444444444\(number)" }
        let posts = [weights(81), weights(50)]
        let answers = Mutex<[Int]>([])
        let (path, mine) = (path, self.token)
        // Each request has a connection of its own.
        nonisolated(unsafe) let served = served
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let answer = try? served.post(
                path, posts[number % 2], "automation-aggregation: None\r\n", token: number % 2 == 0 ? mine : token)
            answers.withLock { $0.append(answer?.status ?? 0) }
        }
        #expect(answers.withLock { $0 } == Array(repeating: 200, count: 8))
        for (person, value) in [(ServedStore.person, 81.0), (bob, 50.0)] {
            let cursor = try served.store.samples.cursor(matching: SampleQuery(types: [type], person: person))
            defer { cursor.close() }
            var values: [Double] = []
            while let next = try cursor.next() { values.append(next.sample.value) }
            #expect(values == Array(repeating: value, count: 50), "\(person)")
        }
    }

    /// Types without a grant are refused, and the others are stored.
    @Test func storesGrantedTypesOnly() throws {
        let both =
            steps("1200").dropLast(3) + #","#
            + metric("height", "cm", #"{"date":"2026-11-20 00:00:00 +0000","qty":180}"#).dropFirst(20)
        let answer = try post(String(both))
        #expect(answer.text == #"{"read":2,"accepted":1,"refused":1,"skipped":{}}"# + "\n")
        #expect(try live("height").isEmpty)
        try served.grant("stepCount", mayWrite: false, to: phone)
        for type in ["heartRateAverage", "heartRateMinimum", "heartRateMaximum", "bodyMass"] {
            try served.grant(type, mayWrite: false, to: phone)
        }
        #expect(try post(steps("1300")).status >= 400)
        #expect(try live("stepCount") == [1200])
    }

    @Test func aTokenCanBeAKey() throws {
        let client = try served.client()
        let answer = try #require(
            client.send(
                "POST", path, "X-API-Key: \(token)\r\nautomation-aggregation: Days\r\n", steps("7"),
                type: "application/json"))
        #expect(answer.status == 200)
        let wrong = try #require(
            try served.client().send("POST", path, "X-API-Key: guessed\r\n", steps("7"), type: "application/json"))
        #expect(wrong.status == 401)
        // Other routes accept no key.
        let other = try #require(try served.client().get("/v1/samples", "X-API-Key: \(token)\r\n"))
        #expect(other.status == 401)
        #expect(try live("stepCount") == [7])
    }

    @Test func emptyAndUnknownDataIsNoError() throws {
        for body in [#"{"data":{}}"#, #"{"data":{"metrics":[],"workouts":[]}}"#] { #expect(try post(body).status == 200) }
        let future = metric("future_thing", "widgets", #"{"date":"2026-11-20 00:00:00 +0000","qty":7}"#)
        #expect(try post(future).text == #"{"read":0,"accepted":0,"refused":0,"skipped":{"future_thing":1}}"# + "\n")
    }

    /// Without the header the period is unknown.
    @Test func anUnknownPeriodIsQuarantined() throws {
        #expect(try post(steps("1200"), grouping: nil).status == 200)
        #expect(try live("stepCount").isEmpty)
        #expect(try served.store.ledger.accounts().map(\.quarantined) == [1])
    }

    @Test func theHubsOwnReadingsAreNotTakenAgain() throws {
        // Only a client that may read the reading can have it from the hub.
        try served.grant("bodyMass", reading: .all, to: phone)
        let own = try #require(try served.add(numerals: ["71.4"], of: "bodyMass", every: 60).first)
        let point = #"{"date":"2026-09-22 06:13:20 +0000","qty":71.4,"source":"Strap","uuid":"\#(own)"}"#
        // The answer does not reveal that the hub knows it.
        let answer = try post(metric("weight_body_mass", "kg", point), grouping: nil)
        #expect(answer.text == #"{"read":1,"accepted":1,"refused":0,"skipped":{}}"# + "\n")
        #expect(try served.store.ledger.accounts().last?.skipped == ["own reading": 1])
        #expect(try live("bodyMass") == [71.4])
    }

    /// A phone may only write. Its own readings come back all the same, after it rounded the time.
    @Test func ownReadingsOfAPhoneThatMayOnlyWrite() throws {
        try served.grant("bodyMass", to: phone)
        let own = try #require(try served.add(numerals: ["71.4"], of: "bodyMass", every: 60).first)
        func point(_ time: String) -> String {
            #"{"date":"\#(time) +0000","qty":71.4,"source":"Scale app","uuid":"\#(own)"}"#
        }
        for _ in 0..<2 {
            let answer = try post(metric("weight_body_mass", "kg", point("2026-09-21 14:13:20")), grouping: nil)
            #expect(answer.status == 200)
        }
        #expect(try served.store.ledger.accounts().last?.skipped == ["own reading": 2])
        #expect(try live("bodyMass") == [71.4])
        // A guessed UUID at another time is a reading of its own, as if the hub did not know it.
        let answer = try post(metric("weight_body_mass", "kg", point("2026-09-22 09:00:00")), grouping: nil)
        #expect(answer.text == #"{"read":1,"accepted":1,"refused":0,"skipped":{}}"# + "\n")
        #expect(try live("bodyMass").count == 2)
    }

    /// Posts of an Android phone: a day grows, and a part of a day never replaces a whole one.
    @Test func postsOfHCWebhook() throws {
        func post(_ time: String, _ days: [(start: String, end: String, count: Int)]) throws -> RawClient.Answer {
            let rows = days.map { #"{"count":\#($0.count),"start_time":"\#($0.start)","end_time":"\#($0.end)"}"# }
            let body = #"{"timestamp":"\#(time)","app_version":"1.9.9","steps":[\#(rows.joined(separator: ","))]}"#
            return try served.post("/v1/intake/hc-webhook", body, "", token: token)
        }
        let (first, second) = ("2026-11-19T23:00:00Z", "2026-11-20T23:00:00Z")
        let answer = try post("2026-11-20T10:00:00Z", [(first, "2026-11-20T10:00:00Z", 2210)])
        #expect(answer.text == #"{"read":1,"accepted":1,"refused":0,"skipped":{}}"# + "\n")
        for _ in 0..<2 {
            _ = try post("2026-11-21T12:00:00Z", [(first, second, 9120), (second, "2026-11-21T12:00:00Z", 400)])
            #expect(try live("stepCount").sorted() == [400, 9120])
        }
        // An earlier post that was sent late changes nothing.
        _ = try post("2026-11-20T10:00:00Z", [(first, "2026-11-20T10:00:00Z", 2210)])
        let last = try post("2026-11-22T09:00:00Z", [(first, second, 31), (second, "2026-11-21T23:00:00Z", 7000)])
        #expect(last.text.contains(#""skipped":{"steps of a part of a day":1}"#))
        #expect(try live("stepCount").sorted() == [7000, 9120])
        // A post that is cut stores nothing.
        let weight = #"{"kilograms":70,"time":"2026-11-20T09:00:00Z"}"#
        let cut = #"{"timestamp":"2026-11-20T10:00:00Z","app_version":"1","weight":[\#(weight)"#
        #expect(try served.post("/v1/intake/hc-webhook", cut, "", token: token).status != 200)
        #expect(try live("bodyMass").isEmpty)
    }
}
