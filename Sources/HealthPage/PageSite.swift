import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore
import Synchronization

package struct PageSettings: Sendable {
    /// The page's style, scripts and texts.
    package var files: PageFiles
    /// The page's interface to the hub. Without it, the page shows no devices.
    package var hub: HubDoor?
    /// Returns the preferred unit of a type, or `nil` if none is set.
    package var units: @Sendable (SampleType) -> Unit? = { _ in nil }
    /// The guideline whose categories of blood pressures are shown, or `nil` to show none.
    package var pressureGuideline: PressureGuideline?
    /// The server of the map below routes, or `nil` to draw routes alone.
    package var tiles: MapTiles?
    /// Called with the address that sent an invalid page code, at most once a second.
    package var onWrongCode: @Sendable (_ address: String) -> Void = { _ in }

    /// Creates settings without a hub.
    package init(files: PageFiles) { self.files = files }
}

/// The web page. It finds the route and the session of a request.
package final class PageSite: Site {
    let core: ServiceCore
    let settings: PageSettings
    /// The cookie. Its name depends on the store, so that two hubs on one host do not overwrite each other's.
    let cookie: PageCookie
    let hubWork = HubWork()
    let suspicions = SuspicionCache()
    let uploads = Uploads()
    /// The queue for slow reads. It is separate from the API, and each person has one at a time.
    private let slowQueue = FairQueue("vitalgate.page-looks", lanes: 2)
    /// The queue for quick reads, which do not wait for slow ones.
    private let quickQueue = FairQueue("vitalgate.page", lanes: 2)
    private let lastReport = Mutex<ContinuousClock.Instant?>(nil)

    package init(_ core: ServiceCore, _ settings: PageSettings) {
        (self.core, self.settings) = (core, settings)
        cookie = PageCookie(store: core.settings.store, owner: core.owner, isSecure: core.settings.server.identity != nil)
        if let inbox = settings.hub?.inbox { UploadDrafts.removeAbandoned(in: inbox, at: core.settings.now()) }
        UploadPage.resume(self)
    }

    static let routes: [PageRoute] = [
        LoginPage.routes, TodayPage.routes, AllPage.routes, RecordsPage.routes, HubPage.routes, TypePage.routes,
        SamplePage.routes, CharacteristicsPage.routes, ChartData.routes,
        ClientsPage.routes,
        CarePage.routes, RepairPage.routes, DevicesPage.routes, FilesPage.routes, TargetsPage.routes, staticFiles,
        CardsPage.routes, EntryPage.routes, CorrectionPage.routes, DeletedPage.routes, ReportPage.routes,
        NotesPage.routes, GoalsPage.routes, AlertsPage.routes, PeoplePage.routes, UploadPage.routes,
    ].flatMap { $0 }

    private static let staticFiles = [
        PageRoute(
            method: "GET", path: "static/*", right: .none,
            answer: { call in
                guard let file = call.site.settings.files.files[call.variables[0]] else { throw PageProblem(404, "file") }
                var response = HTTPResponse(type: file.type, file.bytes)
                // The address contains the file's version.
                response.headers += [("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding")]
                return response
            })
    ]

    package func has(_ path: [String]) -> Bool { path.isEmpty || path[0] == "page" }

    package func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        guard let (route, variables) = try route(head) else {
            return ResolvedRequest { _ in
                HTTPResponse(status: 303, headers: [("Location", "/page/")]).shown(at: head.proxied)
            }
        }
        return ResolvedRequest(
            body: try bodyAllowance(of: head, route), queue: queue(for: route),
            payer: { [self] in (try? session(head)).map { .person($0.session.person) } ?? .unauthenticated },
            answer: { [self] request in
                do {
                    return try answer(request, route, variables).shown(at: head.proxied)
                } catch {
                    return Problem(of: error).response
                }
            })
    }

    /// Without a session, only login may send a body. The session is checked before memory is reserved.
    private func bodyAllowance(of head: RequestHead, _ route: PageRoute) throws(Problem) -> BodyAllowance {
        guard route.body > 0 else { return .none }
        if route.right == .none { return BodyAllowance(maximum: route.body, payer: .unauthenticated) }
        let payer: Payer
        do {
            guard let session = try session(head)?.session else { throw Self.noSession }
            payer = .person(session.person)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .busy
        }
        return BodyAllowance(maximum: route.body, payer: payer)
    }

    /// Whether the browser withheld the cookie because the link came from another site.
    private static func isFromElsewhere(_ head: RequestHead) -> Bool {
        head.isLinkFollowed && ["cross-site", "same-site"].contains(head.header("sec-fetch-site") ?? "")
    }

    private static let noSession = Problem(401, "You are not logged in. Run 'vitalgate page open' on the hub to get a link.")

    /// The session for one of the browser's cookies, with its token.
    private func session(_ head: RequestHead) throws -> (session: PageSession, token: String)? {
        for token in cookie.tokens(of: head) {
            if let session = try session(bearing: token) { return (session, token) }
        }
        return nil
    }

    /// The session of a token, or `nil` if the token is invalid or expired.
    func session(bearing token: String) throws -> PageSession? {
        try core.authentication.session(bearing: token, at: core.settings.now())
    }

    /// Reports an invalid page code, at most once a second, so that the log cannot fill the disk.
    func report(wrongCodeFrom address: String) {
        let isDue = lastReport.withLock { last in
            let now = ContinuousClock.now
            if let earlier = last, now - earlier < .seconds(1) { return false }
            last = now
            return true
        }
        if isDue { settings.onWrongCode(address) }
    }

    /// Changes wait in the same queue as clients' changes.
    private func queue(for route: PageRoute) -> FairQueue? {
        if route.method != "GET" { return core.writer.turns }
        // The server's own threads do not read samples. The page's files are in memory.
        if route.right == .none { return nil }
        return route.isSlow ? slowQueue : quickQueue
    }

    private func answer(_ request: HTTPRequest, _ route: PageRoute, _ variables: [String]) throws -> HTTPResponse {
        let (session, token) = try session(request.head).map { ($0, $1) } ?? (nil, nil)
        let call = try PageCall(self, request, variables, session, token)
        switch (route.right, session) {
        case (.none, _): break
        case (_, nil):
            guard request.head.isSafe, request.head.path.count < 2 || request.head.path[1] != "data" else {
                throw Self.noSession
            }
            return Self.isFromElsewhere(request.head) ? LoginPage.again(call) : LoginPage.answer(call, status: 401)
        case (.person, _): break
        case (.owner, _):
            guard call.isOwner else { return try failed(PageProblem(403, "owner"), call) }
        }
        return try withExtendedLifetime(call) {
            do {
                var response = try PageLocale.language.withValue(call.texts.language) { try route.answer(call) }
                if let header = renewal(of: session, token, call) { response.headers.append(header) }
                return response
            } catch let problem as PageProblem {
                return try failed(problem, call)
            } catch let problem as Problem where !call.isForData {
                var shown = PageProblem(problem.status, sentence: problem.detail)
                shown.bound = problem.bound
                return try failed(shown, call)
            }
        }
    }

    /// The cookie of a session that was extended because a page was opened, at most once a day. A session ends thirty days after its last
    /// use.
    private func renewal(of session: PageSession?, _ token: String?, _ call: PageCall) -> (name: String, value: String)? {
        guard let session, let token, call.request.head.method == "GET", !call.isForData else { return nil }
        // A store that is busy now extends it at the next request.
        guard let isExtended = try? core.renew(session, at: call.now), isExtended else { return nil }
        return cookie.header(token)
    }

    /// An error page. Requests for data get the error as API clients do.
    private func failed(_ problem: PageProblem, _ call: PageCall) throws -> HTTPResponse {
        let texts = call.texts
        if call.isForData { throw problem.problem(texts) }
        let body: HTML = """
            <h1>\(texts("problem.title"))</h1><p class="problem">\(problem.html(texts))</p><p><a href="/page/">\(texts("problem.back"))</a></p>
            """
        var response = HTTPResponse.page(
            PageLayout(call: call, title: texts("problem.title")).whole(body), status: problem.status)
        response.bound = problem.bound
        return response
    }

    /// The route of a request, or `nil` for the addresses without a trailing slash, which redirect to the page.
    private func route(_ head: RequestHead) throws(Problem) -> (route: PageRoute, variables: [String])? {
        if head.isSafe, head.path.isEmpty || head.path == ["page"] { return nil }
        let path = head.path.dropFirst()
        let method = head.method == "HEAD" ? "GET" : head.method
        var methods: Set<String> = []
        for route in Self.routes {
            guard let variables = route.variables(of: path) else { continue }
            if route.method == method { return (route, variables) }
            methods.insert(route.method)
        }
        guard !methods.isEmpty else { throw Problem(404, "Page not found.") }
        throw Problem(
            405, "This page does not allow the method. See the Allow header.",
            headers: ["Allow": methods.sorted().joined(separator: ", ")])
    }
}
