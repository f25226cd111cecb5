import Formats
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The card of a type: its value today and a line for the last seven days.
struct TypeCard {
    let type: SampleType
    let latest: Sample
    /// One value a day, with today last: the sum for cumulative types, otherwise the average. Days without data are `nil`.
    let week: [Double?]
    /// The last night, for sleep.
    let night: SleepNight?

    /// The displayed value and unit.
    let value: (value: String, unit: String)

    /// The cards of all the person's types, sorted by name. Two pressures of one measurement are a single card.
    static func all(_ reader: Reader, _ call: PageCall) throws -> [TypeCard] {
        var latest: [SampleType: StoredSample] = [:]
        // The rings are drawn above the cards.
        for stored in try LatestSamples.all(in: reader.store, at: call.now)
        where stored.sample.origin.kind != .activitySummary { latest[stored.sample.origin.type] = stored }
        try joinPressures(in: &latest, reader, before: Instant(microseconds: call.now.microseconds + LatestSamples.leeway))
        let names = latest.keys.map { (type: $0, name: call.values.name(of: $0)) }.sorted {
            ($0.name, $0.type.id) < ($1.name, $1.type.id)
        }
        return try names.compactMap { type, _ in try latest[type].map { try TypeCard($0.sample, reader, call) } }
    }

    /// Replaces the systolic and the diastolic pressure by the blood pressure that contains them.
    private static func joinPressures(in latest: inout [SampleType: StoredSample], _ reader: Reader, before soon: Instant) throws
    {
        guard let whole = SampleType(BloodPressure.type) else { return }
        var query = SampleQuery(types: [whole], to: soon, descending: true, limit: 1)
        query.derivesCorrelations = true
        let cursor = try reader.store.samples(matching: query)
        defer { cursor.close() }
        guard let newest = try cursor.next() else { return }
        latest[whole] = newest
        for part in [SampleType.bloodPressureSystolic, .bloodPressureDiastolic] {
            if let single = latest[part], single.sample.start <= newest.sample.start { latest[part] = nil }
        }
    }

    private init(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws {
        let figures = DailyFigures(reader.store, zone: call.zone, priority: call.core.settings.priority)
        (type, latest) = (sample.origin.type, sample)
        week = try figures.figures(of: type, subject: call.person().subject, count: 7, through: call.now)
        night = try Self.night(of: type, reader, call)
        value = try Self.value(of: sample, night, try figures.total(of: sample, known: week, through: call.now), reader, call)
    }

    private static func night(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> SleepNight? {
        type.id == "sleepAnalysis" ? try SleepNight(reader, call) : nil
    }

    /// The value of a card: the last night for sleep, for cumulative types the sum of the latest sample's day, and otherwise the latest
    /// sample's own value.
    private static func value(
        of sample: Sample, _ night: SleepNight?, _ total: Double?, _ reader: Reader, _ call: PageCall
    ) throws -> (value: String, unit: String) {
        if let night { return (SleepNight.text(night.length, call.values), "") }
        if let total { return call.values.amount(total, of: sample.origin.type) }
        return try call.values.shown(sample, in: reader.store)
    }

    func html(_ call: PageCall) -> HTML {
        let isTotal = type.kind == .quantity && type.aggregation == .cumulative
        return """
            <li class="card" data-type="\(type.id)">
            <h3><a href="/page/type/\(type.id)">\(call.values.name(of: type))</a></h3>
            <p class="value"><span data-value>\(value.value)</span> <span class="unit" data-unit>\(value.unit)</span></p>
            <p class="from">\(HTML.choose(isTotal, "\(call.texts("card.until")) "))<span data-time>\(call.times.element(latest.start))</span> · <span data-source>\(Self.source(of: latest))</span></p>
            \(GoalsPage.cardNote(of: type, call))\(Self.line(week))\(night?.html(call) ?? "")
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
        var object = Self.json(latest, value, call)
        let week = self.week.map { value in value.map { $0.isFinite ? "\($0)" : "null" } ?? "null" }
        object.set("week", raw: Array("[\(week.joined(separator: ","))]".utf8))
        return object
    }

    /// The contents of a card after a new sample.
    static func json(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> JSONObject {
        let figures = DailyFigures(reader.store, zone: call.zone, priority: call.core.settings.priority)
        let night = try night(of: sample.origin.type, reader, call)
        return json(sample, try value(of: sample, night, try figures.total(of: sample), reader, call), call)
    }

    private static func json(_ sample: Sample, _ value: (value: String, unit: String), _ call: PageCall) -> JSONObject {
        var object = JSONObject()
        object.set("type", sample.origin.type.id)
        object.set("name", call.values.name(of: sample.origin.type))
        object.set("value", value.value)
        object.set("unit", value.unit)
        object.set("start", sample.start.description)
        object.set("when", call.times.text(sample.start))
        object.set("source", source(of: sample))
        return object
    }
}
