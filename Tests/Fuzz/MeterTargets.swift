@testable import SerialSource

/// A meter that says what it likes: each line of the input is one of its own, an empty one is silence.
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
            for line in input.split(separator: 0x0A, omittingEmptySubsequences: false) where !isDone {
                carryOut(dialogue.handle(line.isEmpty ? .silence : .line(sealed(Array(line)) + [0x0D])))
            }
            // Whatever was said, silence ends it.
            for _ in 0..<16 where !isDone { carryOut(dialogue.handle(.silence)) }
            precondition(isDone, "a meter that says nothing any more is waited for")
        }
    }

    /// A line that ends with `~` gets its right sum, which chance would not find.
    private static func sealed(_ line: [UInt8]) -> [UInt8] {
        guard line.last == UInt8(ascii: "~") else { return line }
        let text = Array(line.dropLast())
        let digits = String(MeterText.sum(text), radix: 16, uppercase: true)
        return text + Array((" " + String(repeating: "0", count: 4 - digits.utf8.count) + digits).utf8)
    }
}
