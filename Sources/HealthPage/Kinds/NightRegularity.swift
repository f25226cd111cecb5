import Glibc
import HealthAnswers
import HealthModel

/// The last nights from bedtime to wake-up, with their averages, and the stages of one night beside the usual ones.
struct NightRegularity {
    /// The nights of ``TypicalRange/reach`` days and of the last day.
    let all: [(date: Instant, night: Night, naps: [Night])]
    /// The day whose night is shown, or `nil` for the last one.
    let day: Int?
    /// The last day of the drawing.
    let last: Int
    let call: PageCall

    /// The number of days in a drawing.
    static let days = 30
    private static let (hour, height) = (3600e6, 160.0)

    private func index(_ date: Instant) -> Int { CalendarIntervals(.day, zone: call.zone).index(of: date) }

    /// The nights of the drawing.
    var nights: [(date: Instant, night: Night, naps: [Night])] { all.filter { index($0.date) > last - Self.days } }

    /// The night that is shown.
    private var shown: (date: Instant, night: Night, naps: [Night])? {
        day.map { day in all.last { index($0.date) == day } } ?? all.last
    }
    private static let minimumCount = 5

    /// The hours from midnight at which each night began and ended. An evening is negative.
    private var ends: [(day: Int, start: Double, end: Double)] {
        nights.map { date, night, _ in
            (
                index(date), Double(night.start - date.microseconds) / Self.hour,
                Double(night.end - date.microseconds) / Self.hour
            )
        }
    }

