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
    func refusesAnElementAndGoesOn(element: String) throws {
        #expect(try Self.read(#"[{"time":1},\#(element),{"time":3}]"#) == [Row(1, "1", ""), .malformed(2), Row(3, "3", "")])
    }

    @Test(arguments: ["", "{}", "[", "[{}", #"[{"time": "x"#, "[{}] x", "[{} {}]", "[{},", #"[{"a":"\"#])
    func refusesABrokenArray(text: String) { #expect(throws: SourceError.self) { try Self.read(text) } }

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

    /// Cut anywhere, the file gives the elements in front of the cut and an error, and nothing else.
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
