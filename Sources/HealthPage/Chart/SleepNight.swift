import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The sleep stages of a night, drawn as a hypnogram.
struct SleepNight {
    private let night: Night
    /// The drawn intervals, each with its row from the top: awake, REM, core (or unspecified), deep.
    private let stages: [(interval: Night.Interval, level: Int)]
    /// The total time asleep in microseconds. If only time in bed is known, the time in bed.
    let length: Int64

    /// The height of a row, and of the bars in it, in pixels.
    private static let (row, bar) = (26, 18)

    /// Reads the person's last night that is over. Returns `nil` if no sleep was recorded.
    init?(_ reader: Reader, _ call: PageCall) throws {
        let nights = NightReader(reader.store, priority: call.core.settings.priority)
        guard let night = try nights.lastNight(of: call.person().person, before: call.now, zone: call.zone) else { return nil }
        self.init(night)
    }

    init(_ night: Night) {
        self.night = night
        let (stages, inBed) = night.intervals()
        self.stages = stages.flatMap { stage, intervals in intervals.map { ($0, Self.level(of: stage)) } }
            .sorted { ($0.interval.start, $0.level) < ($1.interval.start, $1.level) }
        let asleep = night.asleep
        length = asleep > 0 ? asleep : inBed.reduce(0) { $0 + $1.length }
    }

    private static func level(of stage: Night.Stage) -> Int {
        switch stage {
        case .awake: 0
        case .rem: 1
        case .core, .asleep: 2
        case .deep: 3
        }
    }

    /// The duration of each level in microseconds.
    private var lengths: [Int64] {
        (0..<4).map { level in stages.filter { $0.level == level }.reduce(0) { $0 + $1.interval.length } }
    }

    /// The keys of the levels' names, from the top row.
    private static let names = ["sleep.awake", "sleep.rem", "sleep.core", "sleep.deep"]

    /// The drawing with an axis of hours, and a legend with the duration of each stage. Horizontal places are percentages, so that the
    /// drawing is as wide as its page without stretching its texts.
    func html(_ call: PageCall) -> HTML {
        let (values, texts) = (call.values, call.texts)
        let (start, end) = (night.start, night.end)
        let whole = Double(max(1, end - start))
        func share(_ time: Int64) -> Double { Double(time - start) / whole * 100 }
        let bars: [HTML] = stages.map { stage in
            let width = max(0.3, Double(stage.interval.length) / whole * 100)
            return """
                <rect class="level\(stage.level)" x="\(Coordinate.hundredths(share(stage.interval.start)))%" y="\(stage.level * Self.row + 4)" \
                width="\(Coordinate.hundredths(width))%" height="\(Self.bar)" rx="4"/>
                """
        }
        let marks: [HTML] = hours(call.zone).map { time in
            let place = share(time)
            let anchor = place < 8 ? "start" : place > 92 ? "end" : "middle"
            let x = Coordinate.hundredths(place)
            return """
                <line class="grid" x1="\(x)%" x2="\(x)%" y1="0" y2="\(4 * Self.row)"/>\
                <text x="\(x)%" y="\(4 * Self.row + 16)" text-anchor="\(anchor)">\(call.times.clock(Instant(microseconds: time)))</text>
                """
        }
        let shown = lengths.enumerated().filter { $0.element >= 60_000_000 }.map { level, length in
            (level: level, text: "\(texts(Self.names[level])) \(Self.text(length, values))")
        }
        let keys: [HTML] = shown.map { "<span class=\"key level\($0.level)\">\($0.text)</span> " }
        let ends = [start, end].map { call.times.text(Instant(microseconds: $0)) }
        let label = texts("sleep.label", ends[0], ends[1]) + ": " + shown.map(\.text).joined(separator: ", ")
        return """
            <div>
            <svg class="night" role="img" aria-label="\(label)">\(marks)\(bars)</svg>
            <p class="legend">\(keys)</p></div>
            """
    }

    /// The start and the end, such as `22:38–07:06`, for a header.
    func interval(_ call: PageCall) -> HTML {
        let (start, end) = (Instant(microseconds: night.start), Instant(microseconds: night.end))
        return "\(call.times.clock(start))–\(call.times.element(end))"
    }

    /// Full hours of the night for the axis, at most five.
    private func hours(_ zone: TimeZoneRules) -> [Int64] {
        let hour: Int64 = 3_600_000_000
        let steps: [Int64] = [1, 2, 3, 4, 6, 12]
        let step = steps.first { (night.end - night.start) / ($0 * hour) <= 4 } ?? 24
        // Some zones are a quarter of an hour beside the others.
        let quarter = hour / 4
        let times = stride(from: night.start / quarter * quarter, through: night.end, by: Int(quarter)).filter { time in
            let wall = Instant(microseconds: time).wallTime(at: zone.offset(at: Instant(microseconds: time)))
            return time >= night.start && wall.microseconds % (step * hour) == 0
        }
        return Array(times)
    }

    static func text(_ microseconds: Int64, _ values: PageValues) -> String {
        values.duration(from: Instant(microseconds: 0), to: Instant(microseconds: microseconds))
    }
}
