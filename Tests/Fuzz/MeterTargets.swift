@testable import SerialSource

/// A meter that sends anything: each line of the input is one line of the meter, and a question mark is silence.
enum MeterTargets {
    static func meters(_ input: [UInt8]) {
        for kind in [MeterKind.oneTouchUltra2, .freeStyleOptium] {
            var dialogue = kind.dialogue()
            var isDone = false
            func carryOut(_ commands: [MeterCommand]) {
                for command in commands {
                    switch command {
                    case .finished, .failed: isDone = true
                    default: break
                    }
                }
            }
            carryOut(dialogue.handle(.opened))
            var sent: [[UInt8]] = []
            for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) where !isDone {
                if line.elementsEqual("?".utf8) {
                    carryOut(dialogue.handle(.silence))
                } else {
                    sent.append(sealed(Array(line), after: sent) + [0x0D])
                    carryOut(dialogue.handle(.line(sent[sent.count - 1])))
                }
            }
            // Silence ends every conversation.
            for _ in 0..<16 where !isDone { carryOut(dialogue.handle(.silence)) }
            precondition(isDone, "a meter that says nothing any more is waited for")
        }
    }

    /// A line that ends with `~`, or with a whole memory's `END`, gets its right sum, which chance would not find.
    private static func sealed(_ line: [UInt8], after sent: [[UInt8]]) -> [UInt8] {
        if line.suffix(5).elementsEqual("  END".utf8) {
            let start = sent.lastIndex { MeterText.text($0).isEmpty } ?? 0
            return Array(("0x" + digits(MeterText.sum(sent[start...].joined())) + "  END").utf8)
        }
        guard line.last == UInt8(ascii: "~") else { return line }
        let text = Array(line.dropLast())
        return text + Array((" " + digits(MeterText.sum(text))).utf8)
    }

    private static func digits(_ sum: Int) -> String {
        let digits = String(sum, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
