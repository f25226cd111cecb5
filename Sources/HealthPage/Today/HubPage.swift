import HTTPServerKit

/// The list of everything that a person can do besides reading, and of the parts of the hub.
enum HubPage {
    static let routes = [PageRoute(method: "GET", path: "hub", answer: page)]

    private typealias Link = (path: String, text: String, icon: Icon)

    private static let own: [Link] = [
        ("/page/add", "entry.title", .plus), ("/page/notes", "notes.title", .records), ("/page/goals", "goals.title", .activity),
        ("/page/alerts", "alerts.title", .bell), ("/page/report", "report.title", .file), ("/page/upload", "upload.title", .file),
        ("/page/care", "nav.care", .quality), ("/page/deleted", "deleted.title", .records),
        ("/page/cards", "cards.title", .today),
        ("/page/characteristics", "characteristic.title", .body), ("/page/clients", "nav.clients", .program),
    ]

    private static let hub: [Link] = [
        ("/page/devices", "nav.devices", .sensor), ("/page/files", "nav.files", .file), ("/page/targets", "nav.targets", .export),
        ("/page/people", "people.title", .people),
    ]

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        let hub: HTML = "<h2>\(texts("hub.parts"))</h2><ul class=\"card rows two\">\(rows(hub, call))</ul>"
        let body: HTML = """
            <h1>\(texts("nav.more"))</h1>
            <h2>\(texts("hub.own"))</h2>
            <ul class="card rows two">\(rows(own, call))</ul>
            \(HTML.choose(call.isOwner, hub))
            """
        return .page(PageLayout(call: call, title: texts("nav.more"), place: "/page/hub").whole(body))
    }

    private static func rows(_ links: [Link], _ call: PageCall) -> [HTML] {
        let doubts = (try? call.doubts().all) ?? 0
        let badge: HTML = "<span class=\"badge\">\(doubts)<span class=\"hidden\"> \(call.texts("nav.badge"))</span></span>"
        return links.map { link in
            """
            <li>\(link.icon.html)<span class="grow"><a href="\(link.path)">\(call.texts(link.text))</a></span>\
            \(HTML.choose(link.path == "/page/care" && doubts > 0, badge))</li>

            """
        }
    }
}
