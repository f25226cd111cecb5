import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Draws statistics over time: sums as bars that start at zero, averages as a line of braille dots.
///
///     stepCount, 1{steps} by 1d
///     10000 ┤      ▅▅
///           │   ▃▃ ██
///      5000 ┤▂▂ ██ ██
///           │██ ██ ██
///         0 ┼─────────
///            2026-11-20
///
/// If there are more intervals than columns, a column shows the mean of its intervals. A column without samples is empty.
struct StatisticsPlot {
    private let question: StatisticsQuestion
    private let frame: StatisticsFrame
    private let isUnicode: Bool
    private let scale: PlotScale
    /// The number of columns for drawing.
    private let width: Int
    private var charts: [Key: [Slot]] = [:]

    private static let height = 10
    /// The maximum width of a bar.
    private static let widest = 8

    private struct Key: Hashable {
        var person: String
        var source: String?
    }

    /// The intervals that share one position on the time axis.
    private struct Slot {
        var sum = 0.0
        var count = 0
        var mean: Double? { count > 0 ? sum / Double(count) : nil }
    }

    init(question: StatisticsQuestion, frame: StatisticsFrame, width: Int, isUnicode: Bool) {
        self.question = question
        self.frame = frame
        self.isUnicode = isUnicode
        let isCumulative = question.query.type.aggregation == .cumulative
        scale = PlotScale(least: isCumulative ? 0 : frame.least, maximum: frame.maximum)
        self.width = max(10, width - scale.labelWidth - 3)
    }

    private var isCumulative: Bool { question.query.type.aggregation == .cumulative }
    private var binCount: Int { frame.indices.map { $0.upperBound - $0.lowerBound + 1 } ?? 1 }
    /// The number of positions. Braille cells have two dots side by side.
    private var slots: Int { min(binCount, isCumulative ? width : 2 * width) }

    mutating func add(_ rows: [Statistics]) {
        guard let indices = frame.indices else { return }
        for row in rows where row.count > 0 {
            let place = question.query.intervals.index(of: row.start) - indices.lowerBound
            let slot = min(slots - 1, max(0, Int(Double(place) * Double(slots) / Double(binCount))))
            let key = Key(person: row.person, source: row.source)
            if charts[key] == nil { charts[key] = [Slot](repeating: Slot(), count: slots) }
            charts[key]?[slot].sum += row.drawn(question.query.type)
            charts[key]?[slot].count += 1
        }
    }

    /// The drawing as text.
    ///
    /// - Parameter label: Formats a time.
    func text(_ label: (Instant, Int) -> String) -> String {
        var text = ""
        for (key, slots) in charts.sorted(by: { ($0.key.person, $0.key.source ?? "") < ($1.key.person, $1.key.source ?? "") }) {
            var heading = "\(question.name), \(Readable.unit(question.line.unit)) by \(question.interval)"
            if charts.count > 1 {
                let person = key.person == question.me ? "me" : key.person
                heading += ": " + [frame.people.count > 1 ? person : nil, key.source].compactMap { $0 }.joined(separator: ", ")
            }
            if !text.isEmpty { text += "\n" }
            text += TerminalText.sanitized(heading) + "\n"
            let drawn = isCumulative ? bars(slots) : dots(slots)
            for (row, cells) in drawn.enumerated() { text += line(scale.label(of: row, among: Self.height), cells) }
            text += axis(label)
        }
        return text
    }

