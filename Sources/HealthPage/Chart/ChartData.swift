import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The data of charts: the minimum, maximum and average for each pixel, calendar ticks, and events.
enum ChartData {
    static let routes = [
        PageRoute(method: "GET", path: "data/series", isSlow: true, answer: series),
        PageRoute(method: "GET", path: "data/events", isSlow: true, answer: events),
    ]

    /// The maximum width of a chart in pixels, and the maximum number of types in it.
    private static let (widest, mostTypes) = (4000, 4)
    /// The maximum number of samples to read individually. If there are more, the chart uses statistics.
    private static let mostSamples = 300_000
    private static let century: Int64 = 100 * 366 * 86_400_000
    /// The accepted times in milliseconds. Calendar computations and differences of times further away would overflow.
    private static let known = -100 * century...100 * century

    /// The visible part of a chart: an interval in milliseconds since 1970, and the width in pixels.
    struct Frame {
        var from: Int64
        var to: Int64
        var width: Int

        init(from: Int64, to: Int64, width: Int) { (self.from, self.to, self.width) = (from, to, width) }

        init(_ call: PageCall) throws {
            guard let from = call.text("from").flatMap({ Int64($0) }), let to = call.text("to").flatMap({ Int64($0) }),
                known.contains(from),
                known.contains(to), from < to, to - from <= century
            else { throw Problem(400, "'from' and 'to' must be milliseconds since 1970, at most a century apart.") }
            (self.from, self.to) = (from, to)
            width = min(max(call.text("width").flatMap { Int($0) } ?? 360, 50), widest)
        }

        var start: Instant { Instant(microseconds: from * 1000) }
        var end: Instant { Instant(microseconds: to * 1000) }
        var span: Int64 { to - from }
    }

    /// A point of a chart: start, end, minimum, maximum and average. For a sum, all three values are the sum.
    struct Point {
        var (start, end): (Int64, Int64)
        var (low, high, middle): (Double, Double, Double)
    }

    @Sendable private static func series(_ call: PageCall) throws -> HTTPResponse {
        let (frame, reader) = (try Frame(call), try call.reader())
        let names = (call.text("types") ?? "").split(separator: ",").map(String.init)
        let types = names.compactMap { SampleType($0) }.filter { $0.kind == .quantity }
        guard !types.isEmpty, types.count == names.count, types.count <= mostTypes else {
            throw Problem(400, "'types' must be one to \(mostTypes) quantity types.")
        }
        var object = JSONObject()
        object.set("from", Int(frame.from))
        object.set("to", Int(frame.to))
        object.set("zone", call.zone.identifier)
        object.set("series", try types.map { try line($0, frame, reader, call) })
        object.set(
            "ticks",
            ChartTicks(frame, zone: call.zone, texts: call.texts).all.map { tick in
                var object = JSONObject()
                object.set("at", Int(tick.at))
                object.set("text", tick.text)
                return object
            })
        return .data(object.line)
    }

    private static func line(_ type: SampleType, _ frame: Frame, _ reader: Reader, _ call: PageCall) throws -> JSONObject {
        let unit = call.values.unit(of: type, asked: call.text("unit.\(type.id)"))
        let conversion = try call.values.conversion(of: type, to: unit)
        let isSum = type.aggregation == .cumulative
        let step = step(for: frame, isSum: isSum)
        var points: [Point]?
        if !isSum, frame.span <= Int64(frame.width) * 60_000 { points = try single(type, frame, reader) }
        let shown = try points ?? summed(type, step, frame, reader, call)
        var object = JSONObject()
        object.set("type", type.id)
        object.set("name", call.values.name(of: type))
        object.set("unit", call.values.symbol(unit))
        object.set("sum", isSum)
        object.set("gap", Int(gap(of: shown)))
        let rows = shown.map { point in
            let values = [point.low, point.high, point.middle].map { number(conversion($0)) }
            return "[\(point.start),\(point.end),\(values.joined(separator: ","))]"
        }
        object.set("points", raw: Array("[\(rows.joined(separator: ","))]".utf8))
        return object
    }

