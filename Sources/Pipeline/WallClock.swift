import HealthModel

/// Finds the instants of local times, in the order of their file.
///
/// Most local times have one instant. In a repeated hour, the order of the file may resolve which one is meant. Rows that go forward, step
/// back once and go forward again are the first and the second pass. A counter that clock changes do not affect also resolves it. Times
/// that remain ambiguous are refused, never guessed.
struct WallClock {
    /// Consecutive readings in a repeated hour, kept until the following rows are seen.
    private(set) var pending: [Reading] = []
    private let zone: TimeZoneRules
    /// A range of wall times that certainly has this offset, so that most rows cost two comparisons.
    private var certain: (from: Int64, until: Int64, offset: ZoneOffset)?
    private var last: (wall: Int64, instant: Instant, offset: ZoneOffset, ticks: Int64)?
    private var lastWall: Int64?

    /// The maximum number of waiting readings. A real hour at 20 readings a second has 72,000.
    private static let maximumPending = 200_000
    /// The maximum drift between a counter and a clock from row to row in microseconds, plus a thousandth of the time between the rows.
    private static let drift: Int64 = 60_000_000

    init(zone: TimeZoneRules) { self.zone = zone }

    enum Answer {
        case offset(ZoneOffset)
        /// Resolved by a counter, in a repeated hour.
        case oneOfTwo(ZoneOffset)
        /// Kept in ``pending`` until ``WallClock/resolve(next:)`` resolves it.
        case deferred
        case refused(String)
    }

    /// Whether a wall time belongs to the pending readings. If not, settle them before asking for its offset.
    func continuesPending(_ wall: WallTime) -> Bool {
        guard let first = pending.first, case .wall(let start, _, _) = first.time else { return false }
        return zone.offsets(at: wall).count > 1 && abs(wall.microseconds - start.microseconds) < Calendar.day
            && pending.count < Self.maximumPending
    }

    mutating func answer(for reading: Reading, wall: WallTime, ticks: Int64?) -> Answer {
        let time = wall.microseconds
        if let ticks, let (offset, twice) = resolvedOffset(by: ticks, wall: wall) {
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
                "this local time does not exist in \(zone.identifier), because clocks went forward: use --time-zone with the zone of the file"
            )
        case 1:
            remember(offsets[0], at: wall)
            note(wall: time, offset: offsets[0], ticks: ticks)
            return .offset(offsets[0])
        default:
            // Both are the times that the clock showed, and `wall` is the start without its error.
            if case .wall(let start, let end, _) = reading.time, end < start,
                zone.offsets(at: WallTime(microseconds: time &+ (end.microseconds &- start.microseconds))) == offsets
            {
                // The end shows an earlier wall time than the start, so it began in the first pass and ended in the second.
                if pending.isEmpty { note(wall: time, offset: offsets[0], ticks: ticks) }
                return .oneOfTwo(offsets[0])
            }
            pending.append(reading)
            return .deferred
        }
    }

    /// Adds another reading of the frame that ``answer(for:wall:ticks:)`` kept pending.
    mutating func hold(_ reading: Reading) { pending.append(reading) }

    private mutating func note(wall: Int64, offset: ZoneOffset, ticks: Int64?) {
        lastWall = wall
        if let ticks {
            last = (wall, WallTime(microseconds: wall).instant(at: offset), offset, ticks)
        }
    }

    /// The offset that agrees with the counter, either the current one or one of the zone's, and whether the zone has two.
    private func resolvedOffset(by ticks: Int64, wall: WallTime) -> (offset: ZoneOffset, twice: Bool)? {
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
        // A period without start or end is at the limit of the representable range.
        func shifted(_ instant: Instant, _ offset: ZoneOffset) -> Int64 {
            let shift = Int64(offset.seconds) * 1_000_000
            let (time, overflow) = instant.microseconds.addingReportingOverflow(shift)
            return overflow ? (shift < 0 ? .min : .max) : time
        }
        certain = (shifted(period.from, max(offset, before)), shifted(period.until, min(offset, after)), offset)
    }

    /// Resolves the pending readings.
    ///
    /// - Parameter next: The wall time that follows, if any. It shows the direction of the file.
    /// - Returns: The pending readings, and their offsets, or `nil` if their order does not resolve them.
    mutating func resolve(next: WallTime?) -> (readings: [Reading], offsets: [ZoneOffset]?) {
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
