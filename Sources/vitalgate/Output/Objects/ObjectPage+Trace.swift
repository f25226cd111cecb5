import CommandLineKit
import HealthModel

// The trace of an electrocardiogram, drawn as on paper in strips of ten seconds.
extension ObjectPage {
    /// The length of a strip in seconds.
    private static let strip = 10.0
    private static let maximumStrips = 6
    private static let rows = 4

    mutating func trace(_ recording: Electrocardiogram, of sample: Sample) {
        guard let content = sample.body?.content, let hertz = try? Unit(ucum: "Hz"),
            let frequency = recording.samplingFrequency?.value(in: hertz), frequency > 0, frequency < 5000,
            let column = recording.points.columns.firstIndex(where: { $0.name == Electrocardiogram.voltage.name })
                ?? (recording.points.columns.isEmpty ? nil : 0),
            var reader = try? PointsReader(recording.points, content)
        else { return }
        let span = Int((Self.strip * frequency).rounded())
        guard span > 0 else { return }
        var voltages: [Double?] = []
        while voltages.count < span * Self.maximumStrips, let point = try? reader.next() {
            voltages.append(point[column]?.doubleValue)
        }
        let known = voltages.compactMap { $0 }.sorted()
        // Outliers are clipped, for example from a loose lead. They would otherwise flatten the trace.
        guard let low = Self.quantile(known, 0.001), let high = Self.quantile(known, 0.999) else { return }
        let unit = recording.points.columns[column].unit.map { " \($0)" } ?? ""
        let isUnicode = page.isUnicode
        var title = "trace, \(Readable.number(low.rounded())) to \(Readable.number(high.rounded()))\(unit), 10 s per line"
        if recording.points.count > voltages.count { title += ", first minute only" }
        var lines: [String] = []
        for start in stride(from: 0, to: voltages.count, by: span) {
            var drawing = TraceDrawing(columns: page.width - 4, rows: Self.rows)
            drawing.draw(voltages[start..<min(start + span, voltages.count)], span: span, in: low...max(high, low))
            lines += drawing.lines(unicode: isUnicode)
        }
        page.drawing(title, lines)
    }

    private static func quantile(_ sorted: [Double], _ part: Double) -> Double? {
        sorted.isEmpty ? nil : sorted[Int((Double(sorted.count - 1) * part).rounded())]
    }
}
