import HealthModel

/// The protocol for reading the stored records of one kind of meter. Pure: it turns events into commands.
protocol MeterDialogue {
    mutating func handle(_ event: MeterEvent) -> [MeterCommand]
}

enum MeterEvent {
    case opened
    /// A received line, unchanged.
    case line([UInt8])
    /// Nothing arrived within the requested time.
    case silence
}

enum MeterCommand: Equatable {
    case write([UInt8])
    /// Wait this long for the next line.
    case wait(Duration)
    case identified(maker: String, model: String, serial: String, firmware: String?)
    case clock(WallTime)
    /// The complete memory, one line for each record.
    case records([[UInt8]])
    case finished
    /// The meter does not answer, or not correctly. None of its data is accepted.
    case failed(MeterFailure)
}

enum MeterFailure: Error, Equatable {
    /// No meter answers, for example because only its cable is plugged in.
    case silent
    /// The data was damaged each time.
    case damaged(String)

    var text: String {
        switch self {
        case .silent: "no meter answers"
        case .damaged(let text): text
        }
    }
}

/// Helpers that parse meters' answers.
enum MeterText {
    static let maximumAttempts = 3

    /// Returns a line without its line end.
    static func text(_ line: [UInt8]) -> String {
        String(decoding: line.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    static func sum(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 + Int($1) } & 0xFFFF }

    /// Returns a date and time, or nil if it is invalid.
    static func wall(year: Int?, month: Int?, day: Int?, time: Substring) -> WallTime? {
        let parts = time.split(separator: ":").map { Int($0) }
        guard let year, let month, let day, parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            Calendar.isValid(year: year, month: month, day: day), (0..<24).contains(hour), (0..<60).contains(minute),
            (0..<60).contains(second)
        else { return nil }
        let days = Int64(Calendar.days(year: year, month: month, day: day))
        return WallTime(microseconds: (days * 86_400 + Int64(hour * 3600 + minute * 60 + second)) * 1_000_000)
    }
}
