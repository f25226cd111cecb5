import Formats
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The card of a type: its value today, facts about it, and a drawing of the last seven days.
struct TypeCard {
    let today: TypeToday
    let doubts: (quarantined: Int, suspicious: Int)
    let night: SleepNight?

    let value: (value: String, unit: String)

    var type: SampleType { today.type }
    var latest: Sample { today.latest.sample }
    /// The end of the night or of the latest sample, whichever the card shows.
    var end: Instant { today.night.map { Instant(microseconds: $0.end) } ?? latest.end }
    var group: HealthGroup { HealthGroup(of: type) }

    /// The cards of all the person's types, in the order of ``HealthGroup``.
    static func all(_ reader: Reader, _ call: PageCall) throws -> [TypeCard] {
        let today = try TrustedReadings.today(reader, of: call.person().person, call)
        let doubts = try call.doubts()
        return try today.types(of: call.person().person, at: call.now).map { each in
            let night = each.night.map(SleepNight.init)
            let value = try value(of: each.latest.sample, night, each.total, reader, call)
            return TypeCard(today: each, doubts: doubts.counts(of: each.type), night: night, value: value)
        }
    }

    /// The value of a card: the last night for sleep, for cumulative types the sum of the latest sample's day, and otherwise the latest
    /// sample's own value.
    static func value(
        of sample: Sample, _ night: SleepNight?, _ total: Double?, _ reader: Reader, _ call: PageCall
    ) throws -> (value: String, unit: String) {
        if let night { return (SleepNight.text(night.length, call.values), "") }
        if let total { return call.values.amount(total, of: sample.origin.type) }
        return try call.values.shown(sample, in: reader.store)
    }

    enum Form: String {
        /// The only large card of Today.
        case hero = "card stat hero w8"
        case stat = "card stat w3"
        /// A card in the list of all data.
        case plain = "card stat"
    }

    /// - Parameter others: The facts of other types that belong to this card.
    func html(_ call: PageCall, form: Form = .plain, others: [String] = []) -> HTML {
        let facts: [HTML] = (CardFacts(today, call).all + others).map { "<li>\($0)</li>" }
        let heading: HTML = form == .plain ? "h3" : "h2"
        let goal = GoalsPage.dayGoal(of: type, call)
        let name = form == .hero && night != nil ? call.texts("today.lastNight") : call.values.name(of: type)
        let drawing =
            night?.html(call) ?? (form == .hero ? FeverDrawing.html(latest, call) : nil)
            ?? StatDrawing(today: today, goal: goal, call: call).html
        return """
            <li class="\(form.rawValue) \(type.family.rawValue)" data-type="\(type.id)">
            <header>\(Icon(type).html)<\(heading)><a href="/page/type/\(type.id)">\(name)</a></\(heading)>\(time(call))</header>
            <div>\(figure)\(HTML.choose(!facts.isEmpty, "<ul class=\"facts\">\(facts)</ul>"))\(GoalsPage.cardNote(of: type, call))\
            <p class="src" data-source>\(Self.source(of: latest, call.texts))</p>\(form == .plain ? doubt(call) : "")</div>
            \(drawing)
            </li>

            """
    }

    func row(_ call: PageCall) -> HTML {
        let facts = CardFacts(today, call).all.prefix(1).joined(separator: " ")
        return """
            <li class="\(type.family.rawValue)" data-type="\(type.id)">\(Icon(type).html)<span class="grow"><a href="/page/type/\(type.id)">\(call.values.name(of: type))</a>\
            <small class="s">\(time(call))\(HTML.choose(!facts.isEmpty, " · \(facts)"))<span class="hidden" data-source>\(Self.source(of: latest, call.texts))</span></small></span>\
            <span class="val"><b data-value>\(value.value)</b> <small class="s" data-unit>\(value.unit)</small></span></li>

            """
    }

    private var figure: HTML {
        // A long text is smaller, and so is a long word.
        let isLong = value.value.count > 14 || value.value.split(separator: " ").contains { $0.count > 11 }
        return """
            <p class="num"><span data-value\(HTML.choose(isLong, " class=\"long\""))>\(value.value)</span> <small data-unit>\(value.unit)</small></p>
            """
    }

    /// The time of the latest sample, or the interval of a night.
    private func time(_ call: PageCall) -> HTML {
        if let night { return "<span class=\"s quiet\"><span data-time>\(night.interval(call))</span></span>" }
        let isTotal = type.kind == .quantity && type.aggregation == .cumulative
        let until: HTML = HTML.choose(isTotal, "<span class=\"hidden\">\(call.texts("card.until")) </span>")
        let element: HTML =
            isTotal
            ? "<time datetime=\"\(latest.start.description)\">\(Self.time(of: latest, call))</time>"
            : call.times.element(of: latest)
        return "<span class=\"s quiet\">\(until)<span data-time>\(element)</span></span>"
    }

    /// The time of a sample. A total reaches to the end of its latest sample.
    private static func time(of sample: Sample, _ call: PageCall) -> String {
        let isTotal = sample.origin.type.kind == .quantity && sample.origin.type.aggregation == .cumulative
        return isTotal ? call.times.text(sample.end) : call.times.text(of: sample)
    }

    /// The mark of readings that need a decision.
    private func doubt(_ call: PageCall) -> HTML {
        var words: [String] = []
        if doubts.quarantined > 0 { words.append(call.texts("card.quarantined", "\(doubts.quarantined)")) }
        if doubts.suspicious > 0 { words.append(call.texts("card.suspicious")) }
        return words.isEmpty ? "" : "<p class=\"doubt\"><a href=\"/page/care\">\(words.joined(separator: " "))</a></p>"
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

    func json(_ call: PageCall) -> JSONObject {
        var object = Self.json(latest, value, call)
        let week = today.week.suffix(7).map { value in value.map { $0.isFinite ? "\($0)" : "null" } ?? "null" }
        object.set("week", raw: Array("[\(week.joined(separator: ","))]".utf8))
        object.set("group", group.rawValue)
        object.set("facts", CardFacts(today, call).all)
        return object
    }

    /// The contents of a card after a new sample.
    static func json(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> JSONObject {
        let figures = DailyFigures(
            reader.store, zone: call.zone, priority: call.core.settings.priority,
            conditions: try TrustedReadings.conditions(of: call.person().person, call))
        let night = sample.origin.type.id == "sleepAnalysis" ? try SleepNight(reader, call) : nil
        return json(sample, try value(of: sample, night, try figures.total(of: sample), reader, call), call)
    }

    private static func json(_ sample: Sample, _ value: (value: String, unit: String), _ call: PageCall) -> JSONObject {
        [
            "type": sample.origin.type.id, "name": call.values.name(of: sample.origin.type), "value": value.value,
            "unit": value.unit, "start": sample.start.description, "when": time(of: sample, call),
            "source": source(of: sample, call.texts),
        ]
    }
}
