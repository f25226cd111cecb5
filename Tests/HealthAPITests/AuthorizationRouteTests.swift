import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI
@testable import HealthServing

@Suite struct AuthorizationRouteTests {
    private let served: ServedStore
    init() throws { served = try ServedStore() }

    private func ask(_ body: String) throws -> RawClient.Answer {
        try served.post("/v1/authorization", body, token: served.otherToken)
    }

    private func status(_ query: String) throws -> RawClient.Answer {
        try #require(
            try served.client().get("/v1/authorization/status?" + query, "Authorization: Bearer \(served.otherToken)\r\n"))
    }

    private let open = "{\"status\":\"shouldRequest\"}\n"
    private let closed = "{\"status\":\"unnecessary\"}\n"

    @Test func grantAppliesOnlyToAskedPerson() throws {
        #expect(try status("read=heartRate&write=bodyMass").text == open)
        #expect(try served.store.clients.openRequests(of: served.other).isEmpty)
        #expect(try ask(#"{"read":["heartRate"],"write":["bodyMass"]}"#).text == open)
        let asked = try served.store.clients.openRequests(of: served.other)
        #expect(
            asked == [
                AuthorizationRequest(
                    person: ServedStore.person, read: [ObjectType(.heartRate)], write: [ObjectType(.bodyMass)])
            ])
        // The client gets the same answer whether access was refused or granted.
        try served.grant("heartRate", reading: .none, mayWrite: false)
        #expect(try status("read=heartRate&write=bodyMass").text == open)
        try served.grant("bodyMass", reading: .none, mayWrite: true)
        #expect(try status("read=heartRate&write=bodyMass").text == closed)
        #expect(try status("read=heartRate").body == status("read=bodyMass").body)
        #expect(try ask(#"{"read":["heartRate"],"write":["bodyMass"]}"#).text == closed)
        #expect(try served.store.clients.openRequests(of: served.other).isEmpty)
        // Of a person that there is, and of one that there is not, the same.
        #expect(try status("read=heartRate&subject=22222222-2222-4333-8444-555555555555").text == open)
    }

    @Test func requiredTypesFailTogether() throws {
        let types = ["allergyRecord", "conditionRecord", "immunizationRecord"]
        let body = "{\"requires\":[\(types.map { "\"\($0)\"" }.joined(separator: ","))]}"
        #expect(try ask(body).text == open)
        var answers: Set<[UInt8]> = []
        for refused in types {
            for type in types {
                try served.grant(type, reading: type == refused ? .none : .objects(future: true), mayWrite: false)
            }
            let answer = try ask(body)
            #expect(answer.status == 403)
            answers.insert(answer.body)
        }
        // The answer does not show which one was refused.
        #expect(answers.count == 1)
        for type in types { try served.grant(type, reading: .objects(future: true), mayWrite: false) }
        #expect(try ask(body).text == closed)
    }

    /// A client that chose new required types with each request would learn which of them were refused.
    @Test func theRequiredTypesAreSetOnce() throws {
        func body(_ types: [String]) -> String { "{\"requires\":[\(types.map { "\"\($0)\"" }.joined(separator: ","))]}" }
        let types = ["allergyRecord", "conditionRecord", "immunizationRecord", "labResultRecord"]
        for type in types { try served.grant(type, reading: .objects(future: true), mayWrite: false) }
        #expect(try ask(body(Array(types.prefix(3)))).text == closed)
        try served.grant("labResultRecord", reading: .none, mayWrite: false)
        // The same words, whatever was refused.
        #expect(try ask(body(Array(types.suffix(3)))).status == 409)
        #expect(try ask(body(types)).status == 409)
        #expect(try ask(body(Array(types.prefix(3)))).text == closed)
        // A person may change them.
        let others = Set(types.suffix(3).compactMap { ObjectType($0) })
        try served.store.clients.setRequiredTypes(others, of: served.other)
        #expect(try ask(body(Array(types.suffix(3)))).status == 403)
        #expect(try ask(body(Array(types.prefix(3)))).status == 409)
    }

    /// As HealthKit has it: "Authorization to share the following types is disallowed".
    @Test func clinicalRecordsAreReadOnly() throws {
        for id in ["conditionRecord", "activitySummary", "biologicalSex"] {
            let answer = try ask("{\"read\":[\"\(id)\"],\"write\":[\"\(id)\",\"bodyMass\"]}")
            #expect(answer.status == 422 && answer.text.contains("contains read-only types: \(id).\""), "\(answer.text)")
            #expect(try served.get("/v1/authorization/status?write=\(id)").status == 422)
            let type = try #require(ObjectType(id))
            #expect(throws: StoreError.self) { try served.grant(id, mayWrite: true) }
            #expect(try !served.store.clients.mayWrite(type, of: ServedStore.person, served.other))
        }
        #expect(try served.store.clients.openRequests(of: served.other).isEmpty)
        let line =
            #"{"type":"conditionRecord","start":"2026-11-20T07:00:00+01:00","resource":{"resourceType":"Condition","id":"1"}}"#
        #expect([403, 422].contains(try served.post("/v1/samples", line, token: served.otherToken).status))
        // A document may be written.
        #expect(try ask(#"{"write":["cda"]}"#).text == open)
        try served.grant("cda", mayWrite: true)
    }

    @Test func refusesInvalidAuthorizationRequests() throws {
        for (wrong, status) in [
            ("{}", 422), ("[]", 400), ("{", 400), (#"{"read":"heartRate"}"#, 400), (#"{"read":["heartbeats"]}"#, 400),
            (#"{"reads":["heartRate"]}"#, 400), (#"{"read":["heartRate"],"subject":"Anna"}"#, 400),
            (#"{"requires":["allergyRecord"]}"#, 422), (#"{"requires":["heartRate","bodyMass","height"]}"#, 422),
            (String(repeating: "[", count: 10_000), 400), (#"{"read":"# + String(repeating: "[", count: 10_000), 400),
        ] { #expect(try ask(wrong).status == status, "\(wrong.prefix(60))") }
        #expect(try status("").status == 422)
        for wrong in ["read=", "read=heartRate,", "read=heartbeats", "read=heartRate&subject=Anna", "types=heartRate"] {
            #expect(try status(wrong).status == 400, "\(wrong)")
        }
        let long = #"{"read":[""# + String(repeating: "a", count: 70_000) + #""]}"#
        #expect(try ask(long).status == 413)
        // A client that requests access from everyone is stopped, and memory stays bounded.
        for number in 0..<16 {
            #expect(
                try ask(#"{"read":["heartRate"],"subject":"22222222-2222-4333-8444-5555555555\#(number + 10)"}"#).status == 200)
        }
        #expect(try ask(#"{"read":["heartRate"],"subject":"22222222-2222-4333-8444-555555555599"}"#).status == 429)
    }

    @Test func delaysTokenGuesses() throws {
        let delays = (0...80).map(GuessCounter.defaultDelay)
        #expect(delays.prefix(11).allSatisfy { $0 == .zero } && delays == delays.sorted() && delays.last == .seconds(5))
        let counter = GuessCounter()
        let start = ContinuousClock.now
        for number in 1...100 { #expect(counter.add(at: start) == min(64, number)) }
        // Old attempts no longer count, except in the sum.
        #expect(counter.add(at: start + .seconds(61)) == 1 && counter.count == 101)
    }

    @Test func delayedAnswerDoesNotBlockOthers() throws {
        let served = try ServedStore { $0.delayOfGuess = { $0 > 1 ? .seconds(3600) : .milliseconds(20) } }
        let first = try #require(try served.client().get("/v1/samples", "Authorization: Bearer guessed\r\n"))
        #expect(first.status == 401)
        let slowed = try (0..<20).map { _ in
            let client = try served.client()
            client.send("GET /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guessed\r\n\r\n")
            return client
        }
        #expect(eventually { served.service.wrongTokens == 21 })
        #expect(try served.get("/v1/samples").status == 200)
        // A missing token is not a guess. A request with a body is slowed down as well.
        #expect(try served.client().get("/v1/samples")?.status == 401)
        let last = try served.client()
        last.send(
            "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guessed\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        )
        #expect(eventually { served.service.wrongTokens == 22 })
        // Stopping the service does not wait for them.
        served.service.stop()
        #expect(served.service.connections == 0)
        withExtendedLifetime(slowed) {}
    }
}
