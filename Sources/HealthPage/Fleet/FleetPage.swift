import HTTPServerKit

/// The page of a fleet's center: one table of the hubs. It has no person and no health value, and changes nothing.
///
///     let server = try HTTPServer(ServerSettings(listening: address), FleetPage(files, fleet: "study") { try rows() })
package struct FleetPage: HTTPHandler {
    private let files: PageFiles
    private let fleet: String
    private let hubs: @Sendable () throws -> [FleetRow]
    /// The database is read in one queue, so that many requests do not open many connections.
    private let queue = FairQueue("vitalgate.fleet-page", lanes: 1)

    /// The seconds until the browser loads the page again.
    private static let refresh = 30
    private static let styles = ["page.css", "icon.svg"]

    /// - Parameter hubs: Returns the hubs in the order of their names. It may wait for the database.
    package init(_ files: PageFiles, fleet: String, hubs: @escaping @Sendable () throws -> [FleetRow]) {
        (self.files, self.fleet, self.hubs) = (files, fleet, hubs)
    }

    package func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        guard head.method == "GET" || head.method == "HEAD" else {
            throw Problem(405, "This page only reads.", headers: ["Allow": "GET, HEAD"])
        }
        if head.path.isEmpty {
            return ResolvedRequest(queue: queue) { [self] request in page(files.texts(request.head.header("accept-language"))) }
        }
        guard head.path.count == 3, head.path.starts(with: ["page", "static"]), Self.styles.contains(head.path[2]),
            let file = files.files[head.path[2]]
        else { throw Problem(404, "Page not found.") }
        return ResolvedRequest { _ in
            var response = HTTPResponse(type: file.type, file.bytes)
            response.headers += [("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding")]
            return response
        }
    }

    private func page(_ texts: PageTexts) -> HTTPResponse {
        PageLocale.language.withValue(texts.language) {
            do {
                return .page(whole(table(try hubs(), texts), texts))
            } catch {
                // The reason may name the database. The collector's log has it.
                return .page(whole("<p class=\"problem\" role=\"status\">\(texts("fleet.failed"))</p>", texts), status: 503)
            }
        }
    }

    private func whole(_ body: HTML, _ texts: PageTexts) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="\(texts.language)">
        <head>
        <meta charset="utf-8">
        <title>\(texts("fleet.title", fleet)) · Vitalgate</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="refresh" content="\(Self.refresh)">
        <link rel="icon" href="\(files.address(of: "icon.svg"))" type="image/svg+xml">
        <link rel="stylesheet" href="\(files.address(of: "page.css"))">
        </head>
        <body>
        <a class="skip" href="#main">\(texts("nav.skip"))</a>
        <header class="shell"><span class="brand">Vitalgate</span></header>
        <main id="main" tabindex="-1">
        <h1>\(texts("fleet.title", fleet))</h1>
        \(body)
        </main>
        </body>
        </html>

        """
    }

    private static let columns = ["hub", "state", "silence", "waiting", "quarantined", "battery", "silent", "orders", "version"]

    private func table(_ hubs: [FleetRow], _ texts: PageTexts) -> HTML {
        guard !hubs.isEmpty else { return "<p>\(texts("fleet.none"))</p>" }
        let header: [HTML] = Self.columns.map { "<th scope=\"col\">\(texts("fleet.column." + $0))</th>" }
        let rows: [HTML] = hubs.map { $0.html(texts) }
        return """
            <p class="note">\(texts("fleet.how"))</p>
            <div class="scroll" role="region" aria-label="\(texts("fleet.title", fleet))" tabindex="0">
            <table>
            <thead><tr>\(header)</tr></thead>
            <tbody>
            \(rows)
            </tbody>
            </table>
            </div>
            """
    }
}
