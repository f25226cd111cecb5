import CommandLineKit
import HealthAnswers
import HealthModel

/// A night as a bar chart with one bar per stage. Each column shows the share of its time in that stage.
///
///     2026-11-20 23:12 to 06:48 +01:00, asleep 6 h 42 min (Watch)
///       awake  ▂      ▁     ▇▁          24 min
///       REM         ▄█▇        ▅██▂  1 h 40 min
struct Hypnogram {
    let night: Night
    let zone: ZoneOffset
    let width: Int
    let isUnicode: Bool

    private static let label = 7
    private static let total = 12
    private static let minute: Int64 = 60_000_000

    /// The lines of the drawing.
    ///
    /// - Parameter person: The person's name, if it has to be shown.
    func lines(person: String? = nil) -> [String] {
        let (stages, inBed) = night.intervals()
        var rows = Night.Stage.allCases.compactMap { stage in stages[stage].map { (stage.name, $0) } }
        if !inBed.isEmpty { rows.append(("in bed", inBed)) }
        let asleep = stages.filter { $0.key != .awake }.values.reduce(0) { $0 + Self.length($1) }
        var heading = span + ", "
        heading += asleep > 0 || inBed.isEmpty ? "asleep \(Self.words(asleep))" : "in bed \(Self.words(Self.length(inBed)))"
        heading += " (\(night.sources.joined(separator: ", ")))"
        if let person { heading = "\(person): \(heading)" }
        var lines = [TerminalText.sanitized(heading)]
        for (name, intervals) in rows {
            let gap = String(repeating: " ", count: max(0, Self.label - name.count))
            let words = Self.words(Self.length(intervals))
            let before = String(repeating: " ", count: max(1, Self.total - words.count))
            lines.append("  \(name)\(gap)\(bar(intervals))\(before)\(words)")
        }
        lines.append("  " + String(repeating: " ", count: Self.label) + axis)
        return lines
    }

    private var columns: Int { max(8, width - 2 - Self.label - Self.total) }

    /// The interval: `2026-11-20 23:12 to 06:48 +01:00`
    private var span: String {
        let start = Readable.local(Instant(microseconds: night.start), at: zone)
        let end = Readable.local(Instant(microseconds: night.end), at: zone)
        return "\(start.prefix(16)) to \(end.dropFirst(11).prefix(5)) \(zone)"
    }

    private static func length(_ intervals: [Night.Interval]) -> Int64 { intervals.reduce(0) { $0 + ($1.end - $1.start) } }

    /// A duration: `6 h 42 min`
    static func words(_ microseconds: Int64) -> String {
        let minutes = (microseconds + minute / 2) / minute
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60 < 10 ? "0" : "")\(minutes % 60) min"
    }

    /// The filled part of each column's time in eighths. Even a very short stage is visible.
    private func bar(_ intervals: [Night.Interval]) -> String {
        var filled = [Double](repeating: 0, count: columns)
        let extent = Double(max(1, night.end &- night.start))
        for interval in intervals {
            let first = Double(interval.start &- night.start) / extent * Double(columns)
            let last = Double(interval.end &- night.start) / extent * Double(columns)
            var column = Int(first)
            while column < columns, Double(column) < last {
                filled[column] += min(last, Double(column + 1)) - max(first, Double(column))
                column += 1
            }
        }
        let steps: [Character] = isUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["-", "-", "-", "=", "=", "=", "#", "#"]
        let bar = filled.map { part in part <= 0 ? " " : steps[min(7, max(0, Int((part * 8).rounded()) - 1))] }
        return String(bar)
    }

    /// The full hours below their columns.
    private var axis: String {
        var text = [Character](repeating: " ", count: columns)
        let hour: Int64 = 3_600_000_000
        let local = night.start &+ Int64(zone.seconds) * 1_000_000
        let extent = max(1, night.end &- night.start)
        let hours = max(1, extent / hour)
        // The smallest step whose labels are at least four columns apart.
        let steps: [Int64] = [1, 2, 3, 6, 12, 24]
        let step = steps.first { Int64(columns) * $0 / hours >= 4 } ?? 24
        var mark = (local / hour + 1) * hour
        while mark < local &+ extent {
            let number = ((mark / hour) % 24 + 24) % 24
            let column = Int(Double(mark &- local) / Double(extent) * Double(columns))
            if number % step == 0, column + 2 <= columns {
                let digits = Array(number < 10 ? "0\(number)" : "\(number)")
                text[column] = digits[0]
                text[column + 1] = digits[1]
            }
            mark += hour
            if mark &- local > 400 * hour { break }
        }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
