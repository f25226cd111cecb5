import HealthAnswers
import HealthModel

/// The drawing of a report's chart, without scripts and for print: a line of averages with a band from the lowest to the highest
/// value, or bars of sums.
struct ReportPlot {
    /// A point in the unit of the page, with times in milliseconds since 1970.
    struct Point {
        var (start, end): (Int64, Int64)
        var (low, high, middle): (Double, Double, Double)
    }

    let label: String
    let frame: ChartFrame
    /// The charts of one type, or of the two pressures, in the unit of the page.
    let charts: [(points: [Point], isSum: Bool, gap: Int64)]
    let ticks: [(at: Int64, text: String)]

    private static let (width, height, left, right, top, bottom) = (720.0, 200.0, 56.0, 8.0, 8.0, 24.0)

    /// The levels 1, 2, or 5 times a power of ten between two values, at least three.
    private static func levels(_ low: Double, _ high: Double) -> [Double] {
        guard (high - low).isFinite, high > low else { return [] }
        var step = 1.0
        while step * 3 > high - low { step /= 10 }
        while step * 30 <= high - low { step *= 10 }
        step = [5.0, 2, 1].map { $0 * step }.first { (high - low) / $0 >= 3 } ?? step
        let first = (low / step).rounded(.up)
        return (0..<20).map { (first + Double($0)) * step }.filter { $0 <= high }
    }

    var html: HTML {
        let points = charts.flatMap(\.points)
        guard let lowest = points.map(\.low).min(), let highest = points.map(\.high).max(), lowest.isFinite, highest.isFinite
        else {
            return ""
        }
        let isSum = charts.contains { $0.isSum }
        let margin = highest > lowest ? (highest - lowest) * 0.05 : max(abs(highest) * 0.05, 0.5)
        let (low, high) = (isSum ? min(0, lowest) : lowest - margin, highest + margin)
        func x(_ time: Int64) -> Int {
            let share = Double(time - frame.from) / Double(max(frame.span, 1))
            return Coordinate.pixels(Self.left + min(max(share, 0), 1) * (Self.width - Self.left - Self.right))
        }
        func y(_ value: Double) -> Int {
            Coordinate.pixels(Self.top + (1 - (value - low) / (high - low)) * (Self.height - Self.top - Self.bottom))
        }
        let grid: [HTML] = Self.levels(low, high).map { level in
            """
            <line class="grid" x1="\(x(frame.from))" x2="\(x(frame.to))" y1="\(y(level))" y2="\(y(level))"/>\
            <text x="\(Coordinate.pixels(Self.left) - 4)" y="\(y(level) + 4)" text-anchor="end">\(PageValues.text(level))</text>
            """
        }
        let marks: [HTML] = ticks.map { tick in
            "<text x=\"\(x(tick.at))\" y=\"\(Coordinate.pixels(Self.height) - 6)\" text-anchor=\"middle\">\(tick.text)</text>"
        }
        let drawn: [HTML] = charts.enumerated().map { index, chart in
            let content: [HTML] =
                chart.isSum
                ? chart.points.map { point in
                    let (from, to) = (x(point.start), x(point.end))
                    return
                        "<rect class=\"bars\" x=\"\(from)\" y=\"\(y(point.middle))\" width=\"\(max(1, to - from - 1))\" height=\"\(max(0, y(0) - y(point.middle)))\"/>"
                }
                : Self.parts(chart.points, gap: chart.gap).map { part in
                    let middle = part.map { "\(x(($0.start + $0.end) / 2)),\(y($0.middle))" }
                    let edge =
                        part.map { "\(x(($0.start + $0.end) / 2)),\(y($0.high))" }
                        + part.reversed().map { "\(x(($0.start + $0.end) / 2)),\(y($0.low))" }
                    // A single point is drawn as a dot by its round line caps.
                    let line = middle.count == 1 ? middle + middle : middle
                    return """
                        <polygon class="band" points="\(edge.joined(separator: " "))"/><polyline class="\(middle.count == 1 ? "dots" : "line")" points="\(line.joined(separator: " "))"/>
                        """
                }
            return "<g class=\"lane again\(index)\">\(content)</g>"
        }
        return """
            <div class="plot still"><svg viewBox="0 0 \(Coordinate.pixels(Self.width)) \(Coordinate.pixels(Self.height))" role="img" aria-label="\(label)">\(grid)\(marks)\(drawn)</svg></div>
            """
    }

    private static func parts(_ points: [Point], gap: Int64) -> [[Point]] {
        var parts: [[Point]] = []
        for point in points {
            if let last = parts.last?.last, point.start - last.end <= gap {
                parts[parts.count - 1].append(point)
            } else {
                parts.append([point])
            }
        }
        return parts
    }
}

extension ReportPlot {
    /// A chart of a report in the unit of the page.
    ///
    /// - Parameter isUnfinished: Whether the last point is a day that is not over, which a line leaves out.
    static func part(
        _ chart: Chart, _ conversion: UnitConversion, isUnfinished: Bool
    ) -> (points: [Point], isSum: Bool, gap: Int64) {
        let points = chart.points.dropLast(isUnfinished ? 1 : 0).map { point in
            Point(
                start: point.start, end: point.end, low: conversion(point.low), high: conversion(point.high),
                middle: conversion(point.middle))
        }
        return (points: points, isSum: chart.isSum, gap: chart.gap)
    }
}
