import HealthModel
import Pipeline

/// Everything that a FIT file contains about its activities except the points. Most of it follows the points.
struct FITSummary {
    /// The maximum number of laps and of pauses. It limits memory and is higher than in any real file.
    static let maximumParts = 20_000

    /// A session or a lap. Its figures are texts in the columns of ``ActivityRow/Figures``.
    struct Part {
        /// In FIT seconds, or `nil` if it has no date.
        var start: UInt64?
        var figures: [[UInt8]]
        var sport: [UInt8] = []
        var subSport: [UInt8] = []
        var offset: Int
    }

    private struct Sport: Hashable {
        var word: [UInt8]
        var below: [UInt8]
    }

    /// A stop or a resumption of the timer.
    struct Pause {
        var type: StaticString
        /// In FIT seconds.
        var time: UInt64
        var offset: Int
    }

    private(set) var file: UInt64?
    /// The sessions in the order of their starts. Those without a start come last.
    private(set) var sessions: [Part] = []
    private(set) var laps: [Part] = []
    /// The stops and resumptions of the timer.
    private(set) var pauses: [Pause] = []
    private(set) var skips = FITSkips()
    /// The sports that other messages than sessions contain.
    private var sports: Set<Sport> = []
    private var stopped: Pause?
    private var manufacturer: [UInt8] = []
    private var model: [UInt8] = []
    private var serial: [UInt8] = []
    private var firmware: [UInt8] = []
    private var offset: [UInt8] = []

    /// Whether the file is an activity. If it has no file type, it needs points or sessions.
    var isActivity: Bool {
        file == FITProfile.activityFile || file == nil && (skips.has(FITProfile.Message.record) || !sessions.isEmpty)
    }

    /// - Parameter offset: the offset of the message in the file.
    mutating func add(_ message: FITMessage, at offset: Int) throws(SourceError) {
        skips.add(message)
        switch message.definition.message {
        case FITProfile.Message.fileID where file == nil: identify(message)
        case FITProfile.Message.deviceInfo where message.unsigned(0) == 0:
            if let version = message.unsigned(5) { firmware = Self.decimal(Int64(version), -2) }
            if let name = message.text(27), model.isEmpty { model = name }
        case FITProfile.Message.session:
            sessions.append(Self.part(message, isSession: true, at: offset))
            sessions.sort { ($0.start ?? .max) < ($1.start ?? .max) }
        case FITProfile.Message.lap:
            laps.append(Self.part(message, isSession: false, at: offset))
            note(Self.sport(message, 25, 39))
        case FITProfile.Message.sport: note(Self.sport(message, 0, 1))
        case FITProfile.Message.event where message.unsigned(0) == 0: timer(message, at: offset)
        case FITProfile.Message.activity: place(message)
        default: break
        }
        guard max(sessions.count * 100, laps.count, pauses.count) <= Self.maximumParts else {
            throw SourceError(
                .malformed, "the file has too many sessions, laps or pauses", at: Place(.byte, offset))
        }
    }

    private mutating func note(_ sport: Sport) {
        if !sport.word.isEmpty, sports.count < 2 { sports.insert(sport) }
    }

    private static func sport(_ message: FITMessage, _ sport: UInt8, _ below: UInt8) -> Sport {
        func word(_ field: UInt8, _ names: [UInt64: String]) -> [UInt8] {
            message.unsigned(field).map { Array((names[$0] ?? "\($0)").utf8) } ?? []
        }
        return Sport(word: word(sport, FITProfile.sports), below: word(below, FITProfile.subSports))
    }

    private mutating func identify(_ message: FITMessage) {
        file = message.unsigned(0)
        if let maker = message.unsigned(1) {
            manufacturer = Array((FITProfile.manufacturers[maker] ?? "FIT manufacturer \(maker)").utf8)
        }
        model = message.text(8) ?? message.unsigned(2).map { Array("product \($0)".utf8) } ?? []
        serial = message.unsigned(3).map { Array("\($0)".utf8) } ?? []
    }

