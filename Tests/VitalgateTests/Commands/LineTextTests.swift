import Testing

/// A name from outside can hold what breaks a line in two or drives a terminal. Every command writes it in the same harmless way.
@Suite struct LineTextTests {
    /// LINE SEPARATOR, NEXT LINE, the terminal's CSI in one character, DELETE, PARAGRAPH SEPARATOR.
    static let name = "Watch\u{2028}\u{85}\u{9B}2J\u{7F}\u{2029}."
    static let escaped = #"Watch\u2028\u0085\u009b2J\u007f\u2029."#
    static let raw: [Unicode.Scalar] = ["\u{2028}", "\u{85}", "\u{9B}", "\u{7F}", "\u{2029}"]

    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let file = try folder.write(
            "readings.csv",
            """
            time,type,value,unit,source,device
            2026-03-28T08:00:00Z,heartRate,61,/min,\(Self.name),\(Self.name)

            """)
        let run = try folder.vitalgate("import", file)
        #expect(run.status == 0, "\(run.errors)")
    }

    /// One line, nothing raw in it.
    func line(_ arguments: [String]) throws -> String {
        let run = try folder.vitalgate(arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.unicodeScalars.allSatisfy { !Self.raw.contains($0) }, "\(arguments[0])")
        #expect(run.output.split(separator: "\n").count == 1)
        return run.output
    }

    @Test(arguments: [["query", "heartRate", "--format", "ndjson"], ["changes"]])
    func sampleLinesAreEscapedAlike(command: [String]) throws {
        let text = try line(command)
        #expect(text.contains(#""name":"\#(Self.escaped)","version":null"#), "\(text)")
        #expect(text.contains(#""device":{"key":"\#(Self.escaped)""#), "\(text)")
    }

    /// The escapes are the line's, not the store's: a reader finds the texts that came, and the reading again is the same one.
    @Test func theTextsAreTheSame() throws {
        let object = try #require(try folder.vitalgate("query", "heartRate", "--format", "ndjson").objects().first)
        #expect(object["source"]["name"].text == Self.name)
        let again = try folder.vitalgate("import", folder.path("readings.csv"), "--format", "ndjson")
        #expect(try again.objects().first?["stored"].integer == 0)
    }

    /// The source's name as a condition of a repair, which a store keeps as JSON.
    @Test func repairsAreEscapedAlike() throws {
        let plan = try line(
            ["repair", "plan", "--type", "heartRate", "--source", Self.name, "--scale", "2", "--format", "ndjson"])
        #expect(plan.contains(#""source":"\#(Self.escaped)""#), "\(plan)")
        #expect(plan.contains(#""matched":1,"#), "\(plan)")
    }
}
