import HTTPServerKit

/// The common layout of all pages.
struct PageLayout {
    let call: PageCall
    let title: String
    /// The page's path, as in the navigation.
    var place = ""
    /// The refresh interval of the browser in seconds.
    var refresh: Int?

    /// The navigation's links.
    private static let places: [(path: String, text: String, isKeepers: Bool)] = [
        ("/page/", "nav.today", false), ("/page/clients", "nav.clients", false), ("/page/care", "nav.care", false),
        ("/page/devices", "nav.devices", true), ("/page/files", "nav.files", true), ("/page/targets", "nav.targets", true),
    ]

    /// A complete page.
    func whole(_ body: HTML, scripts: [String] = ["page.js"]) -> HTML {
        let (files, texts) = (call.site.settings.files, call.texts)
        let again: HTML = refresh.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? ""
        let scripts: [HTML] = scripts.map { "<script src=\"\(files.address(of: $0))\" defer></script>" }
        return """
            <!DOCTYPE html>
            <html lang="\(texts.language)">
            <head>
            <meta charset="utf-8">
            <title>\(title)\(person.map { " · \($0)" } ?? "") · Vitalgate</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="\(files.address(of: "icon.svg"))" type="image/svg+xml">
            <link rel="manifest" href="\(files.address(of: manifest))">
            <link rel="apple-touch-icon" href="\(files.address(of: "icon-192.png"))">
            <link rel="stylesheet" href="\(files.address(of: "page.css"))">
            <link rel="stylesheet" href="\(files.address(of: "entry.css"))">
            \(scripts)\(again)
            </head>
            <body\(words)>
            <a class="skip" href="#main">\(texts("nav.skip"))</a>
            \(header)
            <main id="main" tabindex="-1">
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
        guard call.session != nil else { return "<header><span class=\"brand\">Vitalgate</span></header>" }
        let badge = badge
        let links: [HTML] = Self.places.filter { !$0.isKeepers || call.isKeeper }.map { each in
            let current: HTML = each.path == place ? " aria-current=\"page\"" : ""
            return "<li><a href=\"\(each.path)\"\(current)>\(texts(each.text))\(each.path == "/page/care" ? badge : "")</a></li>"
        }
        return """
            <header>
            <span class="brand">Vitalgate</span>
            <button type="button" class="quiet menu" popovertarget="pages">\(texts("nav.menu"))\(badge)</button>
            <nav id="pages" popover aria-label="\(texts("nav.label"))"><ul>\(links)</ul></nav>
            \(whose)
            <form method="post" action="/page/logout"><button class="quiet">\(texts("nav.logout"))</button></form>
            </header>
            """
    }

    /// The name of the person whose data the page shows. `nil` if the person has no name.
    private var person: String? {
        guard call.session != nil, let name = try? call.records().name(), !name.isEmpty, name != "me" else { return nil }
        return name
    }

    /// The person's name with a way to the other people, or back to the person who logged in.
    private var whose: HTML {
        let texts = call.texts
        let name = person ?? texts.person("me")
        if call.session?.opener != nil {
            return """
                <form class="whose" method="post" action="/page/people/back"><span class="person">\(name)</span> \
                <button class="quiet">\(texts("people.back"))</button></form>
                """
        }
        if call.isKeeper {
            return "<a class=\"person\" href=\"/page/people\" aria-label=\"\(texts("people.whose", name))\">\(name)</a>"
        }
        return "<span class=\"person\">\(name)</span>"
    }

    /// The number of readings that need a decision.
    private var badge: HTML {
        guard let count = try? call.doubts().all, count > 0 else { return "" }
        return "<span class=\"badge\">\(count) <span class=\"hidden\">\(call.texts("nav.badge"))</span></span>"
    }
}
