import HealthModel
import SampleStore

/// The preview of a repair as a drawing. It shows a histogram of values, or the old and new times of examples.
struct RepairDrawing {
    let plan: RepairPlan
    let call: PageCall

    private static let (maximumBins, barWidth, height) = (24, 7, 60)

    func html(movesTimes: Bool) -> HTML {
        if movesTimes { return times }
        let types = Set(plan.before.keys).union(plan.after.keys).sorted { $0.id < $1.id }
        return "\(types.map(values))"
    }

    /// A histogram with two bars per bin, before and after the repair.
    private func values(of type: SampleType) -> HTML {
        let (before, after) = (plan.before[type] ?? Histogram(), plan.after[type] ?? Histogram())
        let bins = Histogram.commonBins(before, after, limit: Self.maximumBins)
        guard let first = bins.first, let last = bins.last else { return "" }
        let maximum = Double(bins.map { max($0.one, $0.other) }.max() ?? 1)
        func bar(_ x: Int, _ count: Int, _ name: HTML) -> HTML {
            guard count > 0 else { return "" }
            // Even the smallest count gets a visible bar.
            let tall = max(2, Coordinate.pixels(Double(count) / maximum * Double(Self.height)))
            return
                "<rect class=\"\(name)\" x=\"\(x)\" y=\"\(Self.height - tall)\" width=\"\(Self.barWidth - 1)\" height=\"\(tall)\"/>"
        }
        let bars: [HTML] = bins.enumerated().map { index, bin in
            bar(2 * index * Self.barWidth, bin.one, "before") + bar((2 * index + 1) * Self.barWidth, bin.other, "after")
        }
        let unit = call.values.unit(of: type)
        let conversion = try? call.values.conversion(of: type, to: unit)
        let (low, high) = (conversion?(first.from) ?? first.from, conversion?(last.to) ?? last.to)
        let words = call.texts(
            "plan.values", call.values.name(of: type), PageValues.text(low), PageValues.text(high), call.values.symbol(unit))
        return """
            <svg class="compare" viewBox="0 0 \(2 * bins.count * Self.barWidth) \(Self.height)" preserveAspectRatio="none" role="img" aria-label="\(words)">\(bars)</svg>
            <p class="note">\(words) <span class="key before">\(call.texts("care.before"))</span> <span class="key after">\(call.texts("care.after"))</span></p>
            """
    }

    /// A line for each example, from its old time at the top to its new time at the bottom.
    private var times: HTML {
        let moved = plan.examples.map { ($0.before.start.microseconds, $0.after.start.microseconds) }
        let all = moved.flatMap { [$0.0, $0.1] }
        guard let low = all.min(), let high = all.max(), high > low else { return "" }
        func x(_ time: Int64) -> Int { 6 + Coordinate.pixels(Double(time - low) / Double(high - low) * 288) }
        let lines: [HTML] = moved.map { before, after in
            """
            <line x1="\(x(before))" y1="8" x2="\(x(after))" y2="44"/><circle class="before" cx="\(x(before))" cy="8" r="4"/><circle class="after" cx="\(x(after))" cy="44" r="4"/>
            """
        }
        let words = call.texts(
            "plan.times", "\(moved.count)", call.times.text(Instant(microseconds: low)),
            call.times.text(Instant(microseconds: high)))
        return """
            <svg class="compare moves" viewBox="0 0 300 52" role="img" aria-label="\(words)">\(lines)</svg>
            <p class="note">\(words) <span class="key before">\(call.texts("care.before"))</span> <span class="key after">\(call.texts("care.after"))</span></p>
            """
    }
}
