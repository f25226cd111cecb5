import EventLoopKit
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SerialSource

/// Meters that are played at the other end of a real pseudo-terminal.
@Suite(.serialized) struct MeterDialogueTests {
    static let oneTouch = [
        ScriptedMeter.oneTouchRecord("11/20/26", "07:15:00", "106"), ScriptedMeter.oneTouchRecord("11/19/26", "22:01:30", "131"),
    ]
    static let freeStyle = ["106  Nov  20 2026 07:15 G 0x00", "131  July 19 2026 22:01 G 0x00"]

    private func play(_ kind: ScriptedMeter.Kind, _ prepare: (ScriptedMeter) -> Void = { _ in }) throws -> (
        SerialBench, ScriptedMeter
    ) {
        let bench = SerialBench()
        let pty = try Pty()
        let meter = ScriptedMeter(kind, pty: pty, records: kind == .oneTouchUltra2 ? Self.oneTouch : Self.freeStyle)
        prepare(meter)
        bench.source.adopt(SerialBench.meter(pty.path, kind == .oneTouchUltra2 ? .oneTouchUltra2 : .freeStyleOptium))
        try bench.source.start()
        return (bench, meter)
    }

    /// Lets the meter answer. A program that another test is just starting holds a copy of the port for a moment, so a port that is busy is
    /// tried again.
    private func serve(_ meter: ScriptedMeter, _ bench: SerialBench) {
        if bench.source.state(of: meter.pty.path) == "busy" { bench.pass(.seconds(1)) }
        meter.serve()
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func readsMemoryOfMeter(kind: ScriptedMeter.Kind)
        throws
    {
        let (bench, meter) = try play(kind)
        var done: (() -> Void)?
        bench.onCollected = { done = $0 }
        bench.turn(until: { done != nil }, during: { serve(meter, bench) })
        #expect(bench.frames.count == 2 && zip(bench.frames, meter.records).allSatisfy { $0.hasPrefix($1) })
        #expect(bench.devices.allSatisfy { $0.serial == meter.serial && $0.key.hasSuffix("/" + meter.serial) })
        #expect(bench.clocks.map(\.description) == ["2026-11-20T07:31:00.000000"])
        // The port is kept until all records are durable, then released.
        #expect(bench.source.state(of: meter.pty.path) == "live")
        done?()
        #expect(bench.source.state(of: meter.pty.path) == "resting")
        // It is requested again after a while, because connecting a meter to its cable gives no event.
        bench.pass(.seconds(300))
        bench.turn(until: { bench.collections == 2 }, during: { serve(meter, bench) })
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func aDamagedAnswerIsAskedForAgain(
        kind: ScriptedMeter.Kind
    ) throws {
        let (bench, meter) = try play(kind) { meter in
            meter.ignores = 1
            meter.damage = { number, bytes in
                guard number == (kind == .oneTouchUltra2 ? 3 : 1) else { return bytes }
                var bytes = bytes
                // A digit of a value: 106 becomes 107.
                let starts = bytes.indices.dropLast(2).filter { bytes[$0..<$0 + 3].elementsEqual("106".utf8) }
                for start in starts { bytes[start + 2] ^= 1 }
                return bytes
            }
        }
        var time = 0
        bench.turn(
            until: { bench.collections == 1 },
            during: {
                meter.serve()
                time += 1
                // Silence is waited for on the clock of the test.
                if time % 50 == 0 { bench.pass(.seconds(3)) }
            })
        #expect(bench.frames.count == 2 && zip(bench.frames, meter.records).allSatisfy { $0.hasPrefix($1) })
        bench.source.stop()
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func aCableWithoutAMeterRests(
        kind: ScriptedMeter.Kind
    ) throws {
        let (bench, meter) = try play(kind) { $0.ignores = .max }
        for _ in 0..<4 { bench.pass(.seconds(3)) }
        #expect(bench.source.state(of: meter.pty.path) == "resting" && bench.collections == 0)
        #expect(bench.notices.map(\.weight) == [.information], "nothing to tell a person, every minute")
        meter.serve()
        meter.ignores = 0
        bench.pass(.seconds(60))
        bench.turn(until: { bench.collections == 1 }, during: { serve(meter, bench) })
        bench.source.stop()
    }

    /// The sum at the end is all that vouches for these records: without it nothing is taken.
    @Test func refusesMemoryWithWrongChecksum() throws {
        let (bench, meter) = try play(.freeStyleOptium) { meter in
            meter.damage = { _, bytes in
                var bytes = bytes
                bytes[bytes.count - 8] ^= 1
                return bytes
            }
        }
        bench.turn(until: { bench.source.state(of: meter.pty.path) == "resting" }, during: { serve(meter, bench) })
        #expect(bench.frames.isEmpty && bench.collections == 0 && meter.commands.count == 3)
        #expect(bench.notices.last?.text == "nothing was imported: the sum of its memory is wrong")
        bench.source.stop()
    }

    @Test func unpluggedDuringTransfer() throws {
        let (bench, meter) = try play(.oneTouchUltra2) { meter in
            meter.damage = { number, bytes in number == 3 ? Array(bytes.dropLast(20)) : bytes }
        }
        bench.turn(until: { meter.commands.count == 3 }, during: { serve(meter, bench) })
        meter.pty.pull()
        bench.turn(until: { bench.endings == 1 })
        #expect(bench.collections == 0 && bench.frames.isEmpty)
        bench.source.stop()
    }

    /// The answer to DMF begins with `F`, the one to DMT with `T` (an independent driver). Both contain the clock.
    @Test(arguments: ["F", "T"]) func readsClockFromBothAnswers(letter: String) throws {
        let (bench, meter) = try play(.oneTouchUltra2) { $0.clock = "\(letter) \"FRI\",\"11/20/26\",\"07:31:00   \"" }
        bench.turn(until: { bench.collections == 1 }, during: { serve(meter, bench) })
        #expect(bench.clocks.map(\.description) == ["2026-11-20T07:31:00.000000"])
        bench.source.stop()
    }

    /// A year of 19 digits is not a valid clock. The memory is read anyway.
    @Test func ignoresInvalidClock() throws {
        let (bench, meter) = try play(.oneTouchUltra2) {
            $0.clock = "T \"FRI\",\"11/20/9223372036854775807\",\"07:31:00   \""
        }
        bench.turn(until: { bench.collections == 1 }, during: { serve(meter, bench) })
        #expect(bench.clocks.isEmpty && bench.frames.count == 2)
        bench.source.stop()
    }

    /// Invalid counts that a meter may send before its records.
    @Test(arguments: ["-10", "+10", "1e3", "   ", "12", "x"]) func refusesInvalidRecordCount(count: String) throws {
        var dialogue = OneTouchUltra2Dialogue()
        _ = dialogue.handle(.opened)
        for line in ["@ \"ABC12DE3Y\"", "F \"FRI\",\"11/20/26\",\"07:31:00   \"", "P \(count),\"ABC12DE3Y\",\"MG/DL \""] {
            _ = dialogue.handle(.line(ScriptedMeter.oneTouchLine(line)))
        }
        // The header was not accepted, so the next lines are not records, and silence repeats the request.
        for _ in 0..<2000 {
            _ = dialogue.handle(.line(ScriptedMeter.oneTouchLine(ScriptedMeter.oneTouchRecord("11/20/26", "07:15:00", "106"))))
        }
        let commands = dialogue.handle(.silence)
        #expect(commands.contains(.write([0x11, 0x0D] + Array("DMP".utf8) + [0x0D])), "\(commands)")
        #expect(!commands.contains { if case .records = $0 { true } else { false } })
    }

    // MARK: A hostile meter

    /// Runs until the session rests. `more` is written in each turn after the meter's memory was requested.
    private func rests(
        _ kind: ScriptedMeter.Kind, more: [UInt8] = [], _ prepare: (ScriptedMeter) -> Void
    ) throws -> SerialBench {
        let (bench, meter) = try play(kind, prepare)
        var turns = 0
        bench.turn(
            until: { bench.source.state(of: meter.pty.path) == "resting" },
            during: {
                meter.serve()
                if ["DMP", "$xmem"].contains(meter.commands.last) { meter.pty.write(more) }
                turns += 1
                if turns % 50 == 0 { bench.pass(.seconds(3)) }
            })
        bench.source.stop()
        #expect(bench.loop.load == (0, 0))
        return bench
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func anEndlessLineIsNoAnswer(
        kind: ScriptedMeter.Kind
    ) throws {
        let bench = try rests(kind, more: [UInt8](repeating: UInt8(ascii: "P"), count: 500)) { meter in
            meter.damage = { number, bytes in number >= (kind == .oneTouchUltra2 ? 3 : 1) ? [] : bytes }
        }
        #expect(bench.frames.isEmpty && bench.collections == 0)
    }

    /// More records than announced, without an end, as from a meter that repeats itself.
    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func endlessRecordsEnd(
        kind: ScriptedMeter.Kind
    ) throws {
        let record = kind == .oneTouchUltra2 ? Self.oneTouch[0] : Self.freeStyle[0]
        let line = kind == .oneTouchUltra2 ? ScriptedMeter.oneTouchLine(record) : Array("\(record)\r\n".utf8)
        let bench = try rests(kind, more: Array([line, line, line, line, line].joined())) { meter in
            meter.damage = { number, bytes in
                guard number >= (kind == .oneTouchUltra2 ? 3 : 1) else { return bytes }
                return kind == .oneTouchUltra2 ? bytes.prefix { $0 != 0x0D } + [0x0D] : []
            }
        }
        // The OneTouch announced two, and two with correct checksums are read. The other's checksum never arrived.
        #expect(bench.frames.count == (kind == .oneTouchUltra2 ? 2 : 0))
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func retriesWrongChecksumsWithLimit(
        kind: ScriptedMeter.Kind
    ) throws {
        let bench = try rests(kind) { meter in
            meter.damage = { _, bytes in bytes.map { $0 == UInt8(ascii: "1") ? UInt8(ascii: "2") : $0 } }
        }
        #expect(bench.frames.isEmpty && bench.collections == 0)
    }

    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func silenceDuringTransferDeliversNothing(
        kind: ScriptedMeter.Kind
    ) throws {
        let bench = try rests(kind) { meter in
            meter.damage = { number, bytes in
                number >= (kind == .oneTouchUltra2 ? 3 : 1) ? Array(bytes.prefix(bytes.count / 2)) : bytes
            }
        }
        #expect(bench.frames.isEmpty && bench.collections == 0)
    }

    /// It announces five and sends two.
    @Test(arguments: [ScriptedMeter.Kind.oneTouchUltra2, .freeStyleOptium]) func aWrongCountIsAskedForAgain(
        kind: ScriptedMeter.Kind
    ) throws {
        let bench = try rests(kind) { $0.reported = 5 }
        #expect(bench.frames.isEmpty && bench.collections == 0)
    }
}
