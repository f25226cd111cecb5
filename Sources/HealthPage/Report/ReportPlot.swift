import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The drawing of a type's chart without scripts and for print, by the rules of the chart on the page: bars of sums, a line of averages with a
/// band from the lowest to the highest value, or the two pressures of each measurement.
///
/// Its places are in percent, so that one drawing fits every width and its texts keep their size.
struct ReportPlot {
    let type: SampleType
    /// The text alternative.
    let label: String
    let frame: ChartFrame
    /// The chart in the type's canonical unit.
    let chart: Chart
    /// The conversion to the unit of the page.
    let conversion: UnitConversion
    let call: PageCall

    private static let (height, top, bottom) = (180.0, 12.0, 156.0)
    /// The width in pixels in which the dates have room, and half the width of a letter.
    private static let (narrowest, halfLetter) = (250.0, 3.5)
    /// The numbers of measurements up to which each point of a line has a dot, and up to which dots are large.
    private static let (maximumDots, maximumLargeDots) = (40, 70)

    /// Reads the chart of a type.
    init(of type: SampleType, in frame: ChartFrame, label: String, _ reader: Reader, _ call: PageCall) throws {
        (self.type, self.label, self.frame, self.call) = (type, label, frame, call)
        chart = try Chart(of: type, in: frame, reader, call)
        let measured = BloodPressure.measuredType(of: type)
        conversion = try call.values.conversion(of: measured, to: call.values.unit(of: measured, asked: call.text("unit")))
    }

    private func x(_ time: Int64) -> Double { min(max(Double(time - frame.from) / Double(max(frame.span, 1)), 0), 1) * 100 }
    private func x(_ point: Chart.Point) -> Double { x((point.start + point.end) / 2) }

    var html: HTML {
        let points = chart.points.dropLast(chart.isUnfinished(at: call.now) ? 1 : 0).map { point in
            var point = point
            (point.low, point.high, point.middle) = (conversion(point.low), conversion(point.high), conversion(point.middle))
            return point
        }
        let goal = (try? GoalsPage.line(of: type, in: frame, call)).flatMap { $0 }.map { conversion($0) }
        let (limits, target) = (
            ChartLimits.limits(of: type).map { conversion($0) }, ChartLimits.target(of: type).map { conversion($0) }
        )
        var ends: [Double] = points.flatMap { [$0.low, $0.high] } + limits
        if let goal { ends.append(goal) }
        if chart.isSum { ends.append(0) }
        guard !points.isEmpty, let lowest = ends.min(), let highest = ends.max(), lowest.isFinite, highest.isFinite else {
            return ""
        }
        let margin = highest > lowest ? (highest - lowest) * 0.06 : max(abs(highest) * 0.05, 0.5)
        let (low, high) = (lowest == 0 ? 0 : lowest - margin, highest + margin)
        func y(_ value: Double) -> Double {
            let share: Double = (min(max(value, low), high) - low) / (high - low)
            return Self.top + (1 - share) * (Self.bottom - Self.top)
        }
        func line(_ kind: String, _ value: Double) -> HTML {
            let place = Coordinate.tenths(y(value))
            return "<line class=\"\(kind)\" x1=\"0\" x2=\"100%\" y1=\"\(place)\" y2=\"\(place)\"/>"
        }
        let grid: [HTML] = LinePlot.levels(low, high).map { level in
            "\(line("grid", level))<text x=\"-6\" y=\"\(Coordinate.tenths(y(level) + 4))\" text-anchor=\"end\">\(PageValues.text(level))</text>"
        }
        let names: [HTML] = (limits + target).filter { low < $0 && $0 < high }.map { level in
            "<text class=\"halo\" x=\"100%\" y=\"\(Coordinate.tenths(y(level) - 3))\" text-anchor=\"end\">\(PageValues.text(level))</text>"
        }
        let dotted: [HTML] = limits.map { line("limit", $0) } + (goal.map { [line("goal", $0)] } ?? [])
        var band: HTML = ""
        if let first = target.first, let last = target.last {
            band = """
                <rect class="target" width="100%" y="\(Coordinate.tenths(y(last)))" height="\(Coordinate.tenths(y(first) - y(last)))"/>
                """
        }
        let isPressure = type.id == BloodPressure.type
        let drawn = chart.isSum ? bars(points, y) : isPressure ? pressures(points, y) : lines(points, y)
        let keys: [HTML] = [("morning", "script.morning"), ("evening", "script.evening")].map { kind, key in
            "<span class=\"key \(kind)\">\(call.texts(key))</span> "
        }
        return """
            <div class="plot still"><svg class="drawing" role="img" aria-label="\(label)">\(band)\(grid)\(marks)<g class="lane">\(drawn)</g>\(dotted)\(names)</svg>\
            \(HTML.choose(isPressure, "<p class=\"legend lane\">\(keys)</p>"))</div>
            """
    }

    /// The dates or times below the drawing.
    private var marks: HTML {
        guard let narrow = ChartFrame(from: frame.from, to: frame.to, width: Int(Self.narrowest)) else { return "" }
        var end = 0.0
        let marks: [HTML] = ChartTicks(narrow, zone: call.zone, texts: call.texts).all.compactMap { tick in
            let half = Double(tick.text.count) * Self.halfLetter / Self.narrowest * 100
            let place = min(max(x(tick.at), half), 100 - half)
            guard place - half >= end else { return nil }
            end = place + half + 2
            return """
                <text x="\(Coordinate.hundredths(place))%" y="\(Coordinate.tenths(Self.height - 6))" text-anchor="middle">\(tick.text)</text>
                """
        }
        return "\(marks)"
    }

