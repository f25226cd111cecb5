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

    private static let (maximumTypes, maximumSources) = (4, 8)

    static func isShown(_ type: SampleType) -> Bool { type.kind == .quantity || type.id == BloodPressure.type }

    private static func frame(_ call: PageCall, _ types: [SampleType], _ reader: Reader) throws -> ChartFrame {
        let window = try ChartWindow(call, defaultRange: .week) { try types.first.flatMap { try first(of: $0, reader, call) } }
        guard let frame = window.frame(width: call.text("width").flatMap { Int($0) } ?? 360) else {
            throw PageProblem(400, "interval")
        }
        return frame
    }

    /// The time of a person's first sample of a type.
    static func first(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> Instant? {
        let measured = BloodPressure.measuredType(of: type)
        let cursor = try reader.store.samples.cursor(
            matching: SampleQuery(types: [measured], person: try call.person().person, limit: 1))
        defer { cursor.close() }
        return try cursor.next()?.sample.start
    }

    private static func types(_ call: PageCall) throws -> [SampleType] {
        let names = (call.text("types") ?? "").split(separator: ",").map(String.init)
        let types = names.compactMap { try? SampleType(anyName: $0) }.filter(isShown)
        guard !types.isEmpty, types.count == names.count, types.count <= maximumTypes else {
            throw PageProblem(400, "chartTypes", "\(maximumTypes)")
        }
        return types
    }

    @Sendable private static func series(_ call: PageCall) throws -> HTTPResponse {
        let (types, reader) = (try types(call), try call.reader())
        let frame = try frame(call, types, reader)
        var all: [JSONObject] = []
        for (index, type) in types.enumerated() {
            let lines = Lines(type: type, isFirst: index == 0, frame: frame, reader: reader, call: call)
            all += try index == 0 && call.text("sources") == "yes" ? lines.bySource(atMost: maximumSources) : [lines.all()]
        }
        let object = JSONObject([
            "from": Int(frame.from), "to": Int(frame.to), "zone": call.zone.identifier, "series": all,
            "ticks": ChartTicks(frame, zone: call.zone, texts: call.texts).all.map { tick in
                JSONObject(["at": Int(tick.at), "text": tick.text])
            },
        ])
        return .data(object.line)
    }

    // MARK: Events

    /// Workouts, nights and medication doses, for the background of a chart. There are at most as many as pixels can show.
    @Sendable private static func events(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        let frame = try frame(call, types(call), reader)
        var marks = EventMarks(frame: frame)
        // An event that began earlier may still be visible.
        let before = Instant(microseconds: frame.start.microseconds - 86_400_000_000)
        for id in ["workout", "sleepAnalysis", "medicationDoseEvent"] {
            guard let type = SampleType(id) else { continue }
            let query = SampleQuery(types: [type], from: before, to: frame.end)
            guard id != "sleepAnalysis" else {
                let nights = NightReader(reader.store, priority: call.core.settings.priority)
                for night in try nights.nights(query, from: frame.start, to: frame.end) where night.asleep > 0 {
                    marks.add(
                        id, call.texts("event.sleep"), Instant(microseconds: night.start), Instant(microseconds: night.end))
                }
                continue
            }
            let names = RecordNames(reader.store)
            let cursor = try reader.store.samples.cursor(matching: query)
            defer { cursor.close() }
            while let stored = try cursor.next() {
                let sample = try names.named(stored).sample
                marks.add(id, try call.values.shown(sample, in: reader.store).value, sample.start, sample.end)
            }
        }
        let events = try marks.json + NotesPage.events(frame, call)
        let object = JSONObject(["events": events])
        return .data(object.line)
    }
}

/// The marks of events in a chart. Events with the same name that begin in the same pixel are one mark, so that a chart of years has
/// all of them.
private struct EventMarks {
    private struct Mark {
        var kind: String
        var name: String
        var count = 1
        var pixel: Int64
        var (start, end): (Int64, Int64)
    }

    let frame: ChartFrame
    private var marks: [Mark] = []

    init(frame: ChartFrame) { self.frame = frame }

    mutating func add(_ kind: String, _ name: String, _ start: Instant, _ end: Instant) {
        guard end > frame.start || start >= frame.start else { return }
        let (from, to) = (start.microseconds / 1000, end.microseconds / 1000)
        let pixel = (from - frame.from) * Int64(frame.width) / frame.span
        var index = marks.endIndex - 1
        while index >= 0, marks[index].pixel == pixel, marks[index].kind == kind {
            if marks[index].name == name {
                marks[index].count += 1
                marks[index].end = max(marks[index].end, to)
                return
            }
            index -= 1
        }
        marks.append(Mark(kind: kind, name: name, pixel: pixel, start: from, end: to))
    }

