import Profiles
import Testing

/// Features of the language of tables that no included profile needs so far. A user's own profile may need them.
@Suite struct TableLanguageTests {
    static func failures(_ channel: String, _ vector: String) throws -> [String] {
        let text = """
            { id: "test", name: "Test", version: "1",
              devices: [{ maker: "A", models: ["B"], kind: "program", proof: "one" }],
              channels: [ \(channel) ], vectors: [ { source: "made", \(vector) } ] }
            """
        return ProfileVectorRun(try Profile(json5: Array(text.utf8), file: "test.json5"), open: open).failures()
    }

    /// The second column of a name, and a length in seconds.
    @Test func theSecondColumnOfAName() throws {
        let vector = """
            lines: ["Date,Elapsed,Pulse,Elapsed", "2026-11-20T06:31:00Z,0:30,61,1800.0"],
            readings: [{ row: 2, type: "heartRate", value: "61", unit: "/min", start: "2026-11-20T06:31:00+00:00", end: "2026-11-20T07:01:00+00:00" }]
            """
        func channel(_ nth: String) -> String {
            """
            { channel: "csv", columns: { date: { names: ["Date"] }, pulse: { names: ["Pulse"] }, elapsed: { names: ["Elapsed"]\(nth) } },
              times: [{ columns: ["date"], patterns: ["iso8601"] }], end: { duration: "elapsed", in: "s" },
              readings: [{ column: "pulse", type: "heartRate", unit: "/min" }] }
            """
        }
        #expect(try Self.failures(channel(", nth: 2"), vector) == [])
        // The first is not a number of seconds, and the profile must choose one of the two.
        #expect(try !Self.failures(channel(", nth: 1"), vector).isEmpty)
        #expect(try !Self.failures(channel(""), vector).isEmpty)
        #expect(try !Self.failures(channel(", nth: 3"), vector).isEmpty)
    }

    /// Two meals of one day with as much in them are two readings, and the same meal twice is one.
    @Test func distinguishesRowsOfOneTime() throws {
        let vector = """
            lines: ["Date,Meal,Energy", "2026-01-05,Breakfast,400", "2026-01-05,Dinner,400"],
            readings: [
              { row: 2, type: "dietaryEnergyConsumed", value: "400", unit: "kcal", start: "2026-01-05T00:00:00", end: "2026-01-06T00:00:00" },
              { row: 3, type: "dietaryEnergyConsumed", value: "400", unit: "kcal", start: "2026-01-05T00:00:00", end: "2026-01-06T00:00:00" },
            ]
            """
        let channel = """
            { channel: "csv", apart: "meal",
              columns: { date: { names: ["Date"] }, meal: { names: ["Meal"] }, energy: { names: ["Energy"] } },
              times: [{ columns: ["date"], patterns: ["yyyy-MM-dd"], zone: "local", day: true }],
              readings: [{ column: "energy", type: "dietaryEnergyConsumed", unit: "kcal" }] }
            """
        #expect(try Self.failures(channel, vector) == [])
    }

    /// Nanoseconds since 1970, as numbers and as texts, and elements of lists.
    @Test func nanosecondsAndElements() throws {
        let vector = """
            lines: ['{"Points": [{"value": [{"real": 81.3}], "time": 1609459200000000000},', '{"value": [{"real": 81.4}], "time": "1609459260500000000"}]}'],
            readings: [
              { row: 1, type: "bodyMass", value: "81.3", unit: "kg", start: "2021-01-01T00:00:00+00:00" },
              { row: 2, type: "bodyMass", value: "81.4", unit: "kg", start: "2021-01-01T00:01:00.500000+00:00" },
            ]
            """
        let channel = """
            { channel: "json", rows: "Points", columns: { time: { path: "time" }, weight: { path: "value[0].real" } },
              times: [{ columns: ["time"], patterns: ["unix-ns"], zone: "UTC" }], readings: [{ column: "weight", type: "bodyMass", unit: "kg" }] }
            """
        #expect(try Self.failures(channel, vector) == [])
    }
}
