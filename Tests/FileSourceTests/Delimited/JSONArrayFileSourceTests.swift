import FileSource
import HealthModel
import Pipeline
import Testing

@Suite struct JSONArrayFileSourceTests {
    static func read(_ text: String) throws -> [Row] {
        try rows(JSONArrayFileSource(bytes: Array(text.utf8), paths: ["time", "value.bpm"], received: Instant(seconds: 0)))
    }

    @Test func readsNamedMembers() throws {
        let text =
            #"[ {"time": "a\u00e9\n\"", "value": {"bpm": 76, "x": [1, {"bpm": 2}]}, "more": {"time": 3}}, "#
            + #"{"value": {"bpm": null}} ]"#
        #expect(try Self.read(text) == [Row(1, "aé\n\"", "76"), Row(2, "", "")])
        #expect(try Self.read("[]") == [])
        #expect(try Self.read(#"[{"time":"\ud83d\ude00"}]"#) == [Row(1, "😀", "")])
    }

    @Test(arguments: [
        "7", "\"x\"", "null", "[1]", #"{"time": {"x": 1}}"#, #"{"time": [1]}"#, #"{"time" 1}"#, #"{"time": 1 "b": 2}"#,
        #"{"time": @}"#,
        #"{"time": "\x"}"#, #"{"time": "\ud800\u12"}"#, "{time: 1}",
    ])
    func refusesInvalidElement(element: String) throws {
        #expect(try Self.read(#"[{"time":1},\#(element),{"time":3}]"#) == [Row(1, "1", ""), .malformed(2), Row(3, "3", "")])
    }

    @Test(arguments: ["", "{}]", "{} x", #"{"time": 1"#, "[", "[{}", #"[{"time": "x"#, "[{}] x", "[{} {}]", "[{},", #"[{"a":"\"#])
    func refusesABrokenArray(text: String) { #expect(throws: SourceError.self) { try Self.read(text) } }

    /// Consecutive objects, as `mongoexport` writes them. A broken one does not stop the next.
    @Test func readsObjectsWithoutAList() throws {
        #expect(try Self.read("{}") == [Row(1, "", "")])
        let text = "{\"time\": 1}\n{\"time\": \"x\", \"value\": {\"bpm\": 2}}\r\n {\"time\": @}\n{\"time\":4}\n"
        #expect(try Self.read(text) == [Row(1, "1", ""), Row(2, "x", "2"), .malformed(3), Row(4, "4", "")])
    }

    /// MongoDB's Extended JSON: the wrapped value is read.
    @Test func unwrapsExtendedJSON() throws {
        let text = #"""
            {"time": {"$numberLong": "17"}, "value": {"bpm": {"$numberInt": "61"}}}
            {"time": {"$date": {"$numberLong": "18"}}, "value": {"bpm": {"$numberDouble": "6.5"}}}
            {"time": { "$date" : "2026-11-20T06:31:00Z" }, "value": {"bpm": 7}}
            """#
        #expect(try Self.read(text) == [Row(1, "17", "61"), Row(2, "18", "6.5"), Row(3, "2026-11-20T06:31:00Z", "7")])
    }

    /// Unread members are counted by path, except those without a value and ignored ones.
    @Test func countsUnreadMembers() throws {
        let text =
            #"{"status": 200, "rows": [{"time": 1, "trend": "Flat", "raw": {"a": 1, "b": null}}, {"time": 2, "trend": "Up", "id": 3, "x": {"y": 1}}], "more": 1}"#
        let source = JSONArrayFileSource(
            bytes: Array(text.utf8), paths: ["time"], rows: "rows", ignored: ["id", "x.*"], received: Instant(seconds: 0))
        try source.forEachFrame { _ in }
        let counts = Dictionary(uniqueKeysWithValues: source.unread.counts.map { ($0.key.name, $0.value) })
        #expect(counts == ["member trend": 2, "member raw.a": 1, "member status": 1, "member more": 1])
    }

    @Test func depthAndLengthAreBounded() throws {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(try Self.read(#"[{"a": \#(deep)}, {"time": 2}]"#) == [.malformed(1), Row(2, "2", "")])
        let long = #"[{"a": "\#(String(repeating: "x", count: 2_000_000))"}]"#
        #expect(throws: SourceError.self) { try Self.read(long) }
        let many = "[" + (0..<50_000).map { #"{"time": "t\#($0)", "value": {"bpm": \#($0)}}"# }.joined(separator: ",\n") + "]"
        let found = try Self.read(many)
        #expect(found.count == 50_000)
        #expect(found.last == Row(50_000, "t49999", "49999"))
    }

    /// A file that is cut anywhere gives the elements before the cut and an error.
    @Test func everyPrefixEndsInAnError() throws {
        let text = #"[{"time":"a","value":{"bpm":76}},{"time":"b"}]"#
        for length in 0..<text.utf8.count {
            var found: [Row] = []
            let source = JSONArrayFileSource(
                bytes: Array(text.utf8.prefix(length)), paths: ["time", "value.bpm"], received: Instant(seconds: 0))
            #expect(throws: SourceError.self) { try source.forEachFrame { found.append(Row($0)) } }
            #expect(found == [Row(1, "a", "76"), Row(2, "b", "")].prefix(found.count).map { $0 })
        }
    }
}
