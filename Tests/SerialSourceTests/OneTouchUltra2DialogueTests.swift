import HealthModel
import Testing

@testable import SerialSource

/// Data that a OneTouch Ultra 2, or another device at its cable, may send.
@Suite struct OneTouchUltra2DialogueTests {
    /// The line with its sum, as the meter ends it.
    private static func line(_ text: String) -> [UInt8] {
        let sum = String(MeterText.sum((text + " ").utf8.dropLast(1)), radix: 16, uppercase: true)
        return Array("\(text) \(String(repeating: "0", count: 4 - sum.count))\(sum)\r\n".utf8)
    }

    /// A dialogue that has the meter's serial number and has requested its clock.
    private static func afterClockRequest() -> OneTouchUltra2Dialogue {
        var dialogue = OneTouchUltra2Dialogue()
        _ = dialogue.handle(.opened)
        #expect(dialogue.handle(.line(line(#"@ "ABC12DE3Y""#))).contains { if case .identified = $0 { true } else { false } })
        return dialogue
    }

    private static func clock(_ commands: [MeterCommand]) -> WallTime? {
        for case .clock(let time) in commands { return time }
        return nil
    }

    private static func isRequested(_ commands: [MeterCommand], _ command: String) -> Bool {
        commands.contains {
            if case .write(let bytes) = $0 { String(decoding: bytes, as: UTF8.self).contains(command) } else { false }
        }
    }

    /// An independent driver reads `F` as the answer to DMF. Meters that answer with `T` exist, too.
    @Test(arguments: ["F", "T"]) func readsClockFromEitherAnswer(letter: String) {
        var dialogue = Self.afterClockRequest()
        let commands = dialogue.handle(.line(Self.line(#"\#(letter) "SAT","08/03/13","22:12:00   ""#)))
        #expect(Self.clock(commands)?.description == "2013-08-03T22:12:00.000000")
        #expect(Self.isRequested(commands, "DMP"))
    }

    @Test(arguments: ["9223372036854775807", "-1", "100", "-9223372036854775808", "x"]) func ignoresInvalidYear(year: String) {
        var dialogue = Self.afterClockRequest()
        let commands = dialogue.handle(.line(Self.line(#"F "SAT","08/03/\#(year)","22:12:00   ""#)))
        #expect(Self.clock(commands) == nil)
        #expect(Self.isRequested(commands, "DMP"), "its records are wanted all the same")
    }

    @Test(arguments: ["-10", "+10", " 10", "1e2"]) func endsAfterInvalidRecordCount(count: String) {
        var dialogue = Self.afterClockRequest()
        _ = dialogue.handle(.line(Self.line(#"F "SAT","08/03/13","22:12:00   ""#)))
        _ = dialogue.handle(.line(Self.line(#"P \#(count),"ABC12DE3Y","MG/DL ""#)))
        // Nothing is collected: the following lines are not read as records.
        for _ in 0..<2000 {
            let commands = dialogue.handle(.line(Self.line(#"P "SAT","08/03/13","22:12:00   ","  106 ", 00"#)))
            #expect(!commands.contains { if case .records = $0 { true } else { false } })
        }
        // Silence ends it.
        var ended = false
        for _ in 0..<4 where !ended {
            ended = dialogue.handle(.silence).contains { if case .failed = $0 { true } else { false } }
        }
        #expect(ended)
    }
}
