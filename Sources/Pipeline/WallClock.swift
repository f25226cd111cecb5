import HealthModel

/// Finds the instants of local times, in the order of their file.
///
/// Most local times name one instant. In the hour that occurs twice the file's own order may settle which is meant: rows that go
/// forward, step back once and go forward again are the first pass and the second. A counter that no change of clocks touches settles
/// it too. What is not settled is refused, never guessed.
struct WallClock {
    /// A stretch of readings in an hour that occurs twice, held back until the rows behind it are seen.
    private(set) var pending: [Reading] = []
    private let zone: TimeZoneRules
    /// The wall times that surely have this offset, so that most rows cost two comparisons.
    private var certain: (from: Int64, until: Int64, offset: ZoneOffset)?
    private var last: (wall: Int64, instant: Instant, offset: ZoneOffset, ticks: Int64)?
    private var lastWall: Int64?

    /// Readings held back at most; a real hour at 20 readings a second is 72,000.
    private static let maximumPending = 200_000
    /// How far a counter and a clock may drift apart between two rows, besides a thousandth of the time between them.
    private static let drift: Int64 = 60_000_000

    init(zone: TimeZoneRules) { self.zone = zone }

    enum Answer {
        case offset(ZoneOffset)
        /// Settled by a counter, in an hour that occurs twice.
        case oneOfTwo(ZoneOffset)
        /// Held back in ``pending``; ``WallClock/settle(next:)`` will tell.
        case held
        case refused(String)
    }

    /// Whether a wall time belongs to the held-back stretch, so that it has to be settled before this one is asked for.
    func continuesPending(_ wall: WallTime) -> Bool {
        guard let first = pending.first, case .wall(let start, _, _) = first.time else { return false }
        return zone.offsets(at: wall).count > 1 && abs(wall.microseconds - start.microseconds) < Calendar.day
            && pending.count < Self.maximumPending
    }

    mutating func answer(for reading: Reading, wall: WallTime, ticks: Int64?) -> Answer {
        let time = wall.microseconds
        if let ticks, let (offset, twice) = settled(by: ticks, wall: wall) {
            note(wall: time, offset: offset, ticks: ticks)
            return twice ? .oneOfTwo(offset) : .offset(offset)
        }
        if let certain, time >= certain.from, time < certain.until {
            note(wall: time, offset: certain.offset, ticks: ticks)
            return .offset(certain.offset)
        }
        let offsets = zone.offsets(at: wall)
        switch offsets.count {
        case 0:
            return .refused(
                "this local time does not exist in \(zone.identifier): clocks went forward over it; --time-zone names the zone of the file"
            )
        case 1:
            remember(offsets[0], at: wall)
            note(wall: time, offset: offsets[0], ticks: ticks)
            return .offset(offsets[0])
        default:
            if case .wall(_, let end, _) = reading.time, end < wall, zone.offsets(at: end) == offsets {
                // It ends by a clock that shows less than at its start: it began in the first pass and ended in the second.
                if pending.isEmpty { note(wall: time, offset: offsets[0], ticks: ticks) }
                return .oneOfTwo(offsets[0])
            }
            pending.append(reading)
            return .held
        }
    }

    /// Holds back another reading of the frame that ``answer(for:wall:ticks:)`` held back.
    mutating func hold(_ reading: Reading) { pending.append(reading) }

    private mutating func note(wall: Int64, offset: ZoneOffset, ticks: Int64?) {
        lastWall = wall
        if let ticks {
            last = (wall, WallTime(microseconds: wall).instant(at: offset), offset, ticks)
        }
    }

    /// The offset that agrees with the counter: the one in force so far, or one of the zone's; and whether the zone has two.
    private func settled(by ticks: Int64, wall: WallTime) -> (offset: ZoneOffset, twice: Bool)? {
        guard let last else { return nil }
        let elapsed = (ticks &- last.ticks).multipliedReportingOverflow(by: 1_000_000)
        guard !elapsed.overflow else { return nil }
        let expected = last.instant.microseconds &+ elapsed.partialValue
        let tolerance = Self.drift + Int64(elapsed.partialValue.magnitude / 1000)
        let offsets = zone.offsets(at: wall)
        for offset in [last.offset] + offsets {
            let difference = wall.instant(at: offset).microseconds &- expected
            if difference.magnitude <= UInt64(tolerance) { return (offset, offsets.count > 1) }
        }
        return nil
    }

    private mutating func remember(_ offset: ZoneOffset, at wall: WallTime) {
        let period = zone.period(at: wall.instant(at: offset))
        let before =
            period.from.microseconds == .min ? offset : zone.offset(at: Instant(microseconds: period.from.microseconds - 1))
        let after = period.until.microseconds == .max ? offset : zone.offset(at: period.until)
        // A period without beginning or end lies at the edge of what can be counted.
        func shifted(_ instant: Instant, _ offset: ZoneOffset) -> Int64 {
            let shift = Int64(offset.seconds) * 1_000_000
            let (time, overflow) = instant.microseconds.addingReportingOverflow(shift)
            return overflow ? (shift < 0 ? .min : .max) : time
        }
        certain = (shifted(period.from, max(offset, before)), shifted(period.until, min(offset, after)), offset)
    }

    /// Settles the held-back stretch.
    ///
    /// - Parameter next: the wall time behind it, where there is one: it tells in which direction the file goes.
    /// - Returns: the readings with their offsets, or none where their order does not settle it, and the stretch itself.
    mutating func settle(next: WallTime?) -> (readings: [Reading], offsets: [ZoneOffset]?) {
        defer { pending.removeAll() }
        let walls = pending.map { reading -> Int64 in
            if case .wall(let start, _, _) = reading.time { start.microseconds } else { 0 }
        }
        guard let first = walls.first, let end = walls.last else { return ([], nil) }
        let offsets = zone.offsets(at: WallTime(microseconds: first))
        guard offsets.count == 2 else { return (pending, nil) }
        var rises = 0
        var falls = 0
        var step = 0
        var lastFall = 0
        var lastRise = 0
        for index in walls.indices.dropFirst() where walls[index] != walls[index - 1] {
            step = index
            if walls[index] > walls[index - 1] {
                rises += 1
                lastRise = step
            } else {
                falls += 1
                lastFall = step
            }
        }
        let ascending: Bool? =
            if let lastWall, lastWall != first {
                lastWall < first
            } else if let next, next.microseconds != end {
                next.microseconds > end
            } else if rises > 1 || falls > 1 {
                rises > falls
            } else {
                nil
            }
        lastWall = end
        guard let ascending, ascending ? falls == 1 : rises == 1 else { return (pending, nil) }
        let split = ascending ? lastFall : lastRise
        let early = ascending ? offsets[0] : offsets[1]
        let late = ascending ? offsets[1] : offsets[0]
        return (pending, walls.indices.map { $0 < split ? early : late })
    }
}
