import HTTPServerKit
import HealthAnswers
import HealthModel
import SampleStore

/// The page of all data: a card for each of the person's types by group.
enum AllPage {
    static let routes = [PageRoute(method: "GET", path: "all", answer: page)]

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
                (key: $0.type.id, html: $0.html(call, others: TodayPage.others(of: $0, cards, call)))
            }
            if group == .activity { items.insert((CardLayout.rings, rings), at: 0) }
            return section(group.rawValue, "\(layout.sorted(items) { $0.key }.map(\.html))", call)
        }
        let hidden = layout.layout.hidden.sorted()
        let note: HTML = """
            <p class="note"><a href="/page/cards">\(texts("cards.hidden", "\(hidden.count)"))</a></p>
            """
        let body: HTML = """
            <p id="live" class="live" role="status" hidden></p>
            <h1>\(texts("all.title"))</h1>
            <div data-today data-hidden="\(hidden.joined(separator: " "))">
            \(HTML.choose(cards.isEmpty, "<p>\(texts("today.nothing"))</p>"))
            \(groups)
            \(section("older", "\(older.map { $0.html(call) })", call))
            \(HTML.choose(!hidden.isEmpty, note))
            </div>
            <p><a class="button" href="/page/cards">\(texts("cards.title"))</a></p>
            <p><a class="button" href="/page/characteristics">\(texts("characteristic.title"))</a></p>
            """
        return .page(PageLayout(call: call, title: texts("all.title"), place: "/page/all", isReading: true).whole(body))
    }

    private static func section(_ key: String, _ items: HTML, _ call: PageCall) -> HTML {
        guard !items.text.isEmpty else { return "" }
        return """
            <section aria-labelledby="\(key)"><h2 id="\(key)">\(call.texts("group." + key))</h2><ul class="cards">\(items)</ul></section>

            """
    }
}