    var json: [JSONObject] {
        marks.map { mark in
            JSONObject([
                "kind": mark.kind, "name": mark.count > 1 ? "\(mark.name) ×\(mark.count)" : mark.name, "from": Int(mark.start),
                "to": Int(mark.end),
            ])
        }
    }
}

/// The series of one type in a chart.
private struct Lines {
    let type: SampleType
    /// Whether the left axis belongs to it.
    let isFirst: Bool
    let frame: ChartFrame
    let reader: Reader
    let call: PageCall

    private func chart(_ frame: ChartFrame, where condition: SamplePredicate? = nil) throws -> Chart {
        try Chart(of: type, in: frame, where: condition, reader, call)
    }

    /// The type from all sources, with the period before if the call asks for it.
    func all() throws -> JSONObject {
        var before: Chart?
        if isFirst, call.text("previous") == "yes", type.kind == .quantity,
            let earlier = ChartFrame(from: frame.from - frame.span, to: frame.from, width: frame.width)
        {
            before = try chart(earlier).moved(by: frame.span)
        }
        return try object(chart(frame), name: call.values.name(of: type), before)
    }

    /// A series for each source with samples in the frame.
    func bySource(atMost maximum: Int) throws -> [JSONObject] {
        let query = SampleQuery(types: [type], person: try call.person().person)
        let sources = try Set(reader.store.samples.series(matching: query).map(\.source)).sorted()
        guard sources.count > 1, sources.count <= maximum, type.kind == .quantity else { return [try all()] }
        let charts = try sources.map {
            (source: $0, chart: try chart(frame, where: .comparison(.source(.id), .equal, .text($0))))
        }.filter { !$0.chart.points.isEmpty }
        guard !charts.isEmpty else { return [try all()] }
        return try charts.map { source, chart in
            try object(chart, name: "\(call.values.name(of: type)), \(call.texts.source(source))", nil)
        }
    }

    private func object(_ chart: Chart, name: String, _ before: Chart?) throws -> JSONObject {
        let measured = BloodPressure.measuredType(of: type)
        let unit = call.values.unit(of: measured, asked: call.text("unit.\(type.id)") ?? (isFirst ? call.text("unit") : nil))
        let conversion = try call.values.conversion(of: measured, to: unit)
        var object = JSONObject([
            "type": type.id, "family": type.family.rawValue, "name": name, "unit": call.values.symbol(unit), "sum": chart.isSum,
            "kind": type.id == BloodPressure.type ? "range" : chart.isSum ? "bars" : "line", "axis": isFirst ? 0 : 1,
            "gap": Int(chart.gap), "unfinished": chart.isUnfinished(at: call.now),
        ])
        if let goal = try GoalsPage.line(of: type, in: frame, call) {
            object.set("goal", raw: Array(Self.number(conversion(goal)).utf8))
        }
        for (name, levels) in [("target", ChartLimits.target(of: type)), ("limits", ChartLimits.limits(of: type))]
        where !levels.isEmpty { object.set(name, raw: Self.json(levels, conversion)) }
        object.set("points", raw: Self.json(chart, conversion))
        if let before { object.set("previous", raw: Self.json(before, conversion)) }
        return object
    }

    private static func json(_ values: [Double], _ conversion: UnitConversion) -> [UInt8] {
        Array("[\(values.map { number(conversion($0)) }.joined(separator: ","))]".utf8)
    }

    private static func json(_ chart: Chart, _ conversion: UnitConversion) -> [UInt8] {
        let rows = chart.points.map { point in
            let values = [point.low, point.high, point.middle].map { number(conversion($0)) }
            return "[\(point.start),\(point.end),\(values.joined(separator: ","))]"
        }
        return Array("[\(rows.joined(separator: ","))]".utf8)
    }

    /// Rounds a number, since a screen cannot show more than seven digits.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return "null" }
        if abs(value) >= 1e9 || value == 0 { return "\(value)" }
        var scale = 1.0
        while abs(value) * scale < 1e5, scale < 1e9 { scale *= 10 }
        return "\((value * scale).rounded() / scale)"
    }
}
