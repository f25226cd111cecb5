import HealthModel
import Pipeline

/// What a FIT file says of its activities beside their points: it mostly stands behind them.
struct FITSummary {
    /// More than any file has; what has more is made to fill the memory.
    static let maximumParts = 20_000

    /// A session or a lap, its figures as texts by the columns of ``ActivityRow/Figures``.
    struct Part {
        /// In FIT's seconds; `nil` where it has no date.
        var start: UInt64?
        var figures: [[UInt8]]
        var sport: [UInt8] = []
        var subSport: [UInt8] = []
        /// Of its message.
        var offset: Int
    }

    /// A sport by its two words.
    private struct Sport: Hashable {
        var word: [UInt8]
        var below: [UInt8]
    }

    /// When the timer stopped or went on.
    struct Pause {
        var type: StaticString
        /// In FIT's seconds.
        var time: UInt64
        /// Of its message.
        var offset: Int
    }

    private(set) var file: UInt64?
    /// In the order of their starts; those without one last.
    private(set) var sessions: [Part] = []
    private(set) var laps: [Part] = []
    /// When the timer stopped and went on again.
    private(set) var pauses: [Pause] = []
    private(set) var skips = FITSkips()
    /// What messages beside the sessions say is done.
    private var sports: Set<Sport> = []
    private var stopped: Pause?
    private var manufacturer: [UInt8] = []
    private var model: [UInt8] = []
    private var serial: [UInt8] = []
    private var firmware: [UInt8] = []
    private var offset: [UInt8] = []

    /// Whether it holds what was done: it says so, or it does not say what it is and has points or sessions.
    var isActivity: Bool {
        file == FITProfile.activityFile || file == nil && (skips.has(FITProfile.Message.record) || !sessions.isEmpty)
    }

    /// - Parameter offset: of the message in the file.
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
                .malformed, "the file has more sessions, laps or pauses than any activity", at: Place(.byte, offset))
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
        // Whether it stopped for good is known when it goes on.
        case 1, 4, 8, 9: stopped = stopped ?? Pause(type: "pause", time: time, offset: offset)
        case 0:
            if let stopped { pauses += [stopped, Pause(type: "resume", time: time, offset: offset)] }
            stopped = nil
        default: break
        }
    }

    /// The clock on the wall beside the time: their difference is the zone's.
    private mutating func place(_ message: FITMessage) {
        guard let time = Self.date(message.time), let local = Self.date(message.unsigned(5)) else { return }
        let seconds = Int64(local) - Int64(time)
        // No zone is anything else; what is, was set by hand.
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

    /// Which session a time belongs to; the first where there is none before it.
    func session(at time: UInt64) -> Int {
        max((sessions.firstIndex { ($0.start ?? .max) > time } ?? sessions.count) - 1, 0)
    }

    /// The cells of an activity's row.
    func activity(_ session: Int) -> [[UInt8]] {
        typealias Column = ActivityRow.Activity
        var cells = [[UInt8]](repeating: [], count: Column.count - 1)
        if session < sessions.count {
            cells[Column.sport - 1] = sessions[session].sport
            cells[Column.subSport - 1] = sessions[session].subSport
            cells[Column.start - 1] = sessions[session].figures[ActivityRow.Figures.start - 1]
        } else if sports.count == 1, let only = sports.first {
            // The recording broke off before its session was written.
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

    /// A time with a date, in FIT's seconds.
    static func date(_ time: UInt64?) -> UInt64? { time.flatMap { $0 < FITProfile.earliestDate ? nil : $0 } }

    /// Microseconds since 1970 of a time with a date.
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