    private func bars(_ points: [Chart.Point], _ y: (Double) -> Double) -> HTML {
        let bars: [HTML] = points.compactMap { point in
            let (from, to) = (x(point.start), x(point.end))
            let inset = (to - from) * 0.12
            guard to > from else { return nil }
            return """
                <rect class="bars" x="\(Coordinate.hundredths(from + inset))%" width="\(Coordinate.hundredths(to - from - 2 * inset))%" \
                y="\(Coordinate.tenths(y(point.middle)))" height="\(Coordinate.tenths(y(0) - y(point.middle)))"/>
                """
        }
        return "\(bars)"
    }

    /// The parts of a line between gaps, each with its band. They are stretched to the width, and their strokes are not.
    private func lines(_ points: [Chart.Point], _ y: (Double) -> Double) -> HTML {
        var parts: [[Chart.Point]] = []
        for point in points {
            if let last = parts.last?.last, point.start - last.end <= chart.gap {
                parts[parts.count - 1].append(point)
            } else {
                parts.append([point])
            }
        }
        func corner(_ point: Chart.Point, _ value: Double) -> String {
            "\(Coordinate.tenths(x(point) * 10)) \(Coordinate.tenths(y(value)))"
        }
        let whole = parts.filter { $0.count > 1 }
        let bands = whole.map { part in
            "M" + (part.map { corner($0, $0.high) } + part.reversed().map { corner($0, $0.low) }).joined(separator: "L") + "Z"
        }
        let lines = whole.map { part in "M" + part.map { corner($0, $0.middle) }.joined(separator: "L") }
        let alone = points.count <= Self.maximumDots ? points : parts.filter { $0.count == 1 }.flatMap { $0 }
        let dots = alone.map { "M\(corner($0, $0.middle))h0" }
        let height = Int(Self.height)
        return """
            <svg viewBox="0 0 1000 \(height)" width="100%" height="\(height)" preserveAspectRatio="none" overflow="visible">\
            <path class="ar" d="\(bands.joined())"/><path class="ln" d="\(lines.joined())"/><path class="dt" d="\(dots.joined())"/></svg>
            """
    }

    /// Two dots for each measurement, joined by a stem. Those of the morning are filled. Averages of a longer time are stems alone.
    private func pressures(_ points: [Chart.Point], _ y: (Double) -> Double) -> HTML {
        let radius = points.count > Self.maximumLargeDots ? "2.5" : "4"
        let pairs: [HTML] = points.map { point in
            let place = Coordinate.hundredths(x(point))
            let (low, high) = (Coordinate.tenths(y(point.low)), Coordinate.tenths(y(point.high)))
            let isAverage = point.end - point.start > Self.hour
            let stem: HTML =
                "<line class=\"ranges\(isAverage ? " average" : "")\" x1=\"\(place)%\" x2=\"\(place)%\" y1=\"\(low)\" y2=\"\(high)\"/>"
            if isAverage { return stem }
            let kind =
                ChartSummary.morning.contains(call.times.hour(of: Instant(microseconds: point.start * 1000)))
                ? "filled" : "hollow"
            let dots: [HTML] = [low, high].map { "<circle class=\"\(kind)\" cx=\"\(place)%\" cy=\"\($0)\" r=\"\(radius)\"/>" }
            return "\(stem)\(dots)"
        }
        return "\(pairs)"
    }

    /// An hour in milliseconds.
    private static let hour: Int64 = 3_600_000
}

extension Chart {
    /// The chart of a type from the readings that the page shows.
    ///
    /// - Parameter condition: A further condition on the samples, or `nil`.
    init(
        of type: SampleType, in frame: ChartFrame, where condition: SamplePredicate? = nil, _ reader: Reader, _ call: PageCall
    ) throws {
        let (person, priority) = (try call.person().person, call.core.settings.priority)
        if type.id == BloodPressure.type {
            self = try Chart.pressures(
                of: person, in: frame, of: reader.store, zone: call.zone, priority: priority,
                where: TrustedReadings.conditions(of: person, call))
            return
        }
        let conditions = [try TrustedReadings(of: type, call).condition(), condition].compactMap { $0 }
        try self.init(
            type, person: person, in: frame, of: reader.store, zone: call.zone, priority: priority,
            where: conditions.isEmpty ? nil : .and(conditions))
    }
}

/// The levels that a type's chart marks, in the canonical unit.
enum ChartLimits {
    /// The ends of the range that is drawn as a band. Empty for most types.
    static func target(of type: SampleType) -> [Double] {
        type == .bloodGlucose ? [GlucoseTimes.range.low, GlucoseTimes.range.high] : []
    }

    /// The limits of measurements at home that are drawn as lines. Empty for most types.
    static func limits(of type: SampleType) -> [Double] {
        type.id == BloodPressure.type ? [BloodPressure.homeLimit.diastolic, BloodPressure.homeLimit.systolic] : []
    }
}
