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

    /// The maximum number of types in a chart.
    private static let mostTypes = 4

    private static func frame(_ call: PageCall) throws -> ChartFrame {
        guard let from = call.text("from").flatMap({ Int64($0) }), let to = call.text("to").flatMap({ Int64($0) }),
            let frame = ChartFrame(from: from, to: to, width: call.text("width").flatMap { Int($0) } ?? 360)
        else { throw Problem(400, "'from' and 'to' must be milliseconds since 1970, at most a century apart.") }
        return frame
    }

    @Sendable private static func series(_ call: PageCall) throws -> HTTPResponse {
        let (frame, reader) = (try Self.frame(call), try call.reader())
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

    private static func line(_ type: SampleType, _ frame: ChartFrame, _ reader: Reader, _ call: PageCall) throws -> JSONObject {
        let unit = call.values.unit(of: type, asked: call.text("unit.\(type.id)"))
        let conversion = try call.values.conversion(of: type, to: unit)
        let chart = try Chart(
            type, subject: try call.person().subject, in: frame, of: reader.store, zone: call.zone,
            priority: call.core.settings.priority)
        var object = JSONObject()
        object.set("type", type.id)
        object.set("name", call.values.name(of: type))
        object.set("unit", call.values.symbol(unit))
        object.set("sum", chart.isSum)
        object.set("gap", Int(chart.gap))
        if let goal = try GoalsPage.line(of: type, in: frame, call) {
            object.set("goal", raw: Array(number(conversion(goal)).utf8))
        }
        let rows = chart.points.map { point in
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

    // MARK: What happened

    private static let mostEvents = 500

    /// Workouts, nights and medication doses, for the background of a chart.
    @Sendable private static func events(_ call: PageCall) throws -> HTTPResponse {
        let (frame, reader) = (try Self.frame(call), try call.reader())
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
        events += try NotesPage.events(frame, call)
        var object = JSONObject()
        object.set("events", events)
        return .data(object.line)
    }
}
