import HealthModel
import Pipeline
import PipelineTesting
import Testing

/// The doubles keep the seams' contracts, and the stages meet through them: one row from text to a sample in a sink.
@Suite struct SeamsTests {
    private static func reading(line: Int, _ value: String) throws -> Reading {
        let origin = Origin(person: "me", type: .bodyTemperature, source: SourceRevision(id: "s", name: "S"))
        let time = try Instant("2026-11-20T06:00:00Z")
        return Reading(
            origin: origin, numeral: try Numeral(value), unit: try Unit(ucum: "Cel"),
            time: .instants(start: time, end: time, offset: .utc),
            place: Place(.line, line))
    }

    @Test func fromRowsToSamples() throws {
        let clock = FixedClock()
        let source = ScriptedSource(
            rows: [["time", "value"], ["a", "36.6"], ["b", "500"], ["c"], ["d", "36.6"], []], received: clock.now,
            failure: SourceError(.inputOutput, "the cable is out", at: Place(.line, 7)))
        let interpreter = ScriptedInterpreter([
            Place(.line, 2): .readings([try Self.reading(line: 2, "36.6")]),
            Place(.line, 3): .readings([try Self.reading(line: 3, "500")]),
            Place(.line, 4): .refused("there is no value"), Place(.line, 5): .readings([try Self.reading(line: 5, "36.60")]),
            Place(.line, 6): .skipped(SkipKind("blank")),
        ])
        let normaliser = Normaliser(zone: TimeZoneRules(fixed: .utc), received: clock.now)
        let sink = MemorySink()
        let gate = Gate()
        var events: [String] = []
        let failure = thrown(SourceError.self) {
            _ = try source.forEachFrame { frame in
                guard case .row(let row) = frame.payload else { return }
                events.append(row.count > 1 ? row.text(1) : "-")
                var readings: [Reading] = []
                do throws(Refusal) {
                    _ = try interpreter.interpret(frame, into: &readings)
                } catch {
                    events.append(error.reason)
                    return
                }
                var output = Normaliser.Output()
                normaliser.normalise(readings, into: &output)
                for index in output.samples.indices {
                    output.samples[index].rule = gate.rule(against: output.samples[index].sample)
                }
                if !output.samples.isEmpty { events.append("\(try sink.store(output.samples))") }
            }
        }
        #expect(failure?.description == "line 7: the cable is out")
        #expect(interpreter.asked.map(\.number) == [1, 2, 3, 4, 5, 6])
        #expect(
            events.map { $0.replacing("Pipeline.SampleOutcome", with: "") } == [
                "value", "36.6", "[.stored]", "500", "[.quarantined]", "-", "there is no value", "36.6", "[.duplicate]", "-",
            ])
        #expect(sink.samples.count == 1)
        #expect(sink.stored.count == 1)
    }

    @Test func aFailingSinkKeepsNothing() throws {
        let sink = MemorySink()
        sink.failing = [0]
        var output = Normaliser.Output()
        Normaliser(zone: TimeZoneRules(fixed: .utc), received: FixedClock().now).normalise(
            [try Self.reading(line: 1, "36.6")], into: &output)
        #expect(throws: MemorySink.Failure()) { try sink.store(output.samples) }
        #expect(sink.samples.isEmpty)
        #expect(try sink.store(output.samples) == [.stored])
    }

    @Test func bytesAreLentNotGiven() throws {
        let source = ScriptedSource(
            [(.bytes([1, 2, 3]), Place(.byte, 0)), (.bytes([]), Place(.byte, 3))], received: FixedClock().now)
        var sizes: [Int] = []
        try source.forEachFrame { frame in
            if case .bytes(let bytes) = frame.payload { sizes.append(bytes.count) }
        }
        #expect(sizes == [3, 0])
    }

    @Test func missingCellsAreEmpty() {
        let row = TextRow()
        #expect(row[0].isEmpty)
        #expect(row.text(3) == "")
        #expect(Place(.byte, 0).description == "byte 0")
    }

    @Test func fixedClockAdvancesOnRequest() {
        var clock = FixedClock()
        #expect(clock.now.description == "2026-11-20T06:31:00.000000Z")
        clock.advance(seconds: 60)
        #expect(clock.now.description == "2026-11-20T06:32:00.000000Z")
    }
}
