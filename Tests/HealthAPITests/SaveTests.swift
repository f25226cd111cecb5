import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthAPI

@Suite struct SaveTests {
    private let served: ServedStore
    private let line = #"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71.40,"unit":"kg"}"#

    init() throws {
        served = try ServedStore()
        try served.grant("bodyMass")
    }

    private struct Saved: Codable {
        struct One: Codable {
            var uuid: String
            var type: String
            var outcome: String
        }
        var samples: [One]
    }

    private func save(_ body: String, type: String = "application/x-ndjson", _ headers: String = "") throws -> [Saved.One] {
        let answer = try served.post("/v1/samples", body, type: type, headers, token: served.otherToken)
        #expect(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(Saved.self, from: Data(answer.body)).samples
    }

    private func lines(_ target: String, token: String? = nil) throws -> [String] {
        let answer = try #require(
            try served.client().get(
                target, "Authorization: Bearer \(token ?? served.otherToken)\r\nAccept: application/x-ndjson\r\n"))
        #expect(answer.status == 200)
        return answer.text.split(separator: "\n").map(String.init)
    }

    @Test func readsBackSavedSample() throws {
        let saved = try save(line)
        #expect(saved.map(\.outcome) == ["stored"] && saved.map(\.type) == ["bodyMass"])
        let read = try lines("/v1/samples")
        #expect(read.count == 1)
        #expect(read.first?.contains(saved[0].uuid) == true)
        #expect(read.first?.contains(#""source":{"id":"client.2","name":"other""#) == true)
        #expect(read.first?.contains(#""value":71.4"#) == true)
        // The same in each form is the same.
        #expect(try save(line).map(\.outcome) == ["known"])
        #expect(try save(line, type: "application/json").map(\.uuid) == saved.map(\.uuid))
        #expect(
            try save("{\"samples\":[\(line),\(line)]}", type: "application/json; charset=utf-8").map(\.outcome) == [
                "known", "known",
            ])
        #expect(try lines("/v1/samples", token: served.token).count == 1)
        // Once it may not write, not even that.
        try served.grant("bodyMass", mayWrite: false)
        #expect(try lines("/v1/samples").isEmpty)
    }

    @Test func objectsOfManyKindsInOneRequest() throws {
        for type in ["sleepAnalysis", "workout", "stateOfMind", "gad7"] { try served.grant(type) }
        let saved = try save(
            """
            {"type":"sleepAnalysis","start":"2026-11-19T23:00:00+01:00","end":"2026-11-20T06:30:00+01:00","case":"asleepCore"}

            {"type":"workout","start":"2026-11-20T17:00:00+01:00","end":"2026-11-20T17:30:00+01:00","activity":"running","duration":1742.5}
            {"type":"stateOfMind","start":"2026-11-20T08:15:00+01:00","valence":0.70,"stateOfMindKind":"momentaryEmotion","labels":["calm"]}
            {"type":"gad7","start":"2026-11-20T09:00:00+01:00","answers":["severalDays","notAtAll","severalDays","notAtAll","moreThanHalfTheDays","notAtAll","notAtAll"]}
            """)
        #expect(saved.map(\.outcome) == ["stored", "stored", "stored", "stored"])
        #expect(try lines("/v1/samples").count == 4)
    }

    @Test func theGreatestEditionOfARecordStays() throws {
        func edition(_ version: Int, _ value: String) -> String {
            """
            {"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":\(value),"unit":"kg",\
            "metadata":{"HKMetadataKeySyncIdentifier":"morning","syncVersion":\(version),"wasUserEntered":true}}
            """
        }
        #expect(try save(edition(1, "71")).map(\.outcome) == ["stored"])
        #expect(try save(edition(3, "72")).map(\.outcome) == ["stored"])
        #expect(try save(edition(2, "73")).map(\.outcome) == ["known"])
        let read = try lines("/v1/samples")
        #expect(read.count == 1 && read[0].contains("\"value\":72"))
        let half = #"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71,"unit":"kg","metadata":{"syncVersion":1}}"#
        #expect(try served.post("/v1/samples", half, token: served.otherToken).status == 422)
    }

    @Test func refusedWriteNamesTypeAndStoresNothing() throws {
        let pulse = #"{"type":"heartRate","start":"2026-11-20T07:00:00+01:00","value":60,"unit":"/min"}"#
        let answer = try served.post(
            "/v1/samples", line + "\n" + pulse, type: "application/x-ndjson", token: served.otherToken)
        #expect(answer.status == 403 && answer.text.contains("may not write these types: heartRate.\""))
        #expect(try lines("/v1/samples").isEmpty)
        // Nor for another person, whether that person exists or not.
        for person in ["22222222-2222-4333-8444-555555555555", "unassigned"] {
            let other = line.dropLast() + ",\"subject\":\"\(person)\"}"
            #expect(try served.post("/v1/samples", String(other), token: served.otherToken).status == 403)
        }
        // A client with full read access cannot write.
        #expect(try served.post("/v1/samples", line).status == 403)
        try served.store.clients.remove(served.other)
        #expect(try served.post("/v1/samples", line, token: served.otherToken).status == 401)
    }

    @Test func theSameRequestIsAnsweredTheSame() throws {
        let key = "Idempotency-Key: morning\r\n"
        #expect(try save(line, key).map(\.outcome) == ["stored"])
        #expect(try save(line, key).map(\.outcome) == ["stored"])
        #expect(try save(line).map(\.outcome) == ["known"])
        let other = line.replacing("71.40", with: "71.5")
        let answer = try served.post(
            "/v1/samples", other, type: "application/x-ndjson", key, token: served.otherToken)
        #expect(answer.status == 422 && answer.text.contains("was used for another request"))
        #expect(try lines("/v1/samples").count == 1)
        // Of another client the same key is another.
        try served.grant("bodyMass", to: served.watch)
        #expect(try served.post("/v1/samples", other, type: "application/x-ndjson", key).status == 200)
        let long = "Idempotency-Key: \(String(repeating: "k", count: 256))\r\n"
        #expect(try served.post("/v1/samples", line, long, token: served.otherToken).status == 400)
    }

    /// Another source's reading at the same moment, which the client cannot see, does not change its answer.
    @Test func savingIgnoresOtherSources() throws {
        let (full, empty) = (served, try ServedStore())
        try full.add([60, 61, 62])
        try full.add([71], of: "bodyMass", from: 1_795_154_400)
        try full.store.devices.merge(device: "scale-2", into: "scale-1")
        for store in [full, empty] {
            try store.grant("heartRate")
            try store.grant("bodyMass")
        }
        let bodies = [
            #"{"type":"heartRate","start":"2026-09-21T14:13:20Z","value":60,"unit":"/min"}"#,
            #"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71,"unit":"kg"}"#,
            #"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71000,"unit":"g"}"#,
            #"{"type":"heartRate","start":"2026-09-21T14:13:20Z","value":9000,"unit":"/min"}"#,
            #"{"type":"bodyMass","start":"2026-11-20T08:00:00Z","value":72,"unit":"kg","device":{"key":"scale-2"}}"#,
            #"{"type":"stepCount","start":"2026-09-21T14:13:20Z","value":60}"#, "{", "",
        ]
        for body in bodies + bodies {
            let one = try full.post("/v1/samples", body, token: full.otherToken)
            let other = try empty.post("/v1/samples", body, token: empty.otherToken)
            #expect(one.status == other.status && one.body == other.body, "\(body)")
        }
        for target in [
            "/v1/samples", "/v1/latest", "/v1/types", "/v1/sources", "/v1/devices", "/v1/statistics?type=bodyMass&every=1d",
        ] {
            let one = try #require(try full.client().get(target, "Authorization: Bearer \(full.otherToken)\r\n"))
            let other = try #require(try empty.client().get(target, "Authorization: Bearer \(empty.otherToken)\r\n"))
            #expect(one.body == other.body, "\(target)")
        }
    }

    @Test func deletesOnlyOwnObjects() throws {
        let others = try served.add([71], of: "bodyMass")
        try served.grant("bodyMass", reading: .all)
        let own = try save(line)[0].uuid
        func delete(_ uuid: some CustomStringConvertible, _ headers: String = "") throws -> RawClient.Answer {
            try #require(
                try served.client().get(
                    "/v1/samples/\(uuid)", "Authorization: Bearer \(served.otherToken)\r\n" + headers, method: "DELETE"))
        }
        let unknown = try delete("11111111-2222-8333-8444-555555555555")
        #expect(unknown.status == 404)
        // It may read it, and may not delete it.
        #expect(try delete(others[0]).body == unknown.body)
        #expect(try delete(own, "If-Match: \"other\"\r\n").status == 412)
        let tag = try #require(
            try served.client().get("/v1/samples/\(own)", "Authorization: Bearer \(served.otherToken)\r\n")?.headers["etag"])
        #expect(!tag.hasPrefix("W/"))
        #expect(try delete(others[0], "If-Match: \(tag)\r\n").body == unknown.body)
        #expect(try delete(own, "If-Match: \"x\", \(tag)\r\n").status == 204)
        #expect(try delete(own).body == unknown.body)
        #expect(try lines("/v1/samples").count == 1)
        // A deleted sample stays deleted.
        #expect(try save(line).map(\.outcome) == ["known"])
        let again = try save(line.replacing("71.40", with: "71.5"))[0].uuid
        try served.grant("bodyMass", reading: .all, mayWrite: false)
        #expect(try delete(again).body == unknown.body)
    }

    @Test func errorsNameLineAndField() throws {
        let nested = String(repeating: "[", count: 10_000)
        func with(_ more: String) -> String { String(line.dropLast()) + "," + more + "}" }
        let cases: [(String, String)] = [
            ("{", "line 1"), (line + "\n{}", "line 2: type"), (line + "\n\n[1]", "line 3"), ("", "line 1"), (nested, "line 1"),
            (#"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":"# + nested, "line 1"),
            (line.replacing("bodyMass", with: "bodyMas"), "type"), (line.replacing("+01:00", with: ""), "start"),
            (line.replacing("kg", with: "furlong"), "line 1"), (line.replacing("71.40", with: "\"71\""), "value"),
            (with(#""uuid":"11111111-2222-8333-8444-555555555555""#), "uuid: the hub sets it"),
            (with(#""source":{"id":"strap"}"#), "source: the hub sets it"),
            (with(#""identity":{"ordinal":1}"#), "identity: the hub sets it"),
            (with(#""group":"0000000000000001""#), "group: the hub sets it"),
        ]
        for (wrong, place) in cases {
            let answer = try served.post("/v1/samples", wrong, type: "application/x-ndjson", token: served.otherToken)
            #expect(answer.status == 422 && answer.text.contains(place), "\(wrong.prefix(100)) \(answer.text)")
        }
        #expect(try served.post("/v1/samples", line, type: "text/csv", token: served.otherToken).status == 415)
        #expect(try served.post("/v1/samples", "{\"samples\":[]}", token: served.otherToken).status == 422)
        #expect(try served.post("/v1/samples?types=bodyMass", line, token: served.otherToken).status == 400)
        #expect(try lines("/v1/samples").isEmpty)
    }

    @Test func rawResourceIsUnchanged() throws {
        let resource = #"{"resourceType":"Immunization","id":"1","status":"completed","note":"ä"}"#
        let type = try #require(ObjectType("immunizationRecord"))
        let identity = try served.addRecord("immunizationRecord", resource)
        func grant(_ reading: Grant.Reading, _ objects: [SampleIdentity] = []) throws {
            try served.store.clients.set(
                Grant(person: ServedStore.person, type: type, reading: reading, mayWrite: false), objects: objects,
                of: served.other,
                at: ServedStore.now)
        }
        try grant(.objects(future: false), [identity])
        let uuid = identity.description
        func raw(_ uuid: String, _ token: String, _ headers: String = "") throws -> RawClient.Answer {
            try #require(try served.client().get("/v1/samples/\(uuid)/raw", "Authorization: Bearer \(token)\r\n" + headers))
        }
        let answer = try raw(uuid, served.otherToken)
        #expect(answer.status == 200 && answer.text == resource && answer.headers["content-type"] == "application/fhir+json")
        #expect(answer.headers["content-disposition"] == "attachment")
        let tag = try #require(answer.headers["etag"])
        #expect(try raw(uuid, served.otherToken, "If-None-Match: \(tag)\r\n").status == 304)
        // It is not included without a request for it.
        #expect(try !lines("/v1/samples").joined().contains("completed"))
        let unknown = try raw("11111111-2222-8333-8444-555555555555", served.token)
        #expect(unknown.status == 404)
        #expect(try raw(uuid, served.token).body == unknown.body)
        #expect(try raw(try save(line)[0].uuid, served.otherToken).body == unknown.body)
        try grant(.none)
        #expect(try raw(uuid, served.otherToken).body == unknown.body)
    }

    /// A writer does not block readers.
    @Test func readersDoNotWaitForAWriter() throws {
        let client = try served.client()
        let ingest = try served.store.beginIngest(IngestDescription(kind: .import, received: 0))
        _ = try ingest.store([]) { _ in
            // No other process can commit now.
            client.send(
                "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.otherToken)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(line.utf8.count)\r\n\r\n" + line)
            for _ in 0..<20 {
                let status = try served.get("/v1/samples").status
                #expect(status == 200)
            }
            return []
        }
        _ = try ingest.finish(at: 0)
        #expect(client.answer()?.status == 200)
    }
}
