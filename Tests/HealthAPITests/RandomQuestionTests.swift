import HTTPServerTesting
import HealthModel
import HealthServingTesting
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAPI

/// Random requests, writes and deletions: hidden data never changes a byte of a response. The requests are generated from the declarations
/// of the routes.
@Suite struct RandomQuestionTests {
    private struct Asker {
        var random: SeededGenerator
        /// Of others, and its own.
        var names: [SampleIdentity]

        private static let types = [
            "heartRate", "bodyMass", "stepCount", "bloodPressure", "bloodPressureSystolic", "workout", "immunizationRecord",
            "cda",
            "activitySummary", "sleepAnalysis", "nothing",
        ]
        private static let times = [
            "2026-09-21", "2026-09-21T14:13:25Z", "2026-09-24T00:00:00+02:00", "today", "-400d", "2030-01-01", "soon",
        ]
        private static let texts: [String: [String]] = [
            "from": times, "to": times, "anchor": times, "on": times, "source": ["strap", "Strap", "client.2", "other"],
            "device": ["scale", "x"], "unit": ["kg", "/min", "Hz", "g", "[lb_av]", "?"], "zone": ["+01:00", "UTC", "Nowhere"],
            "sort": ["start", "-start", "-value,start", "source.name", "seq"], "after": ["0", "00"],
            "where": [
                "value > 60", "value > 70 kg", "source.name = Strap", "kind = workout", "start > 2026-09-22",
                "not device.key = scale",
                "metadata.note = *", "subject = me", "{\"field\":\"value\",\"is\":\">\",\"value\":60}", "(",
            ],
        ]

        mutating func choose<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

        private mutating func value(of parameter: Parameter) -> String {
            switch parameter.form {
            case .text: choose(Self.texts[parameter.name] ?? ["x"])
            case .number: choose(["0", "1", "3", "100", "-1"])
            case .flag: choose(["true", ""])
            case .words(let words): choose(words)
            case .name: choose(Self.types)
            case .names: (0...Int.random(in: 0..<3, using: &random)).map { _ in choose(Self.types) }.joined(separator: ",")
            case .uuid: choose(names).description
            case .person: choose(["me", ServedStore.person, "unassigned", "22222222-2222-4333-8444-555555555555"])
            case .interval: choose(["10m", "1h", "1d", "1w", "1mo", "1y"])
            case .field: choose(["k1", "k2", "*", "\"x\""])
            }
        }

        private mutating func line() -> String {
            let head =
                "{\"type\":\"\(choose(Self.types))\",\"start\":\"2026-09-\(choose([21, 22]))T14:13:\(choose([20, 25, 30]))Z\""
            return head
                + choose([
                    ",\"value\":\(choose([55, 60, 70, 9000])),\"unit\":\"\(choose(["kg", "g", "/min", "mm[Hg]"]))\"}",
                    ",\"value\":70,\"unit\":\"kg\",\"device\":{\"key\":\"\(choose(["scale", "strap"]))\"}}",
                    ",\"value\":70,\"unit\":\"kg\",\"metadata\":{\"syncIdentifier\":\"a\",\"syncVersion\":\(choose([1, 2, 3]))}}",
                    ",\"value\":70,\"unit\":\"kg\",\"subject\":\"22222222-2222-4333-8444-555555555555\"}",
                    ",\"objects\":[\"\(choose(names))\",\"\(choose(names))\"]}",
                    ",\"end\":\"2026-09-23T00:00:00Z\",\"activity\":\"running\",\"duration\":60}", "}",
                ])
        }

        private mutating func body(of route: Route) -> String {
            guard route.name == "saveSamples" else {
                return "{\"\(choose(["read", "write", "requires"]))\":[\"\(choose(Self.types))\"]}"
            }
            return choose(["{\"samples\":[\(line()),\(line())]}", line(), line(), line()])
        }

        /// One request, but for who sends it.
        mutating func request() -> (route: Route, target: String, headers: String, body: String?) {
            let writing = RouteTable.all.filter { $0.body != nil }
            let route = choose(RouteTable.all.filter { $0.right != .none && $0.answers != [.events] } + writing)
            var (path, items, headers) = (route.path, [String](), "")
            for parameter in route.allParameters where parameter.isRequired || choose([true, false, false]) {
                let value = value(of: parameter)
                if parameter.isInPath {
                    path = path.replacing("{\(parameter.name)}", with: value)
                } else if parameter.isInHeader {
                    headers += "\(parameter.name): \(value)\r\n"
                } else {
                    items.append("\(parameter.name)=" + Self.escaped(value))
                }
            }
            headers += choose(["", "", "Accept-Encoding: gzip\r\n", "If-None-Match: *\r\n", "Accept: text/csv\r\n"])
            return (
                route, path + (items.isEmpty ? "" : "?" + items.joined(separator: "&")), headers,
                route.body.map { _ in body(of: route) }
            )
        }

        private static func escaped(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "z") ~= byte
                return isPlain
                    ? String(decoding: [byte], as: UTF8.self) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
    }

    @Test(arguments: 0..<4) func randomQuestionsDoNotRevealHiddenData(seed: UInt64) throws {
        let pair = try RefusedAnswerTests.Pair(sharing: seed % 2 == 1)
        for served in [pair.full, pair.lesser] {
            for type in ["heartRate", "workout", "bloodPressure", "sleepAnalysis"] { try served.grant(type) }
            try served.grant("bodyMass", reading: seed % 2 == 1 ? .all : .none)
        }
        try pair.full.store.devices.merge(device: "scale", into: "strap")
        var asker = Asker(
            random: SeededGenerator(seed: seed), names: [pair.hidden[0], pair.hidden[9], pair.hidden[200], pair.record])
        var statuses: Set<Int> = []
        for _ in 0..<900 {
            let (route, target, headers, body) = asker.request()
            func answer(_ served: ServedStore) throws -> RawClient.Answer {
                let headers = "Authorization: Bearer \(served.otherToken)\r\n" + headers
                let client = try served.client()
                guard let body else { return try #require(client.get(target, headers, method: route.method)) }
                return try #require(client.send(route.method, target, headers, body))
            }
            let (one, other) = (try answer(pair.full), try answer(pair.lesser))
            #expect(
                RefusedAnswerTests.Pair.reported(one) == RefusedAnswerTests.Pair.reported(other),
                "\(route.method) \(target) \(headers) \(body ?? "")")
            statuses.insert(one.status)
            if route.name == "saveSamples", let uuid = one.text.split(separator: "\"").first(where: { $0.utf8.count == 36 }) {
                asker.names += SampleIdentity(uuid).map { [$0, $0] } ?? []
            }
        }
        #expect(statuses.isSuperset(of: [200, 400, 403, 404, 422]), "\(statuses)")
    }
}
