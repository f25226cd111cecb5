import HealthModel

/// LifeScan OneTouch Ultra 2. A command is DC1, CR, the text, CR. An answer is a line that ends with the sum of its bytes.
///
///     DM@ ▸ @ "ABC12DE3Y" 02E2     DMF ▸ F "SAT","08/03/13","22:12:00   " 05FA     DMP ▸ P 002,"ABC12DE3Y","MG/DL " 05D6, and the records
struct OneTouchUltra2Dialogue: MeterDialogue {
    private enum Step: String {
        case serial = "DM@"
        case clock = "DMF"
        case dump = "DMP"
    }

    private var step = Step.serial
    private var attempts = 0
    private var expected: Int?
    private var records: [[UInt8]] = []

    mutating func handle(_ event: MeterEvent) -> [MeterCommand] {
        switch event {
        case .opened: return ask(.serial)
        case .silence: return again(.silent)
        case .line(let line): return take(line)
        }
    }

    private mutating func ask(_ next: Step) -> [MeterCommand] {
        if next != step { attempts = 0 }
        step = next
        attempts += 1
        (expected, records) = (nil, [])
        // The first CR clears noise from the meter's buffer, which would otherwise become part of the command.
        return [.write([0x11, 0x0D] + Array(step.rawValue.utf8) + [0x0D]), .wait(.seconds(3))]
    }

    private mutating func again(_ failure: MeterFailure) -> [MeterCommand] {
        if attempts < MeterText.maximumAttempts { return ask(step) }
        // Records with a correct sum are kept. The others are refused when they are parsed.
        if step == .dump, !records.isEmpty, failure != .silent { return [.records(records), .finished] }
        return [.failed(step == .serial ? .silent : failure)]
    }

    private mutating func take(_ line: [UInt8]) -> [MeterCommand] {
        let text = MeterText.text(line)
        guard !text.isEmpty else { return [.wait(.seconds(3))] }
        let isWhole = Self.hasRightSum(text)
        switch step {
        case .serial:
            guard isWhole, text.hasPrefix("@ \""), let serial = text.split(separator: "\"").dropFirst().first else {
                return [.wait(.seconds(3))]
            }
            return [
                .identified(maker: "LifeScan", model: "OneTouch Ultra 2", serial: String(serial), firmware: nil)
            ] + ask(.clock)
        case .clock:
            // DMF is answered with F, DMT with T. Both contain the clock.
            guard isWhole, text.hasPrefix("F \"") || text.hasPrefix("T \"") else { return [.wait(.seconds(3))] }
            return (Self.clock(text).map { [.clock($0)] } ?? []) + ask(.dump)
        case .dump: return takeRecord(line, text, isWhole: isWhole)
        }
    }

    private mutating func takeRecord(_ line: [UInt8], _ text: String, isWhole: Bool) -> [MeterCommand] {
        guard let expected else {
            guard isWhole, text.hasPrefix("P "), let count = Self.count(text) else { return [.wait(.seconds(3))] }
            self.expected = count
            return count == 0 ? [.records([]), .finished] : [.wait(.seconds(3))]
        }
        records.append(line)
        guard records.count == expected else { return [.wait(.seconds(3))] }
        let damaged = records.count { !Self.hasRightSum(MeterText.text($0)) }
        guard damaged == 0 else { return again(.damaged("\(damaged) of \(expected) records are damaged")) }
        return [.records(records), .finished]
    }

    static func hasRightSum(_ text: String) -> Bool {
        guard text.utf8.count > 5, let sum = Int(text.suffix(4), radix: 16) else { return false }
        return sum == MeterText.sum(text.utf8.dropLast(5))
    }

    /// Parses a count of exactly three digits, without a sign.
    private static func count(_ text: String) -> Int? {
        let digits = text.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: ",") }
        guard digits.count == 3, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// Parses `F "SAT","08/03/13","22:12:00   " 05FA`.
    private static func clock(_ text: String) -> WallTime? {
        let cells = text.split(separator: "\"")
        guard cells.count > 5 else { return nil }
        let date = cells[3].split(separator: "/").map { UInt8($0).map(Int.init) }
        guard date.count == 3, let year = date[2], year < 100 else { return nil }
        return MeterText.wall(year: 2000 + year, month: date[0], day: date[1], time: cells[5].prefix(8))
    }
}
