import HTTPServerKit
import HealthAnswers

struct PageLayout {
    let call: PageCall
    let title: String
    /// The page's path, as in the navigation.
    var place = ""
    /// The refresh interval of the browser in seconds.
    var refresh: Int?
    /// Whether the page only shows data. Other pages also load the style of forms.
    var isReading = false
    /// The family of the page's data, which gives it a color.
    var family: HealthGroup?

    private typealias Place = (path: String, text: String, icon: Icon)

    /// The pages of the person's data. On a phone they are a bar at the bottom.
    private static let tabs: [Place] = [
        ("/page/", "nav.today", .today), ("/page/all", "nav.trends", .trends), ("/page/type/sleepAnalysis", "nav.nights", .sleep),
        ("/page/type/workout", "nav.workouts", .workout), ("/page/records", "nav.records", .records),
    ]

    /// The parts of the hub. On a wide screen they are at the side, otherwise on a page of their own.
    private static let parts: [(place: Place, isKeepers: Bool)] = [
        (("/page/devices", "nav.devices", .sensor), true), (("/page/files", "nav.files", .file), true),
        (("/page/care", "nav.care", .quality), false), (("/page/targets", "nav.targets", .export), true),
        (("/page/clients", "nav.clients", .program), false), (("/page/alerts", "alerts.title", .bell), false),
        (("/page/people", "people.title", .people), true), (("/page/hub", "nav.more", .hub), false),
    ]

    func whole(_ body: HTML, scripts: [String] = ["page.js"]) -> HTML {
        let (files, texts) = (call.site.settings.files, call.texts)
        let again: HTML = refresh.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? ""
        let scripts: [HTML] = scripts.map { "<script src=\"\(files.address(of: $0))\" defer></script>" }
        let tabbed: HTML = call.session == nil ? "" : " class=\"tabbed\""
        let color: HTML = family.map { " class=\"\($0.rawValue)\"" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="\(texts.language)" data-root="/page/">
            <head>
            <meta charset="utf-8">
            <title>\(title)\(person.map { " · \($0)" } ?? "") · Vitalgate</title>
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="\(files.address(of: "icon.svg"))" type="image/svg+xml">
            <link rel="manifest" href="\(files.address(of: manifest))">
            <link rel="apple-touch-icon" href="\(files.address(of: "icon-192.png"))">
            <link rel="stylesheet" href="\(files.address(of: "page.css"))">
            \(HTML.choose(!isReading, "<link rel=\"stylesheet\" href=\"\(files.address(of: "forms.css"))\">"))
            \(scripts)\(again)
            </head>
            <body\(tabbed)\(words)>
            <a class="skip" href="#main">\(texts("nav.skip"))</a>
            \(header)
            <main id="main" tabindex="-1"\(color)>
            \(body)
            </main>
            </body>
            </html>

            """
    }

    /// The name of the web app's manifest in the language of the page.
    private var manifest: String {
        let own = "manifest.\(call.texts.language).webmanifest"
        return call.site.settings.files.files[own] == nil ? "manifest.webmanifest" : own
    }

    /// The texts of the scripts as attributes: `data-connected` and others.
    private var words: HTML {
        let words: [HTML] = call.texts.beginning(with: "script.").map { " data-\($0.key.dropFirst(7))=\"\($0.text)\"" }
        return "\(words)"
    }

    private var header: HTML {
        let texts = call.texts
        guard call.session != nil else { return "<header class=\"shell\"><span class=\"brand\">Vitalgate</span></header>" }
        let badge = badge
        let tabs: [HTML] = Self.tabs.map { link($0) }
        let parts: [HTML] = Self.parts.filter { !$0.isKeepers || call.isOwner }.map {
            link($0.place, badge: $0.place.path == "/page/care" ? badge : "")
        }
        return """
            <header class="shell">
            \(owner)
            <nav class="tabs" aria-label="\(texts("nav.label"))"><ul>\(tabs)</ul></nav>
            <a class="icon add" href="/page/add">\(Icon.plus.html)<span class="hidden">\(texts("entry.title"))</span></a>
            <a class="icon tohub" href="/page/hub">\(Icon.hub.html)<span class="hidden">\(texts("nav.more"))</span>\(badge)</a>
            <nav class="hub" aria-label="\(texts("nav.more"))"><ul>\(parts)</ul></nav>
            </header>
            """
    }

    private func link(_ place: Place, badge: HTML = "") -> HTML {
        let current: HTML = place.path == self.place ? " aria-current=\"page\"" : ""
        return "<li><a href=\"\(place.path)\"\(current)>\(place.icon.html)\(call.texts(place.text))\(badge)</a></li>"
    }

    /// The name of the person whose data the page shows. `nil` if the person has no name.
    private var person: String? {
        guard call.session != nil, let name = call.personName else { return nil }
        return name
    }

    /// The person's name with a way to the other people, or back to the person who logged in, and out.
    private var owner: HTML {
        let texts = call.texts
        let name = person ?? texts.person("me")
        var others: [HTML] = []
        if call.session?.opener != nil {
            others.append(
                """
                <li><form method="post" action="/page/people/back"><button>\(Icon.right.html)\(texts("people.back"))</button></form></li>
                """)
        } else if call.isOwner {
            others = PeoplePage.others(call).map { personID, name in
                """
                <li><form method="post" action="/page/people">\(FormFields.hidden([("do", "switch"), ("person", personID)]))\
                <button aria-label="\(texts("people.switchOf", name))"><span class="face b">\(name.prefix(1))</span>\(name)</button></form></li>
                """
            }
            others.append("<li><a href=\"/page/people\">\(Icon.people.html)\(texts("people.title"))</a></li>")
        }
        return """
            <details class="who"><summary aria-label="\(texts("people.whose", name))"><span class="face">\(name.prefix(1).uppercased())</span>\
            <span class="person">\(name)</span>\(Icon.down.html)</summary><div class="menu"><ul>
            <li><span class="self" aria-current="true"><span class="face">\(name.prefix(1).uppercased())</span>\(name)</span></li>\(others)
            <li><form method="post" action="/page/logout"><button>\(Icon.right.html)\(texts("nav.logout"))</button></form></li>
            </ul></div></details>
            """
    }

    /// The number of readings that need a decision.
    private var badge: HTML {
        guard let count = try? call.doubts().all, count > 0 else { return "" }
        return "<span class=\"badge\">\(count) <span class=\"hidden\">\(call.texts("nav.badge"))</span></span>"
    }
}
