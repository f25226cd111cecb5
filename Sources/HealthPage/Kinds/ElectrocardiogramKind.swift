import HealthAnswers
import HealthModel

/// An electrocardiogram as on paper: 25 mm for a second, 10 mm for a millivolt, with a line every millimetre and a stronger one every
/// five.
enum ElectrocardiogramKind {
    /// The length of a strip in seconds.
    private static let strip = 10
    private static let (second, millivolt) = (25.0, 10.0)
    /// The height of a strip in millimetres. Higher voltages are cut.
    private static let (least, maximum) = (30.0, 80.0)

    static func html(_ sample: Sample, _ call: PageCall) -> HTML {
        let texts = call.texts
        let reported = try? sample.body?.decoded(as: Electrocardiogram.self)
        let rate = reported?.averageHeartRate?.value(in: SampleType.heartRate.canonicalUnit)
        let facts = KindPage.facts([
            (texts("ecg.heartRate"), rate.map { PageValues.text($0, places: 0) + " /min" }),
            (texts("ecg.lead"), reported?.lead.map { texts["lead." + $0] ?? $0 }),
            (texts("ecg.symptoms"), reported?.symptoms.joined(separator: ", ")),
        ])
        guard let trace = ElectrocardiogramTrace(sample) else { return "\(facts)<p>\(texts("ecg.none"))</p>" }
        let known = trace.voltages.compactMap { $0 }.sorted()
        // A loose lead causes short outliers, which are cut.
        let low = known[known.count / 1000] * millivolt
        let high = known[known.count - 1 - known.count / 1000] * millivolt
        let height = min(max(((high - low + 10) / 5).rounded(.up) * 5, least), maximum)
        let top = ((high + low) / 2 + height / 2)
        let span = Int(Double(strip) * trace.frequency)
        guard span > 0 else { return facts }
        let strips: [HTML] = stride(from: 0, to: trace.voltages.count, by: span).prefix(12).enumerated().map { index, start in
            let end = min(start + span, trace.voltages.count)
            let label = texts("ecg.strip", "\(index * strip)", "\(index * strip + (end - start) / max(1, Int(trace.frequency)))")
            return drawing(trace.voltages[start..<end], trace.frequency, from: top, height: height, label)
        }
        let more: HTML =
            Double(trace.voltages.count) / trace.frequency < trace.seconds - 1 ? "<p class=\"note\">\(texts("ecg.cut"))</p>" : ""
        return """
            \(facts)<h2>\(texts("ecg.trace"))</h2><p class="note">\(texts("ecg.grid"))</p>
            <div class="scroll ecgs" role="region" tabindex="0" aria-label="\(texts("ecg.trace"))">\(strips)</div>\(more)
            """
    }

    /// One strip, in millimetres.
    ///
    /// - Parameter top: The voltage at the upper edge, in millimetres.
    private static func drawing(
        _ voltages: ArraySlice<Double?>, _ frequency: Double, from top: Double, height: Double, _ label: String
    ) -> HTML {
        let (width, tall) = (Int(Double(strip) * second), Int(height))
        // Two points for each fifth of a millimetre, so that no spike is lost.
        let bin = max(1, Int(frequency / second / 5))
        var (path, isOpen) = ("", false)
        var index = voltages.startIndex
        while index < voltages.endIndex {
            let next = min(index + bin, voltages.endIndex)
            let known = voltages[index..<next].enumerated().compactMap { offset, value in value.map { (offset, $0) } }
            if let low = known.min(by: { $0.1 < $1.1 }), let high = known.max(by: { $0.1 < $1.1 }) {
                for (offset, value) in low.0 < high.0 ? [low, high] : low.0 > high.0 ? [high, low] : [low] {
                    let x = Double(index - voltages.startIndex + offset) / frequency * second
                    let y = min(max(top - value * millivolt, 0), height)
                    path += (isOpen ? "L" : "M") + Coordinate.hundredths(x) + " " + Coordinate.hundredths(y)
                    isOpen = true
                }
            } else {
                isOpen = false
            }
            index = next
        }
        func grid(every step: Int) -> String {
            stride(from: 0, through: width, by: step).map { "M\($0) 0V\(tall)" }.joined()
                + stride(from: 0, through: tall, by: step).map { "M0 \($0)H\(width)" }.joined()
        }
        return """
            <svg class="ecg" viewBox="0 0 \(width) \(tall)" width="\(width)mm" height="\(tall)mm" role="img" aria-label="\(label)">\
            <path class="fine" d="\(grid(every: 1))"/><path class="coarse" d="\(grid(every: 5))"/><path class="trace" d="\(path)"/></svg>
            """
    }
}
