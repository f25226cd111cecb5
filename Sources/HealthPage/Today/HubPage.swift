import HTTPServerKit
import HealthModel

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
        let parts: HTML = "<h2>\(texts("hub.parts"))</h2><ul class=\"card rows two\">\(rows(hub, call))</ul>"
        let body: HTML = """
            <h1>\(texts("nav.more"))</h1>
            <h2>\(texts("hub.own"))</h2>
            <ul class="card rows two">\(rows(own, call))</ul>
            \(HTML.choose(call.isOwner, parts))
            \(HTML.choose(call.isOwner, backups(call)))
            """
        return .page(PageLayout(call: call, title: texts("nav.more"), place: "/page/hub", isReading: true).whole(body))
    }

    /// The last and the last proven backup at each location, and what is wrong with them.
    private static func backups(_ call: PageCall) -> HTML {
        let (texts, backups) = (call.texts, call.site.settings.hub?.backups() ?? [])
        guard !backups.isEmpty else { return "" }
        func time(_ time: Instant?) -> HTML { time.map { "\(call.times.element($0))" } ?? "\(texts("backups.none"))" }
        let rows: [HTML] = backups.map { backup in
            let trouble = backup.trouble.map { texts("alerts.message.backup\($0)", backup.name, "\(backup.days)") }
            return """
                <tr><th scope="row">\(backup.name)</th><td>\(time(backup.made))</td><td>\(time(backup.proven))</td>\
                <td>\(trouble ?? "")</td></tr>
                """
        }
        let headings = ["backups.location", "backups.last", "backups.proven", "care.state"].map { texts($0) }
        return "<h2>\(texts("backups.title"))</h2>\(ClientsPage.table("backups", texts("backups.title"), headings, rows))"
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
