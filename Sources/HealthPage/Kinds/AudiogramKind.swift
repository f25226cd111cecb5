import HealthModel

/// A hearing test as a chart: softer tones are higher, the right ear is a line with circles, the left one another color.
enum AudiogramKind {
    static func html(_ sample: Sample, _ call: PageCall) -> HTML {
        let texts = call.texts
        guard let reported = try? sample.body?.decoded(as: Audiogram.self), let hertz = try? Unit(ucum: "Hz") else { return "" }
        let points = reported.sensitivity.compactMap { point in
            point.frequency.value(in: hertz).flatMap { $0 > 0 ? (frequency: $0, point: point) : nil }
        }.sorted { $0.frequency < $1.frequency }
        guard !points.isEmpty else { return "" }
        // Octaves have equal distances.
        func place(_ frequency: Double) -> Double {
            var (octaves, rest) = (0.0, frequency)
            while rest >= 2 { (octaves, rest) = (octaves + 1, rest / 2) }
            return octaves + rest - 1
        }
        func line(_ ear: (Audiogram.Point) -> Audiogram.Ear?, _ color: Int) -> LinePlot.Line {
            let audible = points.compactMap { each in
                ear(each.point).map { (x: place(each.frequency), y: $0.sensitivity.numeral.doubleValue) }
            }
            return LinePlot.Line(points: audible, color: color, hasDots: true)
        }
        var plot = LinePlot(
            label: texts("audiogram.label"), lines: [line({ $0.left }, 0), line({ $0.right }, 1)],
            ticks: points.map { (place($0.frequency), frequency($0.frequency)) })
        plot.isReversed = true
        let decibel = points.lazy.compactMap { ($0.point.left ?? $0.point.right)?.sensitivity.unit }.first
        plot.units = ("Hz", decibel.map { call.values.symbol($0) } ?? "")
        let rows: [[HTML]] = points.map { each in
            [
                KindPage.cell("\(PageValues.text(each.frequency, places: 0)) Hz"), KindPage.cell(level(each.point.left, call)),
                KindPage.cell(level(each.point.right, call)),
            ]
        }
        let heads = ["audiogram.frequency", "audiogram.left", "audiogram.right"].map { texts($0) }
        return """
            <div class="card"><p>\(texts("audiogram.table")), \(plot.units.y)</p><p class="legend"><span class="key color0">\(texts("audiogram.left"))</span> <span class="key color1">\(texts("audiogram.right"))</span></p>
            \(plot.html)</div>
            \(KindPage.more(texts("audiogram.table"), KindPage.table("audiogram", texts("audiogram.table"), heads, rows)))
            """
    }

    private static func frequency(_ hertz: Double) -> String {
        hertz < 1000 ? PageValues.text(hertz, places: 0) : PageValues.text(hertz / 1000, places: 1) + "k"
    }

    private static func level(_ ear: Audiogram.Ear?, _ call: PageCall) -> String {
        guard let ear else { return "–" }
        let text =
            "\(PageValues.local(ear.sensitivity.numeral.text)) \(ear.sensitivity.unit.map { call.values.symbol($0) } ?? "")"
        return ear.masked == true ? text + ", " + call.texts("audiogram.masked") : text
    }
}
