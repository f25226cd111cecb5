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
    }

    private(set) var file: UInt64?
    /// In the order of their starts; those without one last.
    private(set) var sessions: [Part] = []
    private(set) var laps: [Part] = []
    /// When the timer stopped and went on again, in FIT's seconds.
    private(set) var pauses: [(type: StaticString, time: UInt64)] = []
    private var stopped: UInt64?
    private var manufacturer: [UInt8] = []
    private var model: [UInt8] = []
    private var serial: [UInt8] = []
    private var firmware: [UInt8] = []
    private var offset: [UInt8] = []

    mutating func add(_ message: FITMessage) throws(SourceError) {
        switch message.definition.message {
        case FITProfile.Message.fileID where file == nil: identify(message)
        case FITProfile.Message.deviceInfo where message.unsigned(0) == 0:
            if let version = message.unsigned(5) { firmware = Self.decimal(Int64(version), -2) }
            if let name = message.text(27), model.isEmpty { model = name }
        case FITProfile.Message.session:
            sessions.append(Self.part(message, isSession: true))
            sessions.sort { ($0.start ?? .max) < ($1.start ?? .max) }
        case FITProfile.Message.lap: laps.append(Self.part(message, isSession: false))
        case FITProfile.Message.event where message.unsigned(0) == 0: timer(message)
        case FITProfile.Message.activity: place(message)
        default: break
        }
        guard max(sessions.count * 100, laps.count, pauses.count) <= Self.maximumParts else {
            throw SourceError(.malformed, "the file has more sessions, laps or pauses than any activity")
        }
    }

    private mutating func identify(_ message: FITMessage) {
        file = message.unsigned(0)
        if let maker = message.unsigned(1) {
            manufacturer = Array((FITProfile.manufacturers[maker] ?? "FIT manufacturer \(maker)").utf8)
        }
        model = message.text(8) ?? message.unsigned(2).map { Array("product \($0)".utf8) } ?? []
        serial = message.unsigned(3).map { Array("\($0)".utf8) } ?? []
    }

    private mutating func timer(_ message: FITMessage) {
        guard let type = message.unsigned(1), let time = Self.date(message.time) else { return }
        switch type {
        // Whether it stopped for good is known when it goes on.
        case 1, 4, 8, 9: stopped = stopped ?? time
        case 0:
            if let stopped { pauses += [("pause", stopped), ("resume", time)] }
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

    private static func part(_ message: FITMessage, isSession: Bool) -> Part {
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
        var part = Part(start: start, figures: figures)
        guard isSession else { return part }
        func word(_ field: UInt8, _ names: [UInt64: String]) -> [UInt8] {
            message.unsigned(field).map { Array((names[$0] ?? "\($0)").utf8) } ?? []
        }
        part.sport = word(5, FITProfile.sports)
        part.subSport = word(6, FITProfile.subSports)
        return part
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

    /// Seconds since 1970 as text.
    static func seconds(_ time: UInt64?) -> [UInt8] {
        date(time).map { Array("\(Int64(clamping: $0) &+ FITProfile.epoch)".utf8) } ?? []
    }

    static func decimal(_ coefficient: Int64, _ exponent: Int16) -> [UInt8] {
        Array(Numeral(coefficient: coefficient, exponent: exponent).text.utf8)
    }
}
