import Formats
import HealthModel
import SampleStore

/// The card of a type: the latest sample and a line for the last seven days.
struct TypeCard {
    let type: SampleType
    let latest: Sample
    /// One value a day, with today last: the sum for cumulative types, otherwise the average. Days without data are `nil`.
    var week: [Double?] = []
    /// The last night, for sleep.
    var night: SleepNight?

    /// The cards of all the person's types, sorted by name.
    static func all(_ reader: Reader, _ call: PageCall) throws -> [TypeCard] {
        var latest: [SampleType: StoredSample] = [:]
        let soon = call.now.microseconds + SampleRoutes.leeway
        for stored in try reader.store.latestSamples(where: { $0.start.microseconds <= soon }) {
            let type = stored.sample.origin.type
            if let other = latest[type], (other.sample.start, other.seq) > (stored.sample.start, stored.seq) { continue }
            latest[type] = stored
        }
        let names = latest.keys.map { (type: $0, name: call.values.name(of: $0)) }.sorted {
            ($0.name, $0.type.id) < ($1.name, $1.type.id)
        }
        return try names.compactMap { type, _ in
            guard let stored = latest[type] else { return nil }
            let night = type.id == "sleepAnalysis" ? try SleepNight(reader) : nil
            return TypeCard(type: type, latest: stored.sample, week: try week(of: type, reader, call), night: night)
        }
    }

    private static func week(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> [Double?] {
        guard type.kind == .quantity else { return [] }
        let days = CalendarIntervals(.day, zone: call.zone)
        let today = days.index(of: call.now)
        var query = StatisticsQuery(
            type: type, intervals: days, from: days.start(of: today - 6), to: days.start(of: today + 1),
            priority: call.core.settings.priority)
        query.subject = try call.person().subject
        var week = [Double?](repeating: nil, count: 7)
        for row in try reader.store.statistics(query) {
            let index = days.index(of: row.start) - today + 6
            if week.indices.contains(index) { week[index] = type.aggregation == .cumulative ? row.sum : row.average }
        }
        return week
    }

    func html(_ call: PageCall) -> HTML {
        let times = call.times
        var said = call.values.said(by: latest)
        if let night { said = (SleepNight.text(night.asleep, call.values), "") }
        return """
            <li class="card" data-type="\(type.id)">
            <h3><a href="/page/type/\(type.id)">\(call.values.name(of: type))</a></h3>
            <p class="value"><span data-value>\(said.value)</span> <span class="unit" data-unit>\(said.unit)</span></p>
            <p class="from"><span data-time>\(times.element(latest.start))</span> · <span data-source>\(Self.source(of: latest))</span></p>
            \(Self.line(week))\(night?.html(call) ?? "")
            </li>

            """
    }

    /// The name of the measuring device, or else of the source.
    static func source(of sample: Sample) -> String {
        let origin = sample.origin
        if let name = origin.device?.name, !name.isEmpty { return name }
        return origin.source.name.isEmpty ? origin.source.id : origin.source.name
    }

    /// The line of a week, with gaps for days without data.
    static func line(_ week: [Double?]) -> HTML {
        let values = week.compactMap { $0 }
        guard let low = values.min(), let high = values.max(), values.count > 1 else { return "" }
        let span = high > low ? high - low : 1
        var parts: [[String]] = [[]]
        for (index, value) in week.enumerated() {
            guard let value else {
                parts.append([])
                continue
            }
            let (x, y) = (4 + index * 16, Coordinate.pixels(26 - (value - low) / span * 22))
            parts[parts.count - 1].append("\(x),\(y)")
        }
        let lines: [HTML] = parts.filter { !$0.isEmpty }.map { points in
            let corners = points.count == 1 ? points + points : points
            return "<polyline points=\"\(corners.joined(separator: " "))\"/>"
        }
        return "<svg class=\"week\" viewBox=\"0 0 104 30\" aria-hidden=\"true\" focusable=\"false\">\(lines)</svg>"
    }

    func json(_ call: PageCall) -> JSONObject {
        var object = Self.json(latest, call)
        let week = self.week.map { value in value.map { $0.isFinite ? "\($0)" : "null" } ?? "null" }
        object.set("week", raw: Array("[\(week.joined(separator: ","))]".utf8))
        return object
    }

    /// The card's contents for its latest sample.
    static func json(_ sample: Sample, _ call: PageCall) -> JSONObject {
        let said = call.values.said(by: sample)
        var object = JSONObject()
        object.set("type", sample.origin.type.id)
        object.set("name", call.values.name(of: sample.origin.type))
        object.set("value", said.value)
        object.set("unit", said.unit)
        object.set("start", sample.start.description)
        object.set("when", call.times.text(sample.start))
        object.set("source", source(of: sample))
        return object
    }
}
