import PipelineTesting

/// Makes sequences of operations on few sources, times and values, so that most of them collide.
struct LawGenerator {
    private var random: SeededGenerator
    private let flags: LawFlags
    private var pool: [[LawReading]] = []
    private var steps: [LawStep] = []
    private var files: [[LawReading]] = []
    private var marks: (entries: [Int], repairs: [Int], ingested: [LawReading]) = ([], [], [])

    init(seed: UInt64, flags: LawFlags) {
        random = SeededGenerator(seed: seed)
        self.flags = flags
    }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func isOne(in count: Int) -> Bool { below(count) == 0 }
    private mutating func choose<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A source reports at most five readings a day, so that none is a continuous one.
    private mutating func makePool() {
        var values = LawValue.all.filter { !$0.isImplausible }
        if !flags.contains(.units) { values.removeAll { $0.unit == LawValue.pound } }
        // Some sequences have one weight only, so that more readings are the same.
        if isOne(in: 2) { values = values.filter { abs($0.canonical - 80.15) < 0.01 || $0.numeral == "176.7" } }
        if flags.contains(.quarantine) {
            values += LawValue.all.filter { $0.isImplausible && flags.contains(.units) || $0.unit == "kg" }
        }
        let days = isOne(in: 2) ? 1 : 2
        for series in LawSeries.all.indices {
            let source = LawSeries.all[series]
            if !flags.contains(.paths), series > 0 { break }
            if source.maker == nil, !flags.contains(.noDevice) { continue }
            var cells: [LawReading] = []
            for day in 0..<days {
                for _ in 0..<(1 + below(3)) {
                    let minute = below(2)
                    let second = source.isToMinutes ? 0 : choose([10, 40])
                    var reading = LawReading(
                        series: series, person: .me, start: day * 86_400 + 23_460 + minute * 60 + second, value: choose(values))
                    if flags.contains(.records), isOne(in: 3) {
                        reading.record = choose(["r1", "r2"])
                        reading.version = 1 + below(3)
                    }
                    if flags.contains(.guests), isOne(in: 4) { reading.person = choose([.anna, .unassigned]) }
                    let isConflict = cells.contains {
                        $0.record != nil && $0.record == reading.record && $0.version == reading.version
                            && $0.person == reading.person
                    }
                    if isConflict && !flags.contains(.conflicts) { continue }
                    if !cells.contains(reading) { cells.append(reading) }
                }
            }
            pool.append(cells)
        }
    }

    private mutating func makeFile() -> [LawReading] {
        if !files.isEmpty, isOne(in: 4) { return choose(files) }
        var cells = choose(pool)
        if !flags.contains(.anyOrder) {
            let ingested = marks.ingested
            cells = cells.filter { cell in
                !ingested.contains { LawModel.relation($0, cell) != .none && Self.precision($0) > Self.precision(cell) }
            }
        }
        if cells.isEmpty { return choose(files.isEmpty ? pool : files) }
        var file: [LawReading] = []
        for _ in 0..<(1 + below(2)) {
            let reading = choose(cells)
            let isTwice = file.contains { $0 == reading || $0.record != nil && $0.record == reading.record }
            if !isTwice { file.append(reading) }
        }
        return file
    }

    private static func precision(_ reading: LawReading) -> Double {
        (reading.source.isToMinutes ? 1000 : 0) + reading.value.step
    }

    private mutating func makeRepair() -> LawRepair? {
        var changes: [LawChange] = []
        if flags.contains(.readAs) { changes += [.readAsPounds, .readAsPounds] }
        if flags.contains(.shift) { changes += [.shift(60), .shift(-60), .shift(86_400)] }
        if flags.contains(.halve) { changes.append(.halve) }
        if flags.contains(.assign) { changes += [.assign(.anna), .assign(.me)] }
        guard !changes.isEmpty else { return nil }
        let change = choose(changes)
        let ingested = choose(marks.ingested)
        return LawRepair(
            change: change, source: ingested.source.source, day: isOne(in: 2) ? ingested.day : nil,
            isOfHeavy: change == .readAsPounds && isOne(in: 2), merges: !(flags.contains(.withoutMerge) && isOne(in: 3)))
    }

    mutating func make() -> [LawStep] {
        makePool()
        let count = 3 + below(8)
        while steps.count < count {
            let id = steps.count + 1
            guard let operation = makeOperation() else { continue }
            steps.append(LawStep(id: id, operation: operation))
            switch operation {
            case .ingest(let file, _):
                files.append(file)
                marks.ingested += file
                marks.entries.append(id)
            case .repair: marks.repairs.append(id)
            case .undoRepair, .reopen: break
            default: marks.entries.append(id)
            }
        }
        return steps
    }

    private mutating func makeOperation() -> LawOperation? {
        if marks.ingested.isEmpty { return .ingest(makeFile(), exact: flags.contains(.exact) && isOne(in: 4)) }
        switch below(20) {
        case 0..<7: return .ingest(makeFile(), exact: flags.contains(.exact) && isOne(in: 4))
        case 7..<11:
            let entry = choose(marks.entries)
            let isImport = steps.contains { step in
                guard step.id == entry, case .ingest = step.operation else { return false }
                return true
            }
            if !isImport, !flags.contains(.undoUndo) { return nil }
            let wasUndone = steps.contains { step in
                guard case .undo(entry, _) = step.operation else { return false }
                return true
            }
            if wasUndone, !flags.contains(.undoAgain) { return nil }
            let isOfForget = steps.contains { step in
                guard case .undo(_, true) = step.operation else { return false }
                return step.id == entry
            }
            if isOfForget, !flags.contains(.undoForget) { return nil }
            return .undo(entry, forget: isImport && flags.contains(.forget) && isOne(in: 4))
        case 11: return flags.contains(.delete) ? .delete(choose(marks.ingested)) : nil
        case 12: return flags.contains(.restore) ? .restore(choose(marks.ingested)) : nil
        case 13, 14:
            let quarantined = marks.ingested.filter { $0.value.isImplausible || $0.record != nil }
            guard !quarantined.isEmpty, flags.contains(.quarantine) || flags.contains(.conflicts) else { return nil }
            return isOne(in: 3) ? .reject(choose(quarantined)) : .accept(choose(quarantined))
        case 15, 16: return makeRepair().map { .repair($0) }
        case 17:
            guard flags.contains(.undoRepair), !marks.repairs.isEmpty else { return nil }
            return .undoRepair(choose(marks.repairs))
        case 18: return flags.contains(.merge) && isOne(in: 2) ? .merge : flags.contains(.reopen) && isOne(in: 4) ? .reopen : nil
        default:
            if flags.contains(.prune), isOne(in: 4) { return .prune(1) }
            return flags.contains(.erase) && isOne(in: 4) ? .erase : nil
        }
    }
}
