import Formats
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The card of a type: its value today, facts about it, and a drawing of the last seven days.
struct TypeCard {
    let today: TypeToday
    let doubts: (quarantined: Int, suspicious: Int)
    /// The last night, for sleep.
    let night: SleepNight?

    /// The displayed value and unit.
    let value: (value: String, unit: String)

    var type: SampleType { today.type }
    var latest: Sample { today.latest.sample }
    var group: HealthGroup { HealthGroup(of: type) }

    /// The cards of all the person's types, in the order of ``HealthGroup``.
    static func all(_ reader: Reader, _ call: PageCall) throws -> [TypeCard] {
        let today = TodayReader(reader.store, zone: call.zone, priority: call.core.settings.priority)
        let doubts = try call.doubts()
        return try today.types(of: call.person().subject, at: call.now).map { each in
            let night = each.night.map(SleepNight.init)
            let value = try value(of: each.latest.sample, night, each.total, reader, call)
            return TypeCard(today: each, doubts: doubts.counts(of: each.type), night: night, value: value)
        }
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

    /// - Parameter others: The facts of other types that belong to this card.
    func html(_ call: PageCall, others: [String] = []) -> HTML {
        let isTotal = type.kind == .quantity && type.aggregation == .cumulative
        let facts: [HTML] = (CardFacts(today, call).all + others).map { "<li>\($0)</li>" }
        return """
            <li class="card" data-type="\(type.id)">
            <h3><a href="/page/type/\(type.id)">\(call.values.name(of: type))</a></h3>
            <p class="value"><span data-value>\(value.value)</span> <span class="unit" data-unit>\(value.unit)</span></p>
            <p class="from">\(HTML.choose(isTotal, "\(call.texts("card.until")) "))<span data-time>\(call.times.element(of: latest))</span> · <span data-source>\(Self.source(of: latest, call.texts))</span></p>
            \(HTML.choose(!facts.isEmpty, "<ul class=\"facts\">\(facts)</ul>"))\(GoalsPage.cardNote(of: type, call))\(doubt(call))\(drawing)\(night?.html(call) ?? "")
            </li>

            """
    }

    /// The mark of readings that need a decision.
    private func doubt(_ call: PageCall) -> HTML {
        var words: [String] = []
        if doubts.quarantined > 0 { words.append(call.texts("card.quarantined", "\(doubts.quarantined)")) }
        if doubts.suspicious > 0 { words.append(call.texts("card.suspicious")) }
        return words.isEmpty ? "" : "<p class=\"doubt\"><a href=\"/page/care\">\(words.joined(separator: " "))</a></p>"
    }

    /// The finished days of the week. Today is not comparable with them yet.
    private var drawing: HTML {
        func finished(_ week: [Double?]) -> [Double?] { Array(week.dropLast()) }
        return today.diastolicWeek.isEmpty
            ? Self.line(finished(today.week)) : Self.bars(from: finished(today.diastolicWeek), to: finished(today.week))
    }

    /// The name of the measuring device, or else of the source.
    static func source(of sample: Sample, _ texts: PageTexts) -> String {
        let origin = sample.origin
        if let name = origin.device?.name, !name.isEmpty { return texts.device(name) }
        return texts.source(origin.source.id, name: origin.source.name)
    }

    /// The names of the measuring device and of the source.
    static func sources(of sample: Sample, _ texts: PageTexts) -> String {
        let origin = sample.origin
        let (device, source) = (source(of: sample, texts), texts.source(origin.source.id, name: origin.source.name))
        return device == source ? source : "\(device), \(source)"
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

    /// A bar for each day of a week, from one figure to another. There is no bar for a day without data.
    private static func bars(from lower: [Double?], to upper: [Double?]) -> HTML {
        let days = zip(lower, upper).map { low, high in low.flatMap { low in high.map { (low, $0) } } }
        let known = days.compactMap { $0 }
        guard let low = known.map(\.0).min(), let high = known.map(\.1).max(), known.count > 1 else { return "" }
        let span = high > low ? high - low : 1
        let lines: [HTML] = days.enumerated().compactMap { index, day in
            guard let day else { return nil }
            let ends = [day.0, day.1].map { Coordinate.pixels(26 - ($0 - low) / span * 22) }
            return "<polyline points=\"\(4 + index * 16),\(ends[0]) \(4 + index * 16),\(ends[1])\"/>"
        }
        return "<svg class=\"week bars\" viewBox=\"0 0 104 30\" aria-hidden=\"true\" focusable=\"false\">\(lines)</svg>"
    }

    func json(_ call: PageCall) -> JSONObject {
        var object = Self.json(latest, value, call)
        let week = today.week.map { value in value.map { $0.isFinite ? "\($0)" : "null" } ?? "null" }
        object.set("week", raw: Array("[\(week.joined(separator: ","))]".utf8))
        object.set("group", group.rawValue)
        object.set("facts", CardFacts(today, call).all)
        return object
    }

    /// The contents of a card after a new sample.
    static func json(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> JSONObject {
        let figures = DailyFigures(reader.store, zone: call.zone, priority: call.core.settings.priority)
        let night = sample.origin.type.id == "sleepAnalysis" ? try SleepNight(reader, call) : nil
        return json(sample, try value(of: sample, night, try figures.total(of: sample), reader, call), call)
    }

    private static func json(_ sample: Sample, _ value: (value: String, unit: String), _ call: PageCall) -> JSONObject {
        var object = JSONObject()
        object.set("type", sample.origin.type.id)
        object.set("name", call.values.name(of: sample.origin.type))
        object.set("value", value.value)
        object.set("unit", value.unit)
        object.set("start", sample.start.description)
        object.set("when", call.times.text(of: sample))
        object.set("source", source(of: sample, call.texts))
        return object
    }
}
