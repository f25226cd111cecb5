import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI

/// A client gets the same bytes as a client with full access to a store that contains only what the first one may read.
@Suite struct RefusedAnswerTests {
    /// A store with much hidden data, read by a client without access or with access to the body mass. And a store without it, read by a
    /// client with full access.
    struct Pair {
        let full: ServedStore
        let lesser: ServedStore
        let hidden: [SampleIdentity]
        let record: SampleIdentity

        init(sharing isShared: Bool) throws {
            (full, lesser) = (try ServedStore(), try ServedStore())
            // Dense enough to be summarized, followed by a day.
            hidden = try full.add(numerals: (0..<480).map { "\(50 + $0 % 40)" }, of: "heartRate", every: 5)
            try full.add([64, 9000], from: 1_790_200_000)
            #expect(try full.store.summarize())
            while try full.store.summarize() {}
            try full.add([20, 30], of: "stepCount")
            try full.add([120], of: "bloodPressureSystolic")
            try full.add([80], of: "bloodPressureDiastolic")
            record = try full.addRecord("immunizationRecord", #"{"resourceType":"Immunization","id":"1"}"#)
            _ = try full.store.samples.delete([hidden[9]], description: IngestDescription(kind: .delete, received: 0))
            try full.store.people.set(
                .bloodType, to: Characteristic(.bloodType, written: "O-"), of: ServedStore.person, from: "2026-01-02",
                recorded: ServedStore.now)
            guard isShared else { return }
            for store in [full, lesser] {
                let own = try store.add([70, 71, 72, 73], of: "bodyMass", from: 1_790_000_100)
                _ = try store.store.samples.delete([own[1]], description: IngestDescription(kind: .delete, received: 0))
            }
            try full.grant("bodyMass", reading: .all, mayWrite: false)
        }

        /// All of an answer but the time of day and what seals an anchor.
        static func reported(_ answer: RawClient.Answer) -> String {
            var head = answer.headers
            head["date"] = nil
            let isPacked = answer.headers["content-encoding"] != nil
            guard isPacked || answer.text.contains("\"anchor\"") || answer.status == 304 else {
                return "\(answer.status) \(head.sorted { $0.key < $1.key }) \(answer.text)"
            }
            // The tag and the packed length are those of the anchor as well.
            if head["etag"] != nil { head["etag"] = "" }
            if isPacked { head["content-length"] = "" }
            return "\(answer.status) \(head.sorted { $0.key < $1.key }) "
                + (isPacked ? "" : "\(answer.body.count)" + answer.text.replacing(#/[0-9a-f]{40,}/#) { "\($0.output.count)" })
        }

        var questions: [String] {
            [
                "samples", "samples?format=ndjson", "samples?format=csv", "samples?types=heartRate&sort=-value&limit=1",
                "samples?types=heartRate,bodyMass&unit=kg", "samples?where=value%20%3E%2070", "samples?source=strap&subject=me",
                "samples?types=bloodPressure", "samples?sort=-start&limit=2", "samples?from=2026-09-21&to=2026-09-22",
                "samples/\(hidden[3])", "samples/\(hidden[3])?content=true", "samples/\(hidden[9])", "samples/\(record)",
                "samples/\(record)/raw", "latest", "latest?format=ndjson", "latest?types=heartRate", "latest?types=bodyMass",
                "latest?types=heartRate,bodyMass,stepCount,immunizationRecord", "latest?subject=me&types=heartRate", "types",
                "types?format=ndjson", "sources", "sources?types=heartRate", "devices", "devices?types=heartRate,bodyMass",
                "activity-summaries", "characteristics", "characteristics?on=2026-03-01", "changes", "changes?after=0&limit=1",
                "changes?types=heartRate", "changes?types=bodyMass&limit=2",
            ]
                + ["heartRate", "bodyMass", "stepCount"].flatMap { type in
                    [
                        "every=10m", "every=1h&bySource=true", "every=1d&percentiles=true", "every=1d&format=csv",
                        "every=1d&empty=true&from=2026-09-20&to=2026-09-30", "every=1mo&everySource=true",
                        "every=1h&where=value%20%3E%2070",
                    ].map { "statistics?type=\(type)&\($0)" }
                }
        }
    }

    private func reported(_ store: ServedStore, _ token: String, _ path: String, _ headers: String) throws -> String {
        Pair.reported(
            try #require(try store.client().get("/v1/" + path, "Authorization: Bearer \(token)\r\n" + headers)))
    }

    @Test(arguments: [false, true]) func responsesAreIndependentOfHiddenData(sharing: Bool) throws {
        let pair = try Pair(sharing: sharing)
        let (full, lesser) = (pair.full, pair.lesser)
        for path in pair.questions {
            // A client with access sends the same request first, so that the cache contains only its answer.
            let granted = try full.get("/v1/" + path)
            let tag = granted.headers["etag"].map { "If-None-Match: \($0)\r\n" } ?? ""
            var own: String?
            for headers in [
                "", "", tag, "Accept-Encoding: gzip\r\n", "If-None-Match: W/\"x\", \"y\"\r\n", "If-None-Match: *\r\n",
            ] {
                let (refused, absent) = (
                    try reported(full, full.otherToken, path, headers), try reported(lesser, lesser.token, path, headers)
                )
                #expect(refused == absent, "\(path) \(headers)")
                if headers.isEmpty {
                    // Asked again, it is the same again.
                    #expect(own == nil || own == refused, "\(path)")
                    own = refused
                }
            }
        }
        // The requests are such that hidden data would change the answer.
        let differing = try pair.questions.filter { try full.get("/v1/" + $0).text != lesser.get("/v1/" + $0).text }
        #expect(differing.count > 25, "\(differing)")
    }

    /// An answer with a tag is not recomputed for the refused client. Hidden changes do not show.
    @Test func tagsDependOnlyOnReadableData() throws {
        let pair = try Pair(sharing: true)
        let paths = ["latest?types=bodyMass,heartRate", "statistics?type=bodyMass&every=1d", "sources", "types", "devices"]
        func tag(_ path: String) throws -> String {
            let answer = try #require(
                try pair.full.client().get("/v1/" + path, "Authorization: Bearer \(pair.full.otherToken)\r\n"))
            return try #require(answer.headers["etag"])
        }
        let before = try paths.map(tag)
        try pair.full.add([91], from: 1_790_300_000)
        try pair.full.add([50], of: "stepCount", from: 1_790_300_000)
        #expect(try paths.map(tag) == before)
        for (path, tag) in zip(paths, before) {
            let answer = try pair.full.client().get(
                "/v1/" + path, "Authorization: Bearer \(pair.full.otherToken)\r\nIf-None-Match: \(tag)\r\n")
            #expect(answer?.status == 304, "\(path)")
        }
        try pair.full.add([74], of: "bodyMass", from: 1_790_300_000)
        #expect(try zip(paths.map(tag), before).allSatisfy { $0 != $1 })
    }

    /// Byte by byte, except for anchors, which always differ.
    @Test func refusedDataLooksAbsent() throws {
        let (full, empty) = (try ServedStore(), try ServedStore())
        let uuids = try full.add([60, 61, 62])
        try full.add([20], of: "stepCount")
        _ = try full.store.samples.delete([uuids[0]], description: IngestDescription(kind: .delete, received: 0))
        try full.store.people.set(
            .bloodType, to: Characteristic(.bloodType, written: "O-"), of: ServedStore.person, from: "2026-01-02",
            recorded: ServedStore.now)
        for route in RouteTable.all where route.right != .none && route.answers != [.events] {
            for format in route.answers.isEmpty ? ["json"] : route.answers.map(\.name) {
                let query =
                    switch route.name {
                    case "statistics": "?type=heartRate&every=1d"
                    case "authorizationStatus": "?read=heartRate"
                    case "sample", "rawSample", "deleteSample": ""
                    default: "?"
                    }
                let target = route.path.replacing("{uuid}", with: "\(uuids[1])") + query
                let path = route.allParameters.contains { $0.name == "format" } ? target + "&format=\(format)" : target
                let body = "{\"read\":[\"heartRate\"]}"
                func answer(_ store: ServedStore, _ token: String) throws -> RawClient.Answer {
                    let headers = "Authorization: Bearer \(token)\r\nIf-None-Match: x\r\n"
                    guard route.body == nil else { return try store.post(path, body, token: token) }
                    return try #require(try store.client().get(path, headers, method: route.method))
                }
                let refused = try answer(full, full.otherToken)
                // A client sees its own requests and their status.
                let isOwn = route.path.hasPrefix("/v1/authorization") || route.isWriting
                let absent = try answer(empty, isOwn ? empty.otherToken : empty.token)
                #expect(refused.status == absent.status, "\(path)")
                let anchors = #/"anchor":"[0-9a-f]*"/#
                #expect(refused.text.replacing(anchors, with: "") == absent.text.replacing(anchors, with: ""), "\(path)")
                #expect(refused.body.count == absent.body.count, "\(path)")
                if !isOwn, route.name != "rawSample" { #expect(try full.get(path).text != refused.text, "\(path)") }
            }
        }
    }

    /// An unknown category becomes known to the whole process through anyone's data. No answer reveals which ones those are, and a client
    /// cannot create one by naming it.
    @Test func doesNotRevealTypesOfHiddenData() throws {
        let served = try ServedStore()
        try served.grant("sleepAnalysis")
        #expect(SampleType(category: "glowingOfSomebody") != nil && SampleType("glowingOfNobody") == nil)
        func answers(_ name: String) throws -> [String] {
            let line = "{\"type\":\"\(name)\",\"start\":\"2026-11-20T07:00:00Z\",\"value\":1"
            let paths = [
                "samples?types=\(name)", "samples?types=\(name),heartRate", "samples?where=type%20=%20\(name)",
                "latest?types=\(name)",
                "samples?where=statistics.\(name).sum%20%3E%201", "statistics?type=\(name)&every=1d", "changes?types=\(name)",
                "sources?types=\(name)", "authorization/status?read=\(name)", "authorization/status?write=\(name)",
            ]
            let bodies = [
                ("samples", line + "}"), ("samples", line + ",\"kind\":\"category\"}"),
                ("samples", line + ",\"kind\":\"quantity\"}"),
                ("authorization", "{\"read\":[\"\(name)\"]}"), ("authorization", "{\"write\":[\"\(name)\"]}"),
            ]
            let token = "Authorization: Bearer \(served.otherToken)\r\n"
            return try
                (paths.map { try #require(try served.client().get("/v1/" + $0, token)) }
                + bodies.map { try served.post("/v1/" + $0, $1, token: served.otherToken) }).map {
                    #expect([400, 422].contains($0.status), "\($0.text)")
                    return "\($0.status) \($0.text.replacing(name, with: ""))"
                }
        }
        #expect(try answers("glowingOfSomebody") == answers("glowingOfNobody"))
        #expect(SampleType("glowingOfNobody") == nil)
    }

    /// The same for a stream, whatever is written, deleted and erased at the same time.
    @Test func aRefusedStreamLooksLikeNothing() throws {
        func reported(_ isRefused: Bool, after anchor: String) throws -> String {
            let served = try ServedStore { $0.heartbeat = .milliseconds(100) }
            if isRefused { try served.add([58, 59]) }
            let token = isRefused ? served.otherToken : served.token
            let given = try #require(try served.client().get("/v1/changes", "Authorization: Bearer \(token)\r\n"))
            let own = String(given.text.split(separator: "\"").last { $0.count > 40 } ?? "")
            let client = try served.client()
            client.send(
                "GET /v1/changes/stream\(anchor == "0" ? "?after=0" : "") HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
                    + "\(anchor == "own" ? "Last-Event-ID: \(own)\r\n" : "")\r\n")
            #expect(client.read(until: "retry: 2000") != nil)
            if isRefused {
                let uuids = try served.add([60, 61, 62])
                _ = try served.store.samples.delete([uuids[0]], description: IngestDescription(kind: .delete, received: 0))
                _ = try served.store.prune(
                    [.heartRate: Instant(seconds: 1_795_000_000)], description: IngestDescription(kind: .prune, received: 0))
            }
            // Heartbeats, in which anything would have come.
            var text = try #require(client.read(until: ": no news", times: 4))
            // The place that it had is known to it still.
            let again = try #require(try served.client().get("/v1/changes?after=\(own)", "Authorization: Bearer \(token)\r\n"))
            text += "\(again.status) \(again.text)"
            return text.replacing("d\r\n: no news\n\n\r\n", with: "").replacing(#/[0-9a-f]{40,}/#) { "\($0.output.count)" }
                .replacing(#/Date: [^\r]*/#, with: "")
        }
        for anchor in ["", "0", "own"] {
            #expect(try reported(true, after: anchor) == reported(false, after: anchor), "\(anchor)")
        }
    }
}
