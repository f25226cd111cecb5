/// A meter at the device's end of a line: answers the commands that it gets.
package final class ScriptedMeter {
    package enum Kind: Sendable { case oneTouchUltra2, freeStyleOptium }

    package let pty: Pty
    private let kind: Kind
    /// Its memory, as lines without their ends and sums.
    package var records: [String]
    package var serial: String
    /// The clock's line, without its end and sum.
    package var clock: String
    /// So many commands are not answered.
    package var ignores = 0
    /// The number of records that it reports. `nil` for the actual number.
    package var reported: Int?
    /// Changes an answer before it is sent. The first argument is the number of the answer, from 1.
    package var damage: (Int, [UInt8]) -> [UInt8] = { $1 }
    package private(set) var commands: [String] = []
    private var answers = 0
    private var received: [UInt8] = []

    package init(_ kind: Kind, pty: Pty, records: [String], serial: String? = nil) {
        self.kind = kind
        self.pty = pty
        self.records = records
        self.serial = serial ?? (kind == .oneTouchUltra2 ? "ABC12DE3Y" : "DAMH359-63524")
        clock = kind == .oneTouchUltra2 ? "F \"FRI\",\"11/20/26\",\"07:31:00   \"" : "Nov  20 2026 07:31:00"
    }

    /// `P "THU","01/06/11","15:51:00   ","  106 ","N","11", 00`
    package static func oneTouchRecord(_ date: String, _ time: String, _ value: String, control: Bool = false) -> String {
        "P \"MON\",\"\(date)\",\"\(time)   \",\"\(control ? "C" : " ") \(value) \",\"N\",\"00\", 00"
    }

    /// A line as it is sent, with its checksum and end.
    package static func oneTouchLine(_ text: String) -> [UInt8] { withSum(text) }

    /// Answers the received requests. Waits for the next one at most this long.
    package func serve(waiting milliseconds: Int32 = 0) {
        received += pty.read(waiting: milliseconds)
        while let end = received.firstIndex(of: kind == .oneTouchUltra2 ? 0x0D : 0x0A) {
            let command = String(decoding: received[..<end].filter { $0 > 0x20 }, as: UTF8.self)
            received.removeFirst(end + 1)
            guard !command.isEmpty else { continue }
            commands.append(command)
            if ignores > 0 {
                ignores -= 1
                continue
            }
            guard let answer = answer(to: command) else { continue }
            answers += 1
            pty.write(damage(answers, answer))
        }
    }

    private func answer(to command: String) -> [UInt8]? {
        switch (kind, command) {
        case (.oneTouchUltra2, "DM@"): return Self.withSum("@ \"\(serial)\"")
        case (.oneTouchUltra2, "DMF"): return Self.withSum(clock)
        case (.oneTouchUltra2, "DMP"):
            let head = "P \(Self.padded(reported ?? records.count)),\"\(serial)\",\"MG/DL \""
            return Self.withSum(head) + records.flatMap(Self.withSum)
        case (.freeStyleOptium, "$xmem"):
            let lines = ["", serial, "0.31       -P", clock, Self.padded(reported ?? records.count)] + records
            let text = lines.map { $0 + "\r\n" }.joined()
            return Array((text + "0x\(Self.hexadecimal(text.utf8))  END\r\n").utf8)
        default: return nil
        }
    }

    private static func withSum(_ text: String) -> [UInt8] { Array("\(text) \(hexadecimal(text.utf8))\r\n".utf8) }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let sum = bytes.reduce(0) { $0 + Int($1) } & 0xFFFF
        let digits = String(sum, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func padded(_ number: Int) -> String { String(String(number + 1000).dropFirst()) }
}
