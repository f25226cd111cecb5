import Formats
import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The Today page: a card for each of the person's types, with live updates.
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

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        let cards = try TypeCard.all(reader, call)
        let (texts, now) = (call.texts, call.now)
        let recent = cards.filter { now.microseconds - $0.latest.start.microseconds < 36 * 3_600_000_000 }
        let older = cards.filter { now.microseconds - $0.latest.start.microseconds >= 36 * 3_600_000_000 }
        func section(_ key: String, _ cards: [TypeCard]) -> HTML {
            guard !cards.isEmpty else { return "" }
            let items = cards.map { $0.html(call) }
            return
                "<section aria-labelledby=\"\(key)\"><h2 id=\"\(key)\">\(texts("today." + key))</h2><ul class=\"cards\">\(items)</ul></section>"
        }
        let nothing: HTML = cards.isEmpty ? "<p>\(texts("today.nothing"))</p>" : ""
        let body: HTML = """
            <h1 data-today>\(texts("today.title"))</h1>
            <p id="live" class="live" role="status" hidden></p>
            \(try HouseholdBar.html(call))
            \(nothing)
            \(try RingsCard.html(reader, call))
            \(section("recent", recent))
            \(section("older", older))
            """
        return .page(PageLayout(call: call, title: texts("today.title"), place: "/page/").whole(body))
    }

    @Sendable private static func data(_ call: PageCall) throws -> HTTPResponse {
        let reader = try call.reader()
        var object = JSONObject()
        object.set("cards", try TypeCard.all(reader, call).map { $0.json(call) })
        return .data(object.line)
    }
}
