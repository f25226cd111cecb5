import HealthModel

/// Abbott FreeStyle Optium. The meter answers `$xmem` with its whole memory. The last line contains the sum of all bytes before it.
///
///     (empty line)   DAMH359-63524   0.31   July 25 2018 14:42:00   002   (records)   0x1F3C  END
///
/// Its records have no checksums of their own, so nothing is accepted before the last line has arrived. The meter often ignores the first
/// command after it wakes up.
struct FreeStyleOptiumDialogue: MeterDialogue {
    private var attempts = 0
    private var lines: [[UInt8]] = []

    /// The meter keeps 450 records, but the count has three digits.
    private static let maximumLines = 1100
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    mutating func handle(_ event: MeterEvent) -> [MeterCommand] {
        switch event {
        case .opened: return ask()
        case .silence:
            let isSilent = lines.allSatisfy { MeterText.text($0).isEmpty }
            return again(isSilent ? .silent : .damaged("its memory has no end"))
        case .line(let line):
            lines.append(line)
            guard MeterText.text(line).hasSuffix("  END") else {
                return lines.count > Self.maximumLines ? again(.damaged("its memory has no end")) : [.wait(.seconds(3))]
            }
            return finish()
        }
    }

    private mutating func ask() -> [MeterCommand] {
        attempts += 1
        lines = []
        return [.write(Array("$xmem\r\n".utf8)), .wait(.seconds(3))]
    }

    private mutating func again(_ failure: MeterFailure) -> [MeterCommand] {
        attempts < MeterText.maximumAttempts ? ask() : [.failed(failure)]
    }

    private mutating func finish() -> [MeterCommand] {
        // The rest of an earlier answer may come first. This answer begins at the last empty line.
        guard let start = lines.lastIndex(where: { MeterText.text($0).isEmpty }), lines.count - start >= 6 else {
            return again(.damaged("its memory has no beginning"))
        }
        let answer = lines[start...]
        let texts = answer.map(MeterText.text)
        let sum = MeterText.sum(answer.dropLast().joined())
        guard let last = texts.last, last.hasPrefix("0x"), Int(last.dropFirst(2).prefix(4), radix: 16) == sum else {
            return again(.damaged("the sum of its memory is wrong"))
        }
        let records = Array(answer.dropFirst(5).dropLast())
        guard Int(texts[4]) == records.count else {
            return again(.damaged("the number of its records differs from the number that it reports"))
        }
        let clock = Self.clock(texts[3]).map { [MeterCommand.clock($0)] } ?? []
        let version = texts[2].split(separator: " ").first.map(String.init)
        return [.identified(maker: "Abbott", model: "FreeStyle Optium", serial: texts[1], firmware: version)] + clock
            + [.records(records), .finished]
    }

    /// Parses `July 25 2018 14:42:00`.
    private static func clock(_ text: String) -> WallTime? {
        let parts = text.split(separator: " ")
        guard parts.count == 4, let month = months.firstIndex(where: { parts[0].hasPrefix($0) }) else { return nil }
        return MeterText.wall(year: Int(parts[2]), month: month + 1, day: Int(parts[1]), time: parts[3])
    }
}
