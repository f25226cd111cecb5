import HTTPServerKit
import HealthModel
import SampleStore

/// What the page can be asked.
struct PageRoute: Sendable {
    /// What it takes to ask.
    enum Right: Sendable {
        /// Nothing: what lets somebody in, and what holds nothing of anybody.
        case none
        /// A session; its person's own is all that is there.
        case person
        /// The session of the hub's keeper, whose store it is.
        case keeper
    }

    let method: String
    /// Behind `/page/`, with `*` for a part that may be anything.
    let path: String
    var right = Right.person
    /// Octets of a body.
    var body = 0
    /// Whether much may have to be read for it: no thread that serves others waits for that.
    var isSlow = false
    let answer: @Sendable (PageCall) throws -> HTTPResponse

    /// What stands in the place of each `*`; `nil` where it is another path.
    func variables(of path: ArraySlice<String>) -> [String]? {
        let parts = self.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == path.count else { return nil }
        var found: [String] = []
        for (part, given) in zip(parts, path) {
            if part == "*" { found.append(given) } else if part != given { return nil }
        }
        return found
    }
}

/// A request of the page.
struct PageCall {
    let core: ServiceCore
    let files: PageFiles
    let request: HTTPRequest
    /// What stands in the place of each `*` of the path.
    let variables: [String]
    /// Who was let in; nobody where the route takes none.
    let session: PageSession?
    /// What the browser shows.
    let token: String?
    let texts: PageTexts
    private let form: [RequestHead.QueryItem]
    private let kept = KeptReaders()

    init(
        _ core: ServiceCore, _ files: PageFiles, _ request: HTTPRequest, _ variables: [String], _ session: PageSession?,
        _ token: String?
    ) throws {
        (self.core, self.files, self.request, self.variables) = (core, files, request, variables)
        (self.session, self.token) = (session, token)
        texts = files.texts(request.head.header("accept-language"))
        let isForm = request.head.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        form = isForm ? try request.form() : []
    }

    /// What the address or the form says under a name.
    func text(_ name: String) -> String? {
        let item = request.head.query.first { $0.name == name } ?? form.first { $0.name == name }
        return item.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// All that the address or the form says under a name.
    func list(_ name: String) -> [String] { (request.head.query + form).filter { $0.name == name }.map(\.value) }

    /// Who was let in.
    func person() throws -> PageSession {
        guard let session else { throw Problem(401, "this needs a session of the page") }
        return session
    }

    /// A reader that shows what is the person's own.
    func reader() throws -> Reader { kept.keep(try core.readers.lend(toPerson: try person().subject)) }

    /// A reader of the hub's own things, which shows everything: what is told of it is to be the person's, or the keeper's.
    func hubReader() throws -> Reader { kept.keep(try core.readers.lend(to: nil)) }

    /// The store, for what the person does.
    func writer() throws -> SampleStore { try SampleStore(path: core.settings.store, access: .write) }

    /// Does what the store may refuse, with its words for the person.
    func doing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError where error.kind == .invalid {
            throw Problem(409, error.description)
        } catch let fewer as FewerReadings {
            throw Problem(409, fewer.description)
        }
    }

    /// Whether the hub is this person's to keep: their own store's.
    var isKeeper: Bool { session.map { $0.subject == core.keeper } ?? false }

    var now: Instant { core.settings.now() }

    /// The zone that was chosen; else the hub's.
    var zone: TimeZoneRules { text("zone").flatMap { core.settings.zones($0) } ?? core.settings.zone }

    var times: PageTimes { PageTimes(zone: zone, now: now, texts: texts) }
    var values: PageValues { PageValues(texts: texts, units: core.settings.units) }

    /// A redirection to a page, after something was done.
    func see(_ path: String) -> HTTPResponse { HTTPResponse(status: 303, headers: [("Location", path)]) }
}

/// What HTML and data of the page have in common.
extension HTTPResponse {
    /// Nothing comes from elsewhere, nothing is run that stands in the page itself, and no other site shows it.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'
        """

    static func page(_ html: HTML, status: Int = 200) -> HTTPResponse {
        var response = HTTPResponse(status: status, type: "text/html; charset=utf-8", Array(html.text.utf8))
        // With 'no-referrer', browsers send no origin along with forms.
        response.headers += [
            ("Content-Security-Policy", policy), ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
            ("Vary", "Cookie, Accept-Encoding, Accept-Language"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ]
        return response
    }

    static func data(_ json: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(type: "application/json", json)
        response.headers += [("Cache-Control", "no-store"), ("Vary", "Cookie, Accept-Encoding, Accept-Language")]
        return response
    }
}
