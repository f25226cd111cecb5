import FoundationEssentials
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI

@Suite struct RouteTests {
    let served: ServedStore
    let uuids: [SampleIdentity]

    init() throws {
        served = try ServedStore()
        uuids = try served.add([60, 70, 80, 90])
        try served.add([20, 30], of: "stepCount")
    }

    private func lines(_ target: String) throws -> [String] {
        let answer = try served.get(target, "Accept: application/x-ndjson\r\n")
        #expect(answer.status == 200)
        return answer.text.split(separator: "\n").map(String.init)
    }

    private struct Row: Codable {
        var uuid: String
        var type: String
        var value: Double
        var unit: String
    }

    private func values(_ target: String) throws -> [Double] {
        try lines(target).map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)).value }
    }

    @Test func samplesByTypeTimeAndCondition() throws {
        #expect(try values("/v1/samples?types=heartRate") == [60, 70, 80, 90])
        #expect(try values("/v1/samples?types=heartRate,stepCount").count == 6)
        #expect(try values("/v1/samples?types=heartRate&sort=-value&limit=2") == [90, 80])
        #expect(try values("/v1/samples?types=heartRate&where=value%20%3E%2070") == [80, 90])
        #expect(try values("/v1/samples?types=heartRate&where=value+%3C+70+/min+or+source.name+=+Watch") == [60])
        #expect(try values("/v1/samples?types=heartRate&from=2026-09-21T14:14:20Z&to=2026-09-21T14:15:20Z").count == 1)
        #expect(try values("/v1/samples?types=heartRate&unit=Hz&limit=1") == [1])
        #expect(try values("/v1/samples?subject=me&source=strap&limit=0") == [])
        #expect(try values("/v1/samples?subject=22222222-2222-4333-8444-555555555555") == [])
    }

    /// The names of types are those of the command line.
    @Test func typesByDisplayName() throws {
        #expect(try values("/v1/samples?types=Heart%20Rate") == [60, 70, 80, 90])
        #expect(try values("/v1/samples?types=pulse,steps").count == 6)
        #expect(try values("/v1/samples?where=type+=+steps") == [20, 30])
        let ambiguous = try served.get("/v1/samples?types=energy")
        #expect(ambiguous.status == 400 && ambiguous.text.contains("activeEnergyBurned, basalEnergyBurned"))
        #expect(try served.get("/v1/samples?types=nosuch").status == 400)
    }

    @Test func formatsHaveSameContent() throws {
        struct Samples: Codable { var samples: [Row] }
        let json = try served.get("/v1/samples?types=heartRate")
        #expect(json.headers["content-type"] == "application/json")
        #expect(try JSONDecoder().decode(Samples.self, from: Data(json.body)).samples.map(\.value) == [60, 70, 80, 90])
        let none = try served.get("/v1/samples?types=bodyMass")
        #expect(try JSONDecoder().decode(Samples.self, from: Data(none.body)).samples.isEmpty)
        let csv = try served.get("/v1/samples?types=heartRate&format=csv").text.split(separator: "\r\n")
        #expect(csv.count == 5)
        #expect(csv[0].hasPrefix("uuid,kind,type,value,unit"))
        #expect(csv[0].hasSuffix(",group,metadata,name,date,result,range,interpretation"))
        #expect(try served.get("/v1/samples?types=bodyMass", "Accept: text/csv\r\n").text.hasPrefix("uuid,kind"))
        #expect(try served.get("/v1/samples", "Accept: text/html\r\n").status == 406)
        #expect(try served.get("/v1/samples", "Accept: text/html, */*;q=0.1\r\n").status == 200)
    }

    /// A spreadsheet would run a cell that begins with an equals sign.
    @Test func noCellIsAFormula() throws {
        try served.grant("bodyMass", mayWrite: true)
        let line =
            #"{"type":"bodyMass","start":"2026-11-20T06:30:00+01:00","value":70.5,"unit":"kg","device":{"key":"k","name":"=HYPERLINK(\"http://evil.example\")"}}"#
        #expect(try served.post("/v1/samples", line, token: served.otherToken).status == 200)
        let csv = try #require(
            try served.client().get("/v1/samples?format=csv", "Authorization: Bearer \(served.otherToken)\r\n")
        ).text
        #expect(csv.contains("\"'=HYPERLINK(\"\"http://evil.example\"\")\"") && !csv.contains(",\"=") && csv.contains(",+01:00,"))
    }

    @Test func hidesNumberOfOtherSamples() throws {
        for target in ["/v1/samples", "/v1/samples/\(uuids[0])", "/v1/latest", "/v1/changes?after=0", "/v1/types", "/v1/sources"]
        {
            let text = try served.get(target).text
            #expect(!text.contains("\"seq\"") && !text.contains("\"ingest\""), "\(target)")
        }
    }

    @Test func oneSampleOrNone() throws {
        let answer = try served.get("/v1/samples/\(uuids[2])")
        #expect(try JSONDecoder().decode(Row.self, from: Data(answer.body)).value == 80)
        let none = try served.get("/v1/samples/11111111-2222-8333-8444-555555555555")
        #expect(none.status == 404 && none.headers["content-type"] == "application/problem+json")
        _ = try served.store.samples.delete([uuids[2]], description: IngestDescription(kind: .delete, received: 0))
        // One that is gone is as one that never was.
        #expect(try served.get("/v1/samples/\(uuids[2])").body == none.body)
        #expect(try served.get("/v1/samples/nobody").status == 400)
    }

    @Test func latestSamplesAndSources() throws {
        struct Samples: Codable { var samples: [Row] }
        let latest = try JSONDecoder().decode(Samples.self, from: Data(try served.get("/v1/latest").body))
        #expect(latest.samples.map(\.type) == ["heartRate", "stepCount"])
        #expect(latest.samples.map(\.value) == [90, 30])
        #expect(try served.get("/v1/types?format=ndjson").text.split(separator: "\n").count == 2)
        let sources = try served.get("/v1/sources").text
        #expect(sources.hasPrefix(#"{"sources":[{"id":"strap","name":"Strap","subject":"me","types":["heartRate","stepCount"]"#))
        #expect(try served.get("/v1/sources?types=bodyMass").text == "{\"sources\":[]}\n")
        #expect(try served.get("/v1/devices").text.hasPrefix(#"{"devices":[{"key":null"#))
    }

    private struct Interval: Codable {
        var count: Int
        var average: Double?
        var sum: Double?
    }

    private struct Intervals: Codable { var statistics: [Interval] }

    private func rows(_ query: String) throws -> [Interval] {
        let answer = try served.get("/v1/statistics?" + query)
        return try JSONDecoder().decode(Intervals.self, from: Data(answer.body)).statistics
    }

    @Test func statisticsByTheCalendar() throws {
        #expect(try rows("type=stepCount&every=1d").map(\.sum) == [50])
        #expect(try rows("type=heartRate&every=1m").map(\.count) == [1, 1, 1, 1])
        #expect(try rows("type=heartRate&every=1m&limit=2").count == 2)
        #expect(try rows("type=bodyMass&every=1d").isEmpty)
        #expect(try served.get("/v1/statistics?type=heartRate&every=1d&format=csv").text.hasPrefix("type,start,end"))
        for wrong in [
            ("type=heartRate", 400), ("every=1d", 400), ("type=heartRate&every=1", 400), ("type=workout&every=1d", 400),
            ("type=heartRate&every=1d&unit=Cel", 422), ("type=heartRate&every=1m&empty=true", 422),
            ("type=heartRate&every=1m&empty=true&from=1900-01-01&to=2026-01-01", 422),
        ] {
            #expect(try served.get("/v1/statistics?" + wrong.0).status == wrong.1, "\(wrong)")
        }
    }

    /// The API has the parameters of `stats`.
    @Test func statisticsHaveTheChoicesOfTheCommand() throws {
        let chosen = "/v1/statistics?type=heartRate&every=1d&show=max,min&inRange=..75&inRange=80..%20/min"
        let text = try served.get(chosen + "&format=ndjson").text
        #expect(text.contains(#""count":4,"min":60.0,"max":90.0,"inRange":[{"from":null,"to":75.0,"fraction":"#), "\(text)")
        #expect(text.contains(#"{"from":80.0,"to":null,"#) && !text.contains("average"))
        let header = try served.get(chosen + "&format=csv").text.split(separator: "\r\n").first
        #expect(header == "type,start,end,subject,unit,count,min,max,in ..75,in 80.. /min,zone")
        #expect(try rows("type=heartRate&every=1d&ownZone=true").map(\.count) == [4])
        for wrong in ["show=median", "show=sum", "inRange=75", "inRange=1..2%20kg"] {
            #expect(try served.get("/v1/statistics?type=heartRate&every=1d&" + wrong).status == 422, "\(wrong)")
        }
        #expect(try served.get("/v1/statistics?type=heartRate&every=1h&ownZone=true").status == 422)
    }

    /// The same question again is answered out of memory, until anything is written.
    @Test func writeInvalidatesCachedStatistics() throws {
        let target = "/v1/statistics?type=heartRate&every=1d&format=csv"
        let first = try served.get(target).text
        #expect(try served.get(target).text == first)
        #expect(try served.get(target + "&unit=Hz").text != first)
        try served.add([200], from: 1_790_000_030)
        let second = try served.get(target).text
        #expect(second != first && second.contains("200.0"))
        // For another client it is a different request, and a withdrawn grant counts as a write.
        let other = try #require(try served.client().get(target, "Authorization: Bearer \(served.otherToken)\r\n"))
        #expect(other.text.split(separator: "\r\n").count == 1)
        try served.store.clients.set(
            Grant(person: ServedStore.person, type: ObjectType(.heartRate), reading: .none, mayWrite: false), of: served.watch,
            at: ServedStore.now)
        #expect(try served.get(target).text == other.text)
    }

    /// Cached answers are recorded as well.
    @Test func recordsReadsOfCachedResponses() throws {
        for _ in 0..<3 { #expect(try served.get("/v1/statistics?type=heartRate&every=1d").status == 200) }
        served.service.stop()
        let counts = try served.store.clients.readLedger(of: served.watch).filter { $0.type == "heartRate" }.map(\.count)
        #expect(counts == [3])
    }

    @Test func activitySummariesAndCharacteristics() throws {
        let rings = try served.get("/v1/activity-summaries").text
        #expect(
            rings.hasPrefix(#"{"activitySummaries":[{"kind":"activitySummary","date":"2026-09-21","zone":"UTC","subject":"me""#))
        #expect(rings.contains(#""stepCount":{"value":50.0"#) && rings.contains(#""derived":true"#))
        #expect(try served.get("/v1/activity-summaries?from=2026-09-22").text == "{\"activitySummaries\":[]}\n")
        #expect(try served.get("/v1/activity-summaries?limit=0&format=ndjson").text == "")
        #expect(try served.get("/v1/characteristics").text == "{\"characteristics\":[]}\n")
        try served.store.people.set(
            .bloodType, to: Characteristic(.bloodType, written: "O-"), of: ServedStore.person, from: "2026-01-02",
            recorded: ServedStore.now)
        #expect(
            try served.get("/v1/characteristics?format=ndjson").text
                == #"{"subject":"me","type":"bloodType","value":"oNegative","from":"2026-01-02"}"# + "\n")
        #expect(try served.get("/v1/characteristics?on=2026-01-01&format=ndjson").text == "")
        #expect(try served.get("/v1/characteristics?on=once").status == 422)
    }

    @Test func refusesInvalidRequestsWithReason() throws {
        // Values that the document excludes, and values that it cannot exclude.
        let malformed = [
            "/v1/samples?type=heartRate", "/v1/samples?types=heartbeats", "/v1/samples?limit=-1", "/v1/samples?limit=1e3",
            "/v1/samples?limit=1&limit=2", "/v1/samples?subject=Anna", "/v1/samples?format=xml", "/v1/samples?types=",
            "/openapi.json?x=1", "/v1/samples?zone=" + String(repeating: "x", count: 1001),
            "/v1/statistics?type=heartRate&every=01d",
        ]
        let impossible = [
            "/v1/samples?from=soon", "/v1/samples?from=2026-01-02&to=2026-01-01", "/v1/samples?where=value%20%3E",
            "/v1/samples?where=value%20%3E%2038%20Cel&types=heartRate", "/v1/samples?sort=size", "/v1/samples?zone=Nowhere",
            "/v1/samples?unit=furlong", "/v1/samples?where=" + String(repeating: "(", count: 4000),
        ]
        for (wrong, status, title) in malformed.map({ ($0, 400, "Bad Request") })
            + impossible.map({ ($0, 422, "Unprocessable Content") })
        {
            let answer = try served.get(wrong)
            #expect(answer.status == status, "\(wrong)")
            #expect(
                answer.text.hasPrefix(#"{"type":"about:blank","title":"\#(title)","status":\#(status),"detail":""#), "\(wrong)")
        }
        #expect(try served.get("/v1/nothing").status == 404)
        #expect(try served.get("/V1/samples").status == 404)
        #expect(try served.get("/v1/samples/").status == 400)
        let post = try served.get("/v1/types", method: "POST")
        #expect(post.status == 405 && post.headers["allow"] == "GET, HEAD, OPTIONS")
        let options = try served.get("/v1/samples", method: "OPTIONS")
        #expect(options.status == 204 && options.headers["allow"] == "GET, POST, HEAD, OPTIONS")
    }

    @Test func theDocumentHasEveryRouteAndParameter() throws {
        let answer = try #require(try served.client().get("/openapi.json"))
        #expect(answer.body == HTTPDocument.json)
        for route in RouteTable.all {
            #expect(answer.text.contains("\"\(route.path)\":{"))
            #expect(answer.text.contains("\"\(route.method.lowercased())\":{\"operationId\":\"\(route.name)\""))
            // The declared path parameters are exactly those in the path.
            let inPath = route.parts.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
            #expect(route.parameters.filter(\.isInPath).map(\.name) == inPath)
        }
        #expect(Set(RouteTable.all.map(\.name)).count == RouteTable.all.count)
    }

    @Test func conditionsAreWrittenAsJSONToo() throws {
        let json = "%7B%22field%22:%22value%22,%22is%22:%22%3E%22,%22value%22:70%7D"
        #expect(try values("/v1/samples?types=heartRate&where=\(json)") == [80, 90])
        let text = try served.get("/v1/statistics?type=heartRate&every=1d&where=value%20%3E%2070").text
        #expect(try served.get("/v1/statistics?type=heartRate&every=1d&where=\(json)").text == text)
        #expect(try served.get("/v1/samples?where=%7B%7D").status == 422)
    }

    @Test func headEqualsGetWithoutBody() throws {
        let answer = try served.get("/v1/types", method: "HEAD")
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        let tag = try #require(try served.get("/v1/types").headers["etag"])
        #expect(try served.get("/v1/types", "If-None-Match: \(tag)\r\n").status == 304)
        try served.add([1], of: "bodyMass")
        #expect(try served.get("/v1/types", "If-None-Match: \(tag)\r\n").status == 200)
    }
}
