import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A night, by default the last one, and a chart and a table of the nights before.
enum NightsKind {
    private static let days = NightRegularity.days
    private static let hour = 3600e6
    /// The stages from the bottom of a bar to its top, with the number of their color.
    private static let stages: [(stage: Night.Stage, level: Int)] = [
        (.deep, 3), (.core, 2), (.asleep, 2), (.rem, 1), (.awake, 0),
    ]

    static func html(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let reader = NightReader(reader.store, priority: call.core.settings.priority)
        let (person, days) = (try call.person().person, CalendarIntervals(.day, zone: call.zone))
        let (asked, today) = (try KindPage.day(call), days.index(of: call.now))
        func history(through day: Int) throws -> [(date: Instant, night: Night, naps: [Night])] {
            let end = Instant(microseconds: days.start(of: day + 1).microseconds - 1)
            return try reader.history(of: person, days: TypicalRange.reach + 1, through: min(end, call.now), zone: call.zone)
        }
        var (day, all) = (asked ?? today, try history(through: asked ?? today))
        if all.isEmpty, asked == nil {
            guard let night = try reader.lastNight(of: person, before: call.now, zone: call.zone) else { return "" }
            day = days.index(of: Instant(microseconds: night.end))
            all = try history(through: day)
        }
        let regularity = NightRegularity(all: all, day: asked, last: day, call: call)
        let nights = regularity.nights
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
                "<a href=\"\(KindPage.address(of: Self.type, on: days.index(of: date), call))\">\(call.times.day(date))</a>",
                KindPage.cell(SleepNight.text(night.asleep, values)),
                KindPage.cell(ends.joined(separator: "–")), cell(3), cell(2), cell(1), cell(0),
                KindPage.cell(SleepNight.text(naps.reduce(0) { $0 + $1.asleep }, values)),
            ]
        }
        let title = day == today ? texts("night.history") : texts("night.historyTo", call.times.day(days.start(of: day)))
        return """
            \(arrows(around: asked ?? all.last.map { days.index(of: $0.date) } ?? day, days, call))
            \(regularity.lastNight)
            \(regularity.stages)
            <h2>\(title)</h2>
            \(regularity.html)
            \(drawing(nights, last: day, call))
            \(KindPage.more(texts("night.table", "\(nights.count)"), KindPage.table("nights", title, heads, rows)))
            """
    }

    private static let type = "sleepAnalysis"

    /// The links to the nights before and after one, and a field for its day.
    private static func arrows(around day: Int, _ days: CalendarIntervals, _ call: PageCall) -> HTML {
        func link(_ day: Int, _ key: String) -> HTML {
            let text = call.texts(key, call.times.day(days.start(of: day)))
            return "<a class=\"button\" href=\"\(KindPage.address(of: type, on: day, call))\">\(text)</a>"
        }
        return """
            <div class="pager">\(link(day - 1, "night.before"))\(HTML.choose(day < days.index(of: call.now), link(day + 1, "night.after")))</div>
            \(KindPage.dayForm(of: type, on: day, call))
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
    private static func drawing(
        _ nights: [(date: Instant, night: Night, naps: [Night])], last day: Int, _ call: PageCall
    ) -> HTML {
        let (texts, all) = (call.texts, nights.map { (date: $0.date, lengths: lengths(of: $0.night)) })
        let maximum = all.map { Double($0.lengths.values.reduce(0, +)) / hour }.max() ?? 0
        guard maximum > 0, let first = all.first?.date else { return "" }
        let top = max(maximum * 1.05, 3)
        let (bottom, height) = (150.0, 140.0)
        let slot = 100.0 / Double(days)
        let calendar = CalendarIntervals(.day, zone: call.zone)
        // The last day is at the right edge.
        let begin = day - days + 1
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