    private func line(_ label: String?, _ cells: [Character]) -> String {
        let padded = String(repeating: " ", count: scale.labelWidth - (label?.count ?? 0)) + (label ?? "")
        var line = padded + " " + (isUnicode ? (label == nil ? "│" : "┤") : "|") + String(cells)
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    private func axis(_ label: (Instant, Int) -> String) -> String {
        let indent = String(repeating: " ", count: scale.labelWidth + 1)
        let rule = String(repeating: isUnicode ? "─" : "-", count: drawnWidth)
        guard let indices = frame.indices else { return "" }
        let first = label(question.query.intervals.start(of: indices.lowerBound), frame.precision)
        let last = label(question.query.intervals.start(of: indices.upperBound), frame.precision)
        var times = first
        if indices.count > 1, first.count + last.count + 2 <= drawnWidth {
            times += String(repeating: " ", count: drawnWidth - first.count - last.count) + last
        } else if indices.count > 1 {
            times += " to \(last)"
        }
        return indent + (isUnicode ? "└" : "+") + rule + "\n" + indent + " " + times + "\n"
    }

    /// The columns of a bar, including the space after it.
    private var pitch: Int { max(1, min(Self.widest, width / slots)) }
    private var drawnWidth: Int { isCumulative ? pitch * slots : min(width, max(1, (slots + 1) / 2 * spread)) }
    /// The distance between points if there are few.
    private var spread: Int { max(1, min(Self.widest, width / max(1, (slots + 1) / 2))) }

    private func bars(_ slots: [Slot]) -> [[Character]] {
        let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        return (0..<Self.height).map { row in
            slots.flatMap { slot -> [Character] in
                // The height above the row's lower edge, in eighths of a row.
                let part = slot.mean.map { scale.part($0) * Double(Self.height) - Double(Self.height - 1 - row) } ?? 0
                let eighths = min(8, max(0, Int((part * 8).rounded())))
                let cell: Character =
                    isUnicode ? (eighths > 0 ? steps[eighths - 1] : " ") : (eighths >= 4 ? "#" : " ")
                let bar = max(1, pitch - (pitch > 2 ? 1 : 0))
                return [Character](repeating: cell, count: bar) + [Character](repeating: " ", count: pitch - bar)
            }
        }
    }

    private func dots(_ slots: [Slot]) -> [[Character]] {
        let columns = drawnWidth
        var dots = [[Bool]](repeating: [Bool](repeating: false, count: 2 * columns), count: 4 * Self.height)
        var before: (x: Int, y: Int)?
        for (index, slot) in slots.enumerated() {
            guard let mean = slot.mean else {
                before = nil
                continue
            }
            let x = slots.count > 1 ? index * (2 * columns - 1) / (slots.count - 1) : 0
            let y = min(4 * Self.height - 1, max(0, Int(((1 - scale.part(mean)) * Double(4 * Self.height - 1)).rounded())))
            dots[y][x] = true
            // Connects this point to the previous one. Gaps are not bridged.
            if let before, x > before.x + 1 || abs(y - before.y) > 1 {
                let count = max(x - before.x, abs(y - before.y))
                for step in 1..<max(2, count) {
                    dots[before.y + (y - before.y) * step / count][before.x + (x - before.x) * step / count] = true
                }
            }
            before = (x, y)
        }
        return (0..<Self.height).map { row in
            (0..<columns).map { column in
                // Unicode's order of the dots: 1 2 3 7 in the left column, 4 5 6 8 in the right one.
                let weights: [[UInt32]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
                var cell: UInt32 = 0
                for y in 0..<4 {
                    for x in 0..<2 where dots[4 * row + y][2 * column + x] { cell |= weights[y][x] }
                }
                if cell == 0 { return " " }
                return isUnicode ? Unicode.Scalar(0x2800 + cell).map(Character.init) ?? "*" : "*"
            }
        }
    }
}

/// The value axis, with a few round numbers.
struct PlotScale {
    let low: Double
    let high: Double
    private let step: Double

    init(least: Double, maximum: Double) {
        // Values that differ only by rounding errors count as equal.
        let size = max(abs(least), abs(maximum))
        let extent = maximum - least > size * 1e-9 ? maximum - least : max(1, size * 0.1)
        var step = 1.0
        while step * 4 < extent { step *= 10 }
        while step > extent / 2 { step /= 10 }
        for factor in [5.0, 2.0] where step * factor * 2 <= extent {
            step *= factor
            break
        }
        self.step = step
        let low = (least / step).rounded(.down) * step
        let high = (maximum / step).rounded(.up) * step
        self.low = low
        self.high = high > low ? high : low + step
    }

    /// The relative position of a value between the ends.
    func part(_ value: Double) -> Double { (value - low) / (high - low) }

    private func text(_ value: Double) -> String { Readable.number((value * 1e6).rounded() / 1e6) }

    var labelWidth: Int { stride(from: low, through: high + step / 2, by: step).map { text($0).count }.max() ?? 1 }

    /// The label at a row's height, if there is one.
    func label(of row: Int, among rows: Int) -> String? {
        for index in 0...Int(((high - low) / step).rounded()) {
            let value = low + Double(index) * step
            if Int(((1 - part(value)) * Double(rows - 1)).rounded()) == row { return text(value) }
        }
        return nil
    }
}
