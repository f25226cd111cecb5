import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

struct PageRoute: Sendable {
    enum Right: Sendable {
        /// No session. This is for login and for files without personal data.
        case none
        /// A session. It sees its person's own data only.
        case person
        /// A session of the hub's keeper, the person that the store belongs to.
        case owner
    }

    let method: String
    /// The path after `/page/`, with `*` for variable parts.
    let path: String
    var right = Right.person
    /// The maximum size of the body in bytes.
    var body = 0
    /// Whether the answer may read much data. It then runs on a separate queue.
    var isSlow = false
    let answer: @Sendable (PageCall) throws -> HTTPResponse

    /// The values for each `*`, or `nil` if the path does not match.
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

struct PageCall {
    let site: PageSite
    let request: HTTPRequest
    /// The values for each `*` of the path.
    let variables: [String]
    /// The session, or `nil` if the route needs none.
    let session: PageSession?
    /// The session token that the browser sent.
    let token: String?
    let texts: PageTexts
    private let form: [RequestHead.QueryItem]
    let retained = CallReaders()

    init(
        _ site: PageSite, _ request: HTTPRequest, _ variables: [String], _ session: PageSession?, _ token: String?
    ) throws {
        (self.site, self.request, self.variables) = (site, request, variables)
        (self.session, self.token) = (session, token)
        texts = site.settings.files.texts(request.head.header("accept-language"))
        let isForm = request.head.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        form = isForm ? try request.form() : []
    }

    var core: ServiceCore { site.core }

    /// Whether a script asks for data, and not a browser for a page.
    var isForData: Bool { request.head.path.contains("data") }

    /// The address of a place of the page, for another device. `nil` if the browser has found the page at an address of this machine alone.
    func address(of place: String) -> String? {
        // A proxy may ask other devices to log in.
        guard request.head.proxied == nil, let host = request.head.header("host") else { return nil }
        // A header may have no port.
        let address = ListeningAddress(host) ?? ListeningAddress("\(host):0")
        guard address?.isLoopback != true else { return nil }
        return "\(core.settings.server.identity == nil ? "http" : "https")://\(host)\(place)"
    }

    /// The value of a query or form field.
    func text(_ name: String) -> String? {
        let item = request.head.query.first { $0.name == name } ?? form.first { $0.name == name }
        return item.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    func list(_ name: String) -> [String] { (request.head.query + form).filter { $0.name == name }.map(\.value) }

    /// The session of the person.
    ///
    /// - Throws: ``PageProblem`` 401 if the person is not logged in.
    func person() throws -> PageSession {
        guard let session else { throw PageProblem(401, "notLoggedIn") }
        return session
    }

    /// A reader that shows the person's own data.
    func reader() throws -> Reader {
        if let own = retained.own { return own }
        let reader = try core.readers.lend(to: try person())
        retained.own = reader
        return reader
    }

    /// The person's data besides samples.
    func records() throws -> OwnRecords {
        if let own = retained.records { return own }
        let records = try core.readers.lendRecords(of: try person())
        retained.records = records
        return records
    }

    /// The authority of the keeper.
    ///
    /// - Throws: ``PageProblem`` 403 if the session belongs to another person.
    private func owner() throws -> OwnerAuthority {
        guard let owner = OwnerAuthority(session, of: core) else { throw PageProblem(403, "owner") }
        return owner
    }

    /// A reader that shows everything, for the keeper.
    ///
    /// - Throws: ``PageProblem`` 403 if the session belongs to another person.
    func ownerReader() throws -> Reader {
        if let hub = retained.hub { return hub }
        let reader = try core.readers.lend(to: try owner())
        retained.hub = reader
        return reader
    }

    /// The names of all people, for the keeper. Names that the store itself gives are in the page's language.
    func personNames() throws -> [String: String] { try ownerReader().store.people.names().mapValues(texts.person) }

    /// The name of the person whose data is shown. `nil` if the person has no name of their own.
    var personName: String? {
        guard let name = try? records().name(), !name.isEmpty, name != "me" else { return nil }
        return name
    }

    /// The changes of the person's own data.
    func changes() throws -> OwnChanges { try core.changes(of: try person()) }

    /// The changes of a person's data. Only the keeper can change another person's.
    func changes(of personID: String) throws -> OwnChanges {
        let session = try person()
        return try personID == session.person ? core.changes(of: session) : core.changes(of: personID, by: owner())
    }

    /// The changes of the hub itself, for the keeper.
    ///
    /// - Throws: ``PageProblem`` 403 if the session belongs to another person.
    func hubChanges() throws -> HubChanges { try core.hubChanges(by: owner()) }

    /// Runs a change. If the store refuses it, throws a ``PageProblem`` with the store's reason.
    func doing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StoreError where error.kind == .invalid {
            throw PageProblem(409, sentence: error.description)
        } catch let fewer as FewerReadings {
            throw PageProblem(409, "fewer", "\(fewer.plan.merged)", "\(fewer.plan.matched)")
        }
    }

    /// Whether the person is the hub's keeper, that is, the store belongs to this person.
    var isOwner: Bool { session.map { $0.person == core.owner } ?? false }

    var now: Instant { core.settings.now() }

    /// The time zone that the user chose, or the hub's.
    var zone: TimeZoneRules { text("zone").flatMap { core.settings.zones($0) } ?? core.settings.zone }

    var times: PageTimes { PageTimes(zone: zone, now: now, texts: texts) }
    var values: PageValues { PageValues(texts: texts, units: site.settings.units) }

    /// A redirect to a page after a change.
    func see(_ path: String) -> HTTPResponse { HTTPResponse(status: 303, headers: [("Location", path)]) }
}

/// The readers of a call, one for each view. They return to the pool at the end of the call.
final class CallReaders {
    var own: Reader?
    var records: OwnRecords?
    var hub: Reader?
    var suspicions: (all: [Suspicion], isSearching: Bool)?
}

/// Headers that HTML and data of the page share.
extension HTTPResponse {
    /// The policy allows only this site's own resources, no inline scripts, and no frames in other sites. A page with a map also gets
    /// images of its tile server.
    private static func policy(_ tiles: MapTiles?) -> String {
        """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'\(tiles.map { " " + $0.origin } ?? ""); \
        connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """
    }

    /// - Parameter tiles: The tile server of the page's map, if it has one.
    static func page(_ html: HTML, status: Int = 200, tiles: MapTiles? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: status, type: "text/html; charset=utf-8", Array(html.text.utf8))
        // With 'no-referrer', browsers would omit the origin when they send forms.
        response.headers += [
            ("Content-Security-Policy", policy(tiles)), ("Referrer-Policy", "same-origin"), ("Cache-Control", "no-store"),
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