    /// Rounds a number, since a screen cannot show more than seven digits.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if abs(value) >= 1e9 || value == 0 { return "\(value)" }
        var scale = 1.0
        while abs(value) * scale < 1e5, scale < 1e9 { scale *= 10 }
        return "\((value * scale).rounded() / scale)"
    }

    /// The longest gap that the line bridges, in milliseconds: four times the median distance between points.
    private static func gap(of points: [Point]) -> Int64 {
        guard points.count > 2 else { return .max / 2 }
        let distances = zip(points.dropFirst(), points).map { $0.start - $1.start }.sorted()
        return max(4 * distances[distances.count / 2], 10_000)
    }

    // MARK: By stretches of the calendar

    /// The shortest interval that is at least one pixel wide. A sum needs 8 pixels for its bar.
    static func step(for frame: Frame, isSum: Bool) -> CalendarInterval {
        let pixels = isSum ? max(1, frame.width / 8) : frame.width
        let choices: [(Int64, String)] = [
            (60_000, "1m"), (120_000, "2m"), (300_000, "5m"), (600_000, "10m"), (900_000, "15m"), (1_800_000, "30m"),
            (3_600_000, "1h"),
            (7_200_000, "2h"), (10_800_000, "3h"), (21_600_000, "6h"), (43_200_000, "12h"), (86_400_000, "1d"),
            (604_800_000, "1w"),
            (2_592_000_000, "1mo"), (7_776_000_000, "3mo"),
        ]
        // Sums use intervals that people are used to, such as an hour or a day.
        let usual = choices.filter { !isSum || !["2m", "10m", "2h", "6h", "12h"].contains($0.1) }
        let name = usual.first { frame.span / $0.0 <= Int64(pixels) }?.1 ?? "1y"
        return CalendarInterval(name) ?? .day
    }

    private static func summed(
        _ type: SampleType, _ step: CalendarInterval, _ frame: Frame, _ reader: Reader, _ call: PageCall
    ) throws -> [Point] {
        let intervals = CalendarIntervals(step, zone: call.zone)
        let first = intervals.index(of: frame.start)
        var query = StatisticsQuery(
            type: type, intervals: intervals, from: intervals.start(of: first),
            to: intervals.start(of: intervals.index(of: frame.end) + 1), priority: call.core.settings.priority)
        query.subject = try call.person().subject
        return try reader.store.statistics(query).compactMap { row in
            let (start, end) = (row.start.microseconds / 1000, row.end.microseconds / 1000)
            guard type.aggregation != .cumulative else {
                return Point(start: start, end: end, low: row.sum, high: row.sum, middle: row.sum)
            }
            guard let low = row.minimum, let high = row.maximum, let average = row.average else { return nil }
            return Point(start: start, end: end, low: low, high: high, middle: average)
        }
    }

    // MARK: One by one

    /// The points for each pixel, or `nil` if there are too many samples.
    private static func single(_ type: SampleType, _ frame: Frame, _ reader: Reader) throws -> [Point]? {
        let cursor = try reader.store.samples(
            matching: SampleQuery(types: [type], from: frame.start, to: frame.end, limit: mostSamples + 1))
        defer { cursor.close() }
        var (points, count, weight, pixel) = ([Point](), 0, 0.0, Int64.min)
        while let sample = try cursor.next()?.sample {
            count += 1
            guard count <= mostSamples else { return nil }
            let (start, value) = (sample.start.microseconds / 1000, sample.value)
            let own = (start - frame.from) * Int64(frame.width) / frame.span
            if own != pixel || points.isEmpty {
                points.append(Point(start: start, end: start, low: value, high: value, middle: value))
                (pixel, weight) = (own, 1)
                continue
            }
            var last = points.removeLast()
            weight += 1
            (last.low, last.high, last.end) = (min(last.low, value), max(last.high, value), start)
            last.middle += (value - last.middle) / weight
            points.append(last)
        }
        return points
    }

    // MARK: What happened

    private static let mostEvents = 500

    /// Workouts, nights and medication doses, for the background of a chart.
    @Sendable private static func events(_ call: PageCall) throws -> HTTPResponse {
        let (frame, reader) = (try Frame(call), try call.reader())
        var events: [JSONObject] = []
        // An event that began earlier may still be visible.
        let before = Instant(microseconds: frame.start.microseconds - 86_400_000_000)
        for id in ["workout", "sleepAnalysis", "medicationDoseEvent"] {
            guard let type = SampleType(id) else { continue }
            func add(_ name: String, _ start: Instant, _ end: Instant) {
                guard end > frame.start, events.count < mostEvents else { return }
                var object = JSONObject()
                object.set("kind", id)
                object.set("name", name)
                object.set("from", Int(start.microseconds / 1000))
                object.set("to", Int(end.microseconds / 1000))
                events.append(object)
            }
            let query = SampleQuery(types: [type], from: before, to: frame.end, limit: 20_000)
            guard id != "sleepAnalysis" else {
                let nights = NightReader(reader.store, priority: call.core.settings.priority)
                for night in try nights.nights(query, from: frame.start, to: frame.end) where night.asleep > 0 {
                    add(call.texts("event.sleep"), Instant(microseconds: night.start), Instant(microseconds: night.end))
                }
                continue
            }
            let cursor = try reader.store.samples(matching: query)
            defer { cursor.close() }
            while let sample = try cursor.next()?.sample {
                let name = id == "workout" ? try call.values.shown(sample, in: reader.store).value : call.values.name(of: type)
                add(name, sample.start, sample.end)
            }
        }
        var object = JSONObject()
        object.set("events", events)
        return .data(object.line)
    }
}
