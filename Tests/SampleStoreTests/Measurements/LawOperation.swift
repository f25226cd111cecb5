/// The change that a repair makes.
enum LawChange: Hashable {
    case readAsPounds
    /// The number times a half.
    case halve
    /// By this number of seconds.
    case shift(Int)
    case assign(LawPerson)

    func applied(to reading: LawReading) -> LawReading {
        var reading = reading
        switch self {
        case .readAsPounds: reading.value.unit = LawValue.pound
        case .halve: reading.value = reading.value.halved
        case .shift(let seconds): reading.start += seconds
        case .assign(let person): reading.person = person
        }
        return reading
    }
}

/// A repair with its conditions.
struct LawRepair: Hashable {
    var change: LawChange
    var source: String
    /// `nil` for all days.
    var day: Int?
    /// Whether only values above 120 kg are repaired.
    var isOfHeavy: Bool
    /// Whether it may remove readings that another import has reported correctly.
    var merges = true

    func matches(_ reading: LawReading) -> Bool {
        reading.source.source == source && (day.map { $0 == reading.day } ?? true)
            && (!isOfHeavy || reading.value.canonical > 120)
    }
}

/// A step of a sequence. Other steps are named by their ids, which stay the same when a sequence is made shorter.
enum LawOperation: Hashable {
    case ingest([LawReading], exact: Bool)
    case undo(Int, forget: Bool)
    /// Deletes the sample of the measurement that this reading belongs to.
    case delete(LawReading)
    case restore(LawReading)
    case accept(LawReading)
    case reject(LawReading)
    case repair(LawRepair)
    case undoRepair(Int)
    case merge
    /// Removes everything before this day.
    case prune(Int)
    /// Erases Anna.
    case erase
    case reopen
}

struct LawStep: Hashable, CustomStringConvertible {
    var id: Int
    var operation: LawOperation

    var description: String {
        switch operation {
        case .ingest(let readings, let exact):
            "\(id): import\(exact ? " --exact" : "") \(readings.map(\.description).joined(separator: " | "))"
        case .undo(let step, let forget): "\(id): undo \(step)\(forget ? " --forget" : "")"
        case .delete(let reading): "\(id): delete the sample of \(reading)"
        case .restore(let reading): "\(id): restore \(reading)"
        case .accept(let reading): "\(id): accept \(reading)"
        case .reject(let reading): "\(id): reject \(reading)"
        case .repair(let repair):
            "\(id): repair \(repair.change) source \(repair.source)\(repair.day.map { " day \($0)" } ?? "")"
                + "\(repair.isOfHeavy ? " above 120 kg" : "")\(repair.merges ? "" : " without --merge")"
        case .undoRepair(let step): "\(id): undo the repair \(step)"
        case .merge: "\(id): store merge"
        case .prune(let day): "\(id): prune before day \(day)"
        case .erase: "\(id): erase Anna"
        case .reopen: "\(id): reopen"
        }
    }
}

/// Groups of operations and readings that can be switched off.
struct LawFlags: OptionSet {
    var rawValue: Int

    static let undoUndo = LawFlags(rawValue: 1 << 0)
    static let undoAgain = LawFlags(rawValue: 1 << 1)
    static let units = LawFlags(rawValue: 1 << 2)
    static let paths = LawFlags(rawValue: 1 << 3)
    static let noDevice = LawFlags(rawValue: 1 << 4)
    static let records = LawFlags(rawValue: 1 << 5)
    static let conflicts = LawFlags(rawValue: 1 << 6)
    static let quarantine = LawFlags(rawValue: 1 << 7)
    static let exact = LawFlags(rawValue: 1 << 8)
    static let forget = LawFlags(rawValue: 1 << 9)
    static let delete = LawFlags(rawValue: 1 << 10)
    static let restore = LawFlags(rawValue: 1 << 11)
    static let readAs = LawFlags(rawValue: 1 << 12)
    static let shift = LawFlags(rawValue: 1 << 13)
    static let halve = LawFlags(rawValue: 1 << 14)
    static let assign = LawFlags(rawValue: 1 << 15)
    static let undoRepair = LawFlags(rawValue: 1 << 16)
    static let withoutMerge = LawFlags(rawValue: 1 << 17)
    static let merge = LawFlags(rawValue: 1 << 18)
    static let prune = LawFlags(rawValue: 1 << 19)
    static let erase = LawFlags(rawValue: 1 << 20)
    static let reopen = LawFlags(rawValue: 1 << 21)
    static let guests = LawFlags(rawValue: 1 << 22)
    static let undoForget = LawFlags(rawValue: 1 << 23)
    /// Less precise reports also arrive before more precise ones.
    static let anyOrder = LawFlags(rawValue: 1 << 24)

    static let named: [(name: String, flag: LawFlags)] = [
        ("undoUndo", undoUndo), ("undoAgain", undoAgain), ("units", units), ("paths", paths), ("noDevice", noDevice),
        ("records", records), ("conflicts", conflicts), ("quarantine", quarantine), ("exact", exact), ("forget", forget),
        ("delete", delete), ("restore", restore), ("readAs", readAs), ("shift", shift), ("halve", halve), ("assign", assign),
        ("undoRepair", undoRepair), ("withoutMerge", withoutMerge), ("merge", merge), ("prune", prune), ("erase", erase),
        ("reopen", reopen), ("guests", guests), ("undoForget", undoForget), ("anyOrder", anyOrder),
    ]

    static let all = LawFlags(named.map(\.flag))
}