    private mutating func timer(_ message: FITMessage, at offset: Int) {
        guard let type = message.unsigned(1), let time = Self.date(message.time) else { return }
        switch type {
        // A stop becomes a pause when the timer resumes.
        case 1, 4, 8, 9: stopped = stopped ?? Pause(type: "pause", time: time, offset: offset)
        case 0:
            if let stopped { pauses += [stopped, Pause(type: "resume", time: time, offset: offset)] }
            stopped = nil
        default: break
        }
    }

    /// Reads the local time next to the time in UTC. Their difference is the zone's offset.
    private mutating func place(_ message: FITMessage) {
        guard let time = Self.date(message.time), let local = Self.date(message.unsigned(5)) else { return }
        let seconds = Int64(local) - Int64(time)
        // Zone offsets are multiples of 15 minutes. Other differences come from a clock that was set by hand.
        guard seconds % 900 == 0, abs(seconds) <= 14 * 3600 else { return }
        offset = Array("\(seconds)".utf8)
    }

    private static func part(_ message: FITMessage, isSession: Bool, at offset: Int) -> Part {
        typealias Column = ActivityRow.Figures
        var figures = [[UInt8]](repeating: [], count: Column.count - 1)
        func set(_ column: Int, _ field: UInt8, _ exponent: Int16 = 0) {
            if let number = message.unsigned(field) { figures[column - 1] = decimal(Int64(clamping: number), exponent) }
        }
        let start = date(message.unsigned(2))
        figures[Column.start - 1] = seconds(start)
        set(Column.elapsed, 7, -3)
        set(Column.timer, 8, -3)
        set(Column.distance, 9, -2)
        set(Column.energy, 11)
        set(Column.averageHeartRate, isSession ? 16 : 15)
        set(Column.maximumHeartRate, isSession ? 17 : 16)
        set(Column.minimumHeartRate, isSession ? 64 : 63)
        figures[Column.end - 1] = seconds(message.time)
        guard isSession else { return Part(start: start, figures: figures, offset: offset) }
        let sport = sport(message, 5, 6)
        return Part(start: start, figures: figures, sport: sport.word, subSport: sport.below, offset: offset)
    }

    /// The session at a time, or the first session if the time is before it.
    func session(at time: UInt64) -> Int {
        max((sessions.firstIndex { ($0.start ?? .max) > time } ?? sessions.count) - 1, 0)
    }

    /// Returns the cells of an activity's row.
    func activity(_ session: Int) -> [[UInt8]] {
        typealias Column = ActivityRow.Activity
        var cells = [[UInt8]](repeating: [], count: Column.count - 1)
        if session < sessions.count {
            cells[Column.sport - 1] = sessions[session].sport
            cells[Column.subSport - 1] = sessions[session].subSport
            cells[Column.start - 1] = sessions[session].figures[ActivityRow.Figures.start - 1]
        } else if sports.count == 1, let only = sports.first {
            // The recording stopped before its session was written.
            cells[Column.sport - 1] = only.word
            cells[Column.subSport - 1] = only.below
        }
        cells[Column.manufacturer - 1] = manufacturer
        cells[Column.model - 1] = model
        cells[Column.serial - 1] = serial
        cells[Column.firmware - 1] = firmware
        cells[Column.offset - 1] = offset
        return cells
    }

    /// Returns the time in FIT seconds, or `nil` if it has no date.
    static func date(_ time: UInt64?) -> UInt64? { time.flatMap { $0 < FITProfile.earliestDate ? nil : $0 } }

    /// Converts a time with a date to microseconds since 1970.
    static func microseconds(_ time: UInt64) -> Int64 {
        (Int64(clamping: time) &+ FITProfile.epoch).multipliedReportingOverflow(by: 1_000_000).partialValue
    }

    /// Seconds since 1970 as text.
    static func seconds(_ time: UInt64?) -> [UInt8] {
        date(time).map { Array("\(Int64(clamping: $0) &+ FITProfile.epoch)".utf8) } ?? []
    }

    static func decimal(_ coefficient: Int64, _ exponent: Int16) -> [UInt8] {
        Array(Numeral(coefficient: coefficient, exponent: exponent).text.utf8)
    }
}
