import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The last night, and a chart and a table of the nights before.
enum NightsKind {
    private static let days = 30
    private static let hour = 3600e6
    /// The stages from the bottom of a bar to its top, with the number of their color.
    private static let stages: [(stage: Night.Stage, level: Int)] = [
        (.deep, 3), (.core, 2), (.asleep, 2), (.rem, 1), (.awake, 0),
    ]

    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let nights = try NightReader(reader.store, priority: call.core.settings.priority).history(
            of: call.person().person, days: days, through: call.now, zone: call.zone)
        guard !nights.isEmpty else { return "" }
        let (texts, values) = (call.texts, call.values)
        let heads = [
            "night.date", "night.asleep", "night.from", "sleep.deep", "sleep.core", "sleep.rem", "sleep.awake", "night.naps",
        ].map {
            texts($0)
        }
        let rows: [[HTML]] = nights.reversed().map { date, night, naps in
            let lengths = Self.lengths(of: night)
            let ends = [night.start, night.end].map { call.times.clock(Instant(microseconds: $0)) }
            func cell(_ levels: Int...) -> HTML {
                KindPage.cell(SleepNight.text(levels.reduce(0) { $0 + (lengths[$1] ?? 0) }, values))
            }
            return [
                KindPage.cell(call.times.day(date)), KindPage.cell(SleepNight.text(night.asleep, values)),
                KindPage.cell(ends.joined(separator: "–")), cell(3), cell(2), cell(1), cell(0),
                KindPage.cell(SleepNight.text(naps.reduce(0) { $0 + $1.asleep }, values)),
            ]
        }
        let regularity = NightRegularity(nights: nights, call: call)
        return """
            \(regularity.lastNight)
            \(regularity.stages)
            <h2>\(texts("night.history"))</h2>
            \(regularity.html)
            \(drawing(nights, call))
            \(KindPage.more(texts("night.table", "\(nights.count)"), KindPage.table("nights", texts("night.history"), heads, rows)))
            """
    }

    /// The duration of each level in microseconds.
    private static func lengths(of night: Night) -> [Int: Int64] {
        let (found, _) = night.intervals()
        var lengths: [Int: Int64] = [:]
        for (stage, level) in stages { lengths[level, default: 0] += (found[stage] ?? []).reduce(0) { $0 + $1.length } }
        return lengths
    }

    /// A bar for each night, stacked by stage.
    private static func drawing(_ nights: [(date: Instant, night: Night, naps: [Night])], _ call: PageCall) -> HTML {
        let (texts, all) = (call.texts, nights.map { (date: $0.date, lengths: lengths(of: $0.night)) })
        let maximum = all.map { Double($0.lengths.values.reduce(0, +)) / hour }.max() ?? 0
        guard maximum > 0, let first = all.first?.date else { return "" }
        let top = max(maximum * 1.05, 3)
        let (bottom, height) = (150.0, 140.0)
        let slot = 100.0 / Double(days)
        let calendar = CalendarIntervals(.day, zone: call.zone)
        // The last day is at the right edge.
        let begin = calendar.index(of: call.now) - days + 1
        func y(_ hours: Double) -> Double { bottom - hours / top * height }
        let levels: [HTML] = LinePlot.levels(0, top).map { level in
            """
            <line class="grid" x1="0" x2="100%" y1="\(Coordinate.tenths(y(level)))" y2="\(Coordinate.tenths(y(level)))"/>\
            <text x="-6" y="\(Coordinate.tenths(y(level) + 4))" text-anchor="end">\(call.texts("time.wholeHours", PageValues.text(level)))</text>
            """
        }
        let bars: [HTML] = all.map { date, lengths in
            let x = Double(calendar.index(of: date) - begin) * slot
            var under = 0.0
            let parts: [HTML] = [3, 2, 1, 0].compactMap { level in
                let hours = Double(lengths[level] ?? 0) / hour
                guard hours > 0 else { return nil }
                defer { under += hours }
                return """
                    <rect class="level\(level)" x="\(Coordinate.hundredths(x + slot * 0.1))%" y="\(Coordinate.tenths(y(under + hours)))" \
                    width="\(Coordinate.hundredths(slot * 0.8))%" height="\(Coordinate.tenths(y(under) - y(under + hours)))"/>
                    """
            }
            return "\(parts)"
        }
        let marks = NightRegularity.dates(from: begin, count: days, y: 170, call)
        let last = all.last?.date ?? first
        let label = texts("night.label", "\(nights.count)", call.times.day(first), call.times.day(last))
        let keys: [HTML] = [("sleep.deep", 3), ("sleep.core", 2), ("sleep.rem", 1), ("sleep.awake", 0)].compactMap { key, level in
            let average = all.reduce(0) { $0 + ($1.lengths[level] ?? 0) } / Int64(all.count)
            guard average >= 60_000_000 else { return nil }
            return "<span class=\"key level\(level)\">\(texts(key)) \(SleepNight.text(average, call.values))</span> "
        }
        let period = [first, last].map { call.times.day($0) }.joined(separator: " – ")
        return """
            <div class="card sleep"><p class="note">\(texts("night.stagesOf", period))</p><p class="legend">\(keys)</p>
            <svg class="drawing" role="img" aria-label="\(label)">\(levels)\(bars)\(marks)</svg></div>
            """
    }
}
