import HealthModel

/// How one kind of meter is asked for what it has stored. Pure: what happens comes in, what to do comes out.
protocol MeterDialogue {
    mutating func handle(_ event: MeterEvent) -> [MeterCommand]
}

enum MeterEvent {
    case opened
    /// A line, as it came.
    case line([UInt8])
    /// Nothing came within the time that was asked for.
    case silence
}

enum MeterCommand: Equatable {
    case write([UInt8])
    /// Wait so long for the next line.
    case wait(Duration)
    case identified(maker: String, model: String, serial: String, firmware: String?)
    /// What its clock shows.
    case clock(WallTime)
    /// Its memory, whole: each record a line.
    case records([[UInt8]])
    /// It has told everything.
    case finished
    /// It does not answer, or not as it should: nothing of it is to be believed.
    case failed(MeterFailure)
}

enum MeterFailure: Error, Equatable {
    /// Nobody is there; a cable without its meter.
    case silent
    /// What came is damaged, again and again.
    case damaged(String)

    var text: String {
        switch self {
        case .silent: "no meter answers"
        case .damaged(let text): text
        }
    }
}

/// Reads what meters write, by its places.
enum MeterText {
    static let maximumAttempts = 3

    /// A line without its end.
    static func text(_ line: [UInt8]) -> String {
        String(decoding: line.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    static func sum(_ octets: some Sequence<UInt8>) -> Int { octets.reduce(0) { $0 + Int($1) } & 0xFFFF }

    /// A date and time, where there is one.
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