    private func mean(_ values: [Double]) -> (mean: Double, deviation: Double) {
        let mean = values.reduce(0, +) / Double(values.count)
        return (mean, sqrt(values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)))
    }

    /// The dates below a drawing of consecutive days. They are ten days apart, since they have to fit on a phone.
    static func dates(from first: Int, count: Int, y: Int, _ call: PageCall) -> HTML {
        let calendar = CalendarIntervals(.day, zone: call.zone)
        let marks: [HTML] = stride(from: count - 1, through: 0, by: -10).map { index in
            let isLast = index == count - 1
            let x = isLast ? 100 : (Double(index) + 0.5) / Double(count) * 100
            return """
                <text x="\(Coordinate.hundredths(x))%" y="\(y)" text-anchor="\(isLast ? "end" : "middle")">\(call.times.day(calendar.start(of: first + index)))</text>
                """
        }
        return "\(marks)"
    }

    /// A time of day such as `22:38`.
    private func clock(_ hours: Double) -> String {
        let minutes = Int(((hours + 48) * 60).rounded()) % 1440
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }

    /// The averages in words, and a bar for each night. Empty for few nights.
    var html: HTML {
        let ends = ends
        guard ends.count >= Self.minimumCount else { return "" }
        let texts = call.texts
        let (bed, wake) = (mean(ends.map(\.start)), mean(ends.map(\.end)))
        let (first, bottom) = ((ends.map(\.start).min() ?? -2).rounded(.down), (ends.map(\.end).max() ?? 8).rounded(.up))
        let begin = last - Self.days + 1
        let slot = 100.0 / Double(Self.days)
        func y(_ hours: Double) -> Double { 4 + (hours - first) / max(1, bottom - first) * Self.height }
        let bars: [HTML] = ends.map { day, start, end in
            """
            <rect class="bar" x="\(Coordinate.hundredths(Double(day - begin) * slot + slot * 0.15))%" width="\(Coordinate.hundredths(slot * 0.7))%" \
            y="\(Coordinate.tenths(y(start)))" height="\(Coordinate.tenths(max(1, y(end) - y(start))))" rx="3"/>
            """
        }
        let lines: [HTML] = [bed.mean, wake.mean].map { hours in
            let place = Coordinate.tenths(y(hours))
            return """
                <line class="goal" x1="0" x2="100%" y1="\(place)" y2="\(place)"/>\
                <text class="on" x="-6" y="\(Coordinate.tenths(y(hours) + 4))" text-anchor="end">\(clock(hours))</text>
                """
        }
        let ticks = Self.dates(from: begin, count: Self.days, y: 186, call)
        func minutes(_ hours: Double) -> String { "\(Int((hours * 60).rounded()))" }
        let sentence = texts("night.regular", clock(bed.mean), minutes(bed.deviation), clock(wake.mean), minutes(wake.deviation))
        let asleep = nights.map { Double($0.night.asleep) }.filter { $0 > 0 }
        let average = asleep.isEmpty ? "–" : SleepNight.text(Int64(asleep.reduce(0, +) / Double(asleep.count)), call.values)
        return """
            <div class="card sleep"><div class="sum"><div><p class="num">\(average)</p><p class="note">\(texts("night.average", "\(nights.count)"))</p></div></div>
            <svg class="drawing nights" role="img" aria-label="\(sentence)">\(bars)\(lines)\(ticks)</svg>
            <p class="note">\(sentence)</p></div>
            """
    }

    /// A length such as `1:22`.
    private func hours(_ microseconds: Int64) -> String {
        let minutes = microseconds / 60_000_000
        return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }

    /// The night with its length, in words, and the usual length.
    var lastNight: HTML {
        let texts = call.texts
        guard let shown else { return "<p class=\"note\">\(texts("night.none"))</p>" }
        let night = SleepNight(shown.night)
        let typical = TypicalRange(asleepIn: all, before: shown.night)
        let typicalText = typical.map { " · " + texts("card.usualNight", SleepNight.text(Int64($0.median), call.values)) } ?? ""
        let naps = shown.naps.map { nap in
            let ends = [nap.start, nap.end].map { call.times.clock(Instant(microseconds: $0)) }
            return " · " + texts("sleep.nap", ends.joined(separator: "–"), SleepNight.text(nap.asleep, call.values))
        }
        return """
            <div class="card sleep"><div class="sum"><div><p class="num">\(SleepNight.text(night.length, call.values))</p>\
            <p class="note">\(night.interval(call))\(typicalText)\(naps.joined())</p></div></div>\(night.html(call))</div>
            """
    }

    /// The stages of the night, each with the middle half of the other nights. Empty with fewer than ``TypicalRange/minimumCount`` nights.
    var stages: HTML {
        guard let night = shown?.night else { return "" }
        let names: [(key: String, stages: [Night.Stage])] = [
            ("sleep.deep", [.deep]), ("sleep.core", [.core]), ("sleep.rem", [.rem]), ("sleep.awake", [.awake]),
        ]
        let others = all.filter { $0.night.end != night.end }.map {
            $0.night.intervals().stages.mapValues { $0.reduce(0) { $0 + $1.length } }
        }
        let own = night.intervals().stages.mapValues { $0.reduce(0) { $0 + $1.length } }
        let rows: [HTML] = names.compactMap { key, stages in
            func length(_ lengths: [Night.Stage: Int64]) -> Int64 { stages.reduce(0) { $0 + (lengths[$1] ?? 0) } }
            let before = others.map { Double(length($0)) }.filter { $0 > 0 }
            guard let typical = TypicalRange(before), let maximum = before.max() else { return nil }
            let value = Double(length(own))
            let top = max(maximum, value) * 1.05
            func x(_ length: Double) -> String { Coordinate.hundredths(length / top * 100) }
            let ends = [typical.low, typical.high].map { hours(Int64($0)) }
            let typicalText = call.texts("night.usual", ends[0] == ends[1] ? ends[0] : ends.joined(separator: "–"))
            return """
                <div class="lab"><span class="name">\(call.texts(key))</span>\
                <span class="val"><b class="num">\(SleepNight.text(Int64(value), call.values))</b></span>\
                <svg class="bar2" aria-hidden="true"><rect class="track" x="0" width="100%" y="6" height="8" rx="4"/>\
                <rect class="usual" x="\(x(typical.low))%" width="\(x(typical.high - typical.low))%" y="4" height="12" rx="4"/>\
                <circle class="knob" cx="\(x(value))%" cy="10" r="7"/></svg><span class="trend"><small class="s">\(typicalText)</small></span></div>

                """
        }
        return rows.isEmpty ? "" : "<h2>\(call.texts("night.stages"))</h2><div class=\"card sleep\">\(rows)</div>"
    }
}
