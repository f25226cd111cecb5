/// A drawing of lines with labelled axes, for pages of single objects. Without scripts it is the same.
struct LinePlot {
    /// A line through points.
    struct Line {
        var points: [(x: Double, y: Double)]
        /// The number of its color.
        var color = 0
        /// Whether each point has a dot.
        var hasDots = false
    }

    /// The text alternative.
    let label: String
    var lines: [Line]
    /// The labelled places of the x axis.
    var ticks: [(x: Double, text: String)]
    /// A range that is drawn behind the lines, such as a reference range. A bound may be missing.
    var band: (low: Double?, high: Double?)?
    /// Whether the y axis points down.
    var isReversed = false
    /// The units of the axes, which are written at their ends.
    var units = (x: "", y: "")
    /// Writes a level of the y axis.
    var text: (Double) -> String = { PageValues.text($0) }

    private static let (width, height, left, right, top, bottom) = (360.0, 180.0, 44.0, 10.0, 20.0, 24.0)

    /// The levels 1, 2, or 5 times a power of ten that divide a range into at least three parts where possible.
    static func levels(_ low: Double, _ high: Double) -> [Double] {
        guard low.isFinite, high.isFinite, high > low else { return [] }
        let power = Decade.below((high - low) / 3)
        let step = [5.0, 2, 1].lazy.map { $0 * power }.first { (high - low) / $0 >= 3 } ?? power
        var (levels, level) = ([Double](), (low / step).rounded(.up) * step)
        while level <= high + step * 1e-9, levels.count < 20 {
            levels.append(level == 0 ? 0 : level)
            level += step
        }
        return levels
    }

    var html: HTML {
        let all = lines.flatMap(\.points)
        let ends = all.map(\.y) + [band?.low, band?.high].compactMap { $0 }
        guard let first = all.map(\.x).min(), let last = all.map(\.x).max(), var low = ends.min(), var high = ends.max() else {
            return ""
        }
        if high - low < abs(high) * 1e-6 + 1e-9 { (low, high) = (low - 1, high + 1) }
        let pad = (high - low) * 0.06
        (low, high) = (low - pad, high + pad)
        let span = last > first ? last - first : 1
        func x(_ value: Double) -> Double {
            Self.left + (value - first) / span * (Self.width - Self.left - Self.right)
        }
        func y(_ value: Double) -> Double {
            let share = (min(max(value, low), high) - low) / (high - low)
            return Self.top + (isReversed ? share : 1 - share) * (Self.height - Self.top - Self.bottom)
        }
        let levels: [HTML] = Self.levels(low, high).map { level in
            """
            <line class="grid" x1="\(Coordinate.tenths(Self.left))" x2="\(Coordinate.tenths(Self.width - Self.right))" \
            y1="\(Coordinate.tenths(y(level)))" y2="\(Coordinate.tenths(y(level)))"/>\
            <text x="\(Coordinate.tenths(Self.left - 4))" y="\(Coordinate.tenths(y(level) + 4))" text-anchor="end">\(text(level))</text>
            """
        }
        let marks: [HTML] = ticks.filter { $0.x >= first && $0.x <= last }.map { tick in
            let place = x(tick.x)
            let anchor = place > Self.width - 30 ? "end" : place < Self.left + 16 ? "start" : "middle"
            return
                "<text x=\"\(Coordinate.tenths(place))\" y=\"\(Coordinate.tenths(Self.height - 6))\" text-anchor=\"\(anchor)\">\(tick.text)</text>"
        }
        var area: HTML = ""
        if let band {
            let (from, to) = (y(band.high ?? high), y(band.low ?? low))
            area = """
                <rect class="range" x="\(Coordinate.tenths(Self.left))" y="\(Coordinate.tenths(min(from, to)))" \
                width="\(Coordinate.tenths(Self.width - Self.left - Self.right))" height="\(Coordinate.tenths(abs(to - from)))"/>
                """
        }
        let drawn: [HTML] = lines.map { line in
            let corners = line.points.map { "\(Coordinate.tenths(x($0.x))),\(Coordinate.tenths(y($0.y)))" }
            let path: HTML = corners.count < 2 ? "" : "<polyline class=\"line\" points=\"\(corners.joined(separator: " "))\"/>"
            let dots: [HTML] =
                !line.hasDots && corners.count > 1
                ? []
                : line.points.map {
                    "<circle cx=\"\(Coordinate.tenths(x($0.x)))\" cy=\"\(Coordinate.tenths(y($0.y)))\" r=\"3\"/>"
                }
            return "<g class=\"color\(line.color)\">\(path)\(dots)</g>"
        }
        let names: HTML = """
            <text x="\(Coordinate.tenths(Self.left - 4))" y="11" text-anchor="end">\(units.y)</text>\
            <text x="\(Coordinate.tenths(Self.left - 4))" y="\(Coordinate.tenths(Self.height - 6))" text-anchor="end">\(units.x)</text>
            """
        return """
            <svg class="drawing" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-label="\(label)">\
            \(area)\(levels)\(marks)\(names)\(drawn)</svg>
            """
    }
}

/// Powers of ten.
private enum Decade {
    /// The highest power of ten that is not above a positive number.
    static func below(_ number: Double) -> Double {
        var power = 1.0
        while power > number, power > 1e-12 { power /= 10 }
        while power * 10 <= number, power < 1e15 { power *= 10 }
        return power
    }
}
