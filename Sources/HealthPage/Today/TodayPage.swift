import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The Today page: a sentence, what needs the person, one large card, a few others, and a list of the rest, with live updates.
enum TodayPage {
    static let routes = [
        PageRoute(method: "GET", path: "", answer: page),
        PageRoute(method: "GET", path: "data/today", answer: data),
        PageRoute(
            method: "GET", path: "live",
            answer: { call in
                var response = HTTPResponse(type: "text/event-stream", try PageStream(call))
                response.headers += [("Cache-Control", "no-store"), ("Vary", "Cookie, Accept-Encoding")]
                return response
            }),
    ]

    /// The highest number of cards beside the large one, and of rows in the list.
    private static let (maximumCards, maximumRows) = (4, 8)
    private static let day: Int64 = 86_400_000_000
    /// A card needs a reading of the last week, in microseconds.
    private static let recent = 7 * day
    /// The types of the cards, until the person arranges them.
    private static let main = [
        "stepCount", "bloodGlucose", "bloodPressure", "bodyMass", "heartRate", "sleepAnalysis", "bodyTemperature",
        "restingHeartRate",
        "oxygenSaturation", "activeEnergyBurned",
    ]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        let cards = try TypeCard.all(reader, call)
        let layout = try CardLayout(call)
        let texts = call.texts
        let body: HTML = """
            \(try done(call))
            \(cards.isEmpty ? FirstRun.html(call) : try sentence(cards, reader, call))
            \(try NeedsYou(call).html)
            \(try NotesPage.today(call))
            \(cards.isEmpty ? "" : try choice(cards, layout, reader, call))
            """
        let hidden = layout.layout.hidden.sorted().joined(separator: " ")
        return .page(
            PageLayout(call: call, title: texts("today.title"), place: "/page/", isReading: !cards.isEmpty).whole(
                """
                <p id="live" class="live" role="status" hidden></p>
                <div data-today data-hidden="\(hidden)">
                \(body)
                </div>
                """))
    }

    /// What became of the last action on what needs the person.
    private static func done(_ call: PageCall) throws -> HTML {
        switch call.text("done") {
        case "dismissed"?: toast("care.done.dismissed", try RepairPage.undoForm(call), call)
        case "checkedAgain"?: toast("care.done.checkedAgain", "", call)
        case "judged"?: toast("care.done.judged", "", call)
        case "seen"?: toast("alerts.done", "<a href=\"/page/alerts\">\(call.texts("alerts.title"))</a>", call)
        default: ""
        }
    }

    private static func toast(_ key: String, _ action: HTML, _ call: PageCall) -> HTML {
        "<div class=\"done acts\" role=\"status\"><p>\(call.texts(key))</p>\(action)</div>"
    }

    private static func sentence(_ cards: [TypeCard], _ reader: Reader, _ call: PageCall) throws -> HTML {
        let today = try TrustedReadings.today(reader, of: call.person().person, call)
        let goals = try call.records().goals().values.filter { $0.span == .day }
        let facts = try today.facts(
            of: cards.map(\.today), person: call.person().person, at: call.now,
            goals: Dictionary(goals.map { ($0.type, $0.value) }) { first, _ in first },
            isDoubtful: { type in
                cards.first { $0.type == type }.map { $0.doubts.quarantined + $0.doubts.suspicious > 0 } ?? false
            },
            source: { TypeCard.source(of: $0, call.texts) })
        return TodaySentence(facts: facts, call: call).html
    }

    /// The large card, the others, and the list of what else is of today.
    private static func choice(_ cards: [TypeCard], _ layout: CardLayout, _ reader: Reader, _ call: PageCall) throws -> HTML {
        let (texts, now) = (call.texts, call.now)
        // A route is on the page of its workout.
        let shown = cards.filter { !layout.isHidden($0.type.id) && $0.type.kind != .workoutRoute }
        let ranks = Dictionary(main.enumerated().map { ($1, $0) }) { first, _ in first }
        let recommended = shown.enumerated().sorted {
            (ranks[$0.element.type.id] ?? .max, $0.offset) < (ranks[$1.element.type.id] ?? .max, $1.offset)
        }.map(\.element)
        let arranged = layout.sorted(recommended) { $0.type.id }
        let hero = hero(of: arranged, call)
        let isArranged = !layout.layout.order.isEmpty
        let stats = arranged.filter { card in
            card.type != hero?.type && now.microseconds - card.latest.end.microseconds < recent
                && (isArranged || card.type.kind == .quantity || ranks[card.type.id] != nil)
        }.prefix(maximumCards)
        let known = Set(stats.map(\.type) + [hero?.type].compactMap { $0 })
        let days = CalendarIntervals(.day, zone: call.zone)
        let rest = arranged.filter {
            $0.type.id != "batteryLevel" && !known.contains($0.type) && days.index(of: $0.end) == days.index(of: now)
        }
        // Rings without goals are among all data only.
        let found: HTML = layout.isHidden(CardLayout.rings) ? "" : try RingsCard.html(reader, call)
        let rings: HTML = found.text.contains("<svg viewBox=\"0 0 100 100\"") ? found : ""
        let large: HTML = hero?.html(call, form: .hero, others: others(of: hero, cards, call)) ?? ""
        let small: [HTML] = stats.map { $0.html(call, form: .stat, others: others(of: $0, cards, call)) }
        let rows: [HTML] = rest.prefix(maximumRows).map { $0.row(call) }
        let list: HTML = """
            <div class="cap"><h2>\(texts("today.more"))</h2><a href="/page/cards">\(texts("cards.title"))</a></div>
            <ul class="rows two card">\(rows)</ul>
            """
        let hidden = layout.layout.hidden.count
        let note: HTML = "<a class=\"src\" href=\"/page/cards\">\(texts("cards.hidden", "\(hidden)"))</a>"
        return """
            <ul class="grid">\(rings.text.isEmpty ? alone(large) : large)\(rings)\(small)</ul>
            \(HTML.choose(!rows.isEmpty, list))
            <div class="pager"><a class="button" href="/page/all">\(texts("all.link", "\(cards.count)"))</a>\(HTML.choose(hidden > 0, note))</div>
            """
    }

    /// A large card without another one beside it is as wide as the page.
    private static func alone(_ card: HTML) -> HTML { HTML(stringLiteral: card.text.replacing("hero w8", with: "hero alone")) }

    /// The type of the large card: a raised temperature of the last day, the night until noon, and steps later.
    private static func hero(of cards: [TypeCard], _ call: PageCall) -> TypeCard? {
        let days = CalendarIntervals(.day, zone: call.zone)
        func card(_ id: String, _ passes: (TypeCard) -> Bool) -> TypeCard? { cards.first { $0.type.id == id && passes($0) } }
        func isToday(_ card: TypeCard) -> Bool { days.index(of: card.end) == days.index(of: call.now) }
        if let fever = card(
            "bodyTemperature",
            {
                $0.latest.value >= TodayFact.fever
                    && call.now.microseconds - $0.latest.start.microseconds <= TodayFact.feverTime
            })
        {
            return fever
        }
        let (night, steps) = (card("sleepAnalysis", isToday), card("stepCount", isToday))
        let isMorning = call.now < Instant(microseconds: days.start(of: days.index(of: call.now)).microseconds + day / 2)
        return (isMorning ? night ?? steps : steps ?? night) ?? cards.first
    }

    /// The resting heart rate, which also belongs to the card of the heart rate.
    static func others(of card: TypeCard?, _ cards: [TypeCard], _ call: PageCall) -> [String] {
        guard card?.type == .heartRate, let resting = cards.first(where: { $0.type.id == "restingHeartRate" }) else { return [] }
        return [
            call.texts(
                "card.resting", CardFacts.joined(resting.value.value, resting.value.unit), call.times.text(resting.latest.start))
        ]
    }

    @Sendable private static func data(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        let object = JSONObject(["cards": try TypeCard.all(reader, call).map { $0.json(call) }])
        return .data(object.line)
    }
}
