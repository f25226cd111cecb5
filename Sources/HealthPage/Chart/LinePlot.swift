import HealthAnswers

/// A drawing of lines with labelled axes, for pages of single objects. Without scripts it is the same.
struct LinePlot {
    /// A line through points.
    struct Line {
        var points: [(x: Double, y: Double)]
        var color = 0
        /// Whether each point has a dot.
        var hasDots = false
    }

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

    /// The height, and the upper and the lower edge of the plot, in pixels.
    private static let (height, top, bottom) = (180.0, 20.0, 156.0)

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
        /// The place from the left edge of the plot, in percent.
        func x(_ value: Double) -> Double { (value - first) / span * 100 }
        func y(_ value: Double) -> Double {
            let share = (min(max(value, low), high) - low) / (high - low)
            return Self.top + (isReversed ? share : 1 - share) * (Self.bottom - Self.top)
        }
        let levels: [HTML] = Self.levels(low, high).map { level in
            """
            <line class="grid" x1="0" x2="100%" y1="\(Coordinate.tenths(y(level)))" y2="\(Coordinate.tenths(y(level)))"/>\
            <text x="-6" y="\(Coordinate.tenths(y(level) + 4))" text-anchor="end">\(text(level))</text>
            """
        }
        let marks: [HTML] = ticks.filter { $0.x >= first && $0.x <= last }.map { tick in
            let place = x(tick.x)
            let anchor = place > 92 ? "end" : place < 8 ? "start" : "middle"
            return """
                <text x="\(Coordinate.hundredths(place))%" y="\(Coordinate.tenths(Self.height - 6))" text-anchor="\(anchor)">\(tick.text)</text>
                """
        }
        var area: HTML = ""
        if let band {
            let (from, to) = (y(band.high ?? high), y(band.low ?? low))
            area = """
                <rect class="range" width="100%" y="\(Coordinate.tenths(min(from, to)))" height="\(Coordinate.tenths(abs(to - from)))"/>
                """
        }
        // The lines are stretched to the width, and their strokes are not.
        let drawn: [HTML] = lines.map { line in
            let corners = line.points.map { "\(Coordinate.tenths(x($0.x) * 10)) \(Coordinate.tenths(y($0.y)))" }
            let path: HTML = corners.count < 2 ? "" : "<path class=\"ln\" d=\"M\(corners.joined(separator: "L"))\"/>"
            let hasDots = line.hasDots || corners.count == 1
            let dots: HTML = !hasDots ? "" : "<path class=\"dt\" d=\"\(corners.map { "M\($0)h0" }.joined())\"/>"
            return "<g class=\"color\(line.color)\">\(path)\(dots)</g>"
        }
        let names: HTML = """
            <text x="-6" y="11" text-anchor="end">\(units.y)</text>\
            <text x="-6" y="\(Coordinate.tenths(Self.height - 6))" text-anchor="end">\(units.x)</text>
            """
        let height = Int(Self.height)
        return """
            <svg class="drawing" role="img" aria-label="\(label)">\(area)\(levels)\(marks)\(names)\
            <svg viewBox="0 0 1000 \(height)" width="100%" height="\(height)" preserveAspectRatio="none" overflow="visible">\(drawn)</svg></svg>
            """
    }

    /// The drawing on a card, with its figure in words above it.
    ///
    /// - Parameters:
    ///   - family: The family of the data, which gives the card its color.
    ///   - note: The period, and the lowest and the highest value.
    ///   - value: The figure above the drawing, with its unit.
    func card(_ family: HealthGroup, note: String, value: (text: String, unit: String)) -> HTML {
        """
        <div class="card \(family.rawValue)"><div class="sum"><div><p class="num">\(value.text) <small>\(value.unit)</small></p>\
        <p class="note">\(note)</p></div></div>\(html)</div>
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
