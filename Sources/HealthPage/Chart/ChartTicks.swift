import HealthAnswers
import HealthModel

/// The calendar ticks of a chart's interval in a time zone. They follow the wall clock even when it is set forward or back.
struct ChartTicks {
    private let frame: ChartFrame
    private let zone: TimeZoneRules
    private let texts: PageTexts
    private static let day: Int64 = 86_400_000_000

    init(_ frame: ChartFrame, zone: TimeZoneRules, texts: PageTexts) {
        (self.frame, self.zone, self.texts) = (frame, zone, texts)
    }

    /// The ticks, with times in milliseconds since 1970.
    var all: [(at: Int64, text: String)] {
        let maximum = max(2, Int64(frame.width) / 70)
        let minutes: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720]
        if let step = minutes.first(where: { frame.span / ($0 * 60_000) <= maximum }) { return clock(every: step * 60_000_000) }
        let intervals: [(Int64, CalendarInterval?)] = [
            (1, .day), (2, CalendarInterval("2d")), (7, CalendarInterval("1w")), (14, CalendarInterval("2w")),
            (31, CalendarInterval("1mo")), (92, CalendarInterval("3mo")), (184, CalendarInterval("6mo")),
            (366, CalendarInterval("1y")),
            (1830, CalendarInterval("5y")),
        ]
        let chosen = intervals.first { frame.span / ($0.0 * 86_400_000) <= maximum }?.1 ?? CalendarInterval("20y")
        return chosen.map(calendar) ?? []
    }

    /// Ticks at times of day. A time that the clock skips has no tick, and a repeated time has two.
    private func clock(every step: Int64) -> [(at: Int64, text: String)] {
        var ticks: [(at: Int64, text: String)] = []
        let first = frame.start.wallTime(at: zone.offset(at: frame.start)).microseconds - Self.day / 8
        let last = frame.end.wallTime(at: zone.offset(at: frame.end)).microseconds + Self.day / 8
        // Midnight is a multiple of every step.
        var wall = WallTime(microseconds: first - ((first % step) + step) % step)
        while wall.microseconds <= last {
            for offset in zone.offsets(at: wall) {
                let instant = wall.instant(at: offset)
                guard instant >= frame.start, instant <= frame.end else { continue }
                let isMidnight = ((wall.microseconds % Self.day) + Self.day) % Self.day == 0
                ticks.append((instant.microseconds / 1000, isMidnight ? date(wall) : time(wall)))
            }
            wall.microseconds += step
        }
        return ticks.sorted { $0.at < $1.at }
    }

    private func calendar(_ interval: CalendarInterval) -> [(at: Int64, text: String)] {
        let intervals = CalendarIntervals(interval, zone: zone)
        var ticks: [(at: Int64, text: String)] = []
        for index in intervals.index(of: frame.start)...intervals.index(of: frame.end) {
            let start = intervals.start(of: index)
            guard start >= frame.start else { continue }
            let wall = start.wallTime(at: zone.offset(at: start))
            switch interval.unit {
            case .year: ticks.append((start.microseconds / 1000, String(wall.description.prefix(4))))
            case .month: ticks.append((start.microseconds / 1000, month(wall)))
            default: ticks.append((start.microseconds / 1000, date(wall)))
            }
        }
        return ticks
    }

    private func time(_ wall: WallTime) -> String { String(wall.description.dropFirst(11).prefix(5)) }

    private func month(_ wall: WallTime) -> String {
        let parts = wall.description.prefix(10).split(separator: "-")
        let name = texts("month.\(Int(parts[1]) ?? 1)")
        return parts[1] == "01" ? "\(parts[0])" : name
    }

    private func date(_ wall: WallTime) -> String {
        let parts = wall.description.prefix(10).split(separator: "-")
        guard parts.count == 3 else { return wall.description }
        return texts("time.day", "\(Int(parts[2]) ?? 1)", texts("month.\(Int(parts[1]) ?? 1)"))
    }
}
