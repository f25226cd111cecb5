import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The Today page: a card for each of the person's types by group, with live updates.
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

    /// A type without newer samples is listed at the end, in microseconds.
    private static let recent: Int64 = 45 * 86_400_000_000

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        let cards = try TypeCard.all(reader, call)
        let layout = try CardLayout(call)
        // A route is on the page of its workout.
        let shown = layout.sorted(cards.filter { !layout.isHidden($0.type.id) && $0.type.kind != .workoutRoute }) { $0.type.id }
        let (texts, now) = (call.texts, call.now)
        let current = shown.filter { now.microseconds - $0.latest.start.microseconds < recent }
        let older = shown.filter { now.microseconds - $0.latest.start.microseconds >= recent }
        let rings: HTML = layout.isHidden(CardLayout.rings) ? "" : try RingsCard.html(reader, call)
        let groups: [HTML] = layout.groups.map { group in
            var items = current.filter { $0.group == group }.map {
                (key: $0.type.id, html: $0.html(call, others: others(of: $0, cards, call)))
            }
            if group == .activity { items.insert((CardLayout.rings, rings), at: 0) }
            return section(group.rawValue, "\(layout.sorted(items) { $0.key }.map(\.html))", call)
        }
        let hidden = layout.layout.hidden.sorted()
        let note: HTML = """
            <p class="note"><a href="/page/cards">\(texts("cards.hidden", "\(hidden.count)"))</a></p>
            """
        let body: HTML = """
            <h1 data-today data-hidden="\(hidden.joined(separator: " "))">\(texts("today.title"))</h1>
            <p id="live" class="live" role="status" hidden></p>
            \(try HouseholdBar.html(call))
            \(cards.isEmpty ? nothing(call) : "")
            \(groups)
            \(section("older", "\(older.map { $0.html(call) })", call))
            \(HTML.choose(!hidden.isEmpty, note))
            <p><a href="/page/characteristics">\(texts("characteristic.title"))</a></p>
            """
        return .page(PageLayout(call: call, title: texts("today.title"), place: "/page/").whole(body))
    }

    private static func section(_ key: String, _ items: HTML, _ call: PageCall) -> HTML {
        guard !items.text.isEmpty else { return "" }
        return """
            <section aria-labelledby="\(key)"><h2 id="\(key)">\(call.texts("group." + key))</h2><ul class="cards">\(items)</ul></section>

            """
    }

    /// The resting heart rate, which also belongs to the card of the heart rate.
    private static func others(of card: TypeCard, _ cards: [TypeCard], _ call: PageCall) -> [String] {
        guard card.type == .heartRate, let resting = cards.first(where: { $0.type.id == "restingHeartRate" }) else { return [] }
        return [
            call.texts(
                "card.resting", CardFacts.joined(resting.value.value, resting.value.unit), call.times.text(resting.latest.start))
        ]
    }

    /// What a person can do if there are no readings.
    private static func nothing(_ call: PageCall) -> HTML {
        let texts = call.texts
        guard call.isKeeper else { return "<p>\(texts("today.nothing")) \(texts("today.askOwner"))</p>" }
        return """
            <p>\(texts("today.nothing"))</p>
            <ul><li><a href="/page/devices">\(texts("today.adopt"))</a></li><li><a href="/page/files">\(texts("today.import"))</a></li></ul>
            """
    }

    @Sendable private static func data(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        var object = JSONObject()
        object.set("cards", try TypeCard.all(reader, call).map { $0.json(call) })
        return .data(object.line)
    }
}
