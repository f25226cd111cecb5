import Dispatch
import HTTPServerKit
import HealthModel
import SampleStore

/// Finds the route and the session of a request to the page.
struct PageRouter: Sendable {
    let core: ServiceCore
    let files: PageFiles

    static let routes: [PageRoute] = [
        LoginPage.routes, TodayPage.routes, TypePage.routes, SamplePage.routes, ChartData.routes, ClientsPage.routes,
        CarePage.routes, RepairPage.routes, DevicesPage.routes, FilesPage.routes, TargetsPage.routes, staticFiles,
    ].flatMap { $0 }

    private static let staticFiles = [
        PageRoute(
            method: "GET", path: "static/*", right: .none,
            answer: { call in
                guard let file = call.files.files[call.variables[0]] else { throw Problem(404, "File not found.") }
                var response = HTTPResponse(type: file.type, file.octets)
                // The address contains the file's version.
                response.headers += [("Cache-Control", "public, max-age=31536000, immutable"), ("Vary", "Accept-Encoding")]
                return response
            })
    ]

    /// Whether a path belongs to the page.
    static func has(_ path: [String]) -> Bool { path.isEmpty || path[0] == "page" }

    /// Without a session, only login may send a body. The session is checked before memory is reserved.
    func bodyAllowance(of head: RequestHead) throws(Problem) -> BodyAllowance {
        guard let route = try route(head)?.route, route.body > 0 else { return .nothing }
        if route.right == .none { return BodyAllowance(most: route.body, payer: .stranger) }
        do {
            guard try session(head) != nil else { throw Self.noSession }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Router.busy
        }
        return BodyAllowance(most: route.body, payer: .page)
    }

    func payer(of head: RequestHead) -> Payer { (try? session(head)) != nil ? .page : .stranger }

    /// Whether the browser withheld the cookie because the link came from another site.
    private static func isFromElsewhere(_ head: RequestHead) -> Bool {
        head.isLinkFollowed && ["cross-site", "same-site"].contains(head.header("sec-fetch-site") ?? "")
    }

    private static let noSession = Problem(401, "You are not logged in. Run 'vitalgate page open' on the hub to get a link.")

    /// The session for one of the browser's cookies, with its token.
    private func session(_ head: RequestHead) throws -> (session: PageSession, token: String)? {
        for token in core.pageCookie.tokens(of: head) {
            if let session = try core.pageSession(bearing: token) { return (session, token) }
        }
        return nil
    }

    /// Changes wait in the same queue as clients' changes.
    func queue(for head: RequestHead) -> DispatchQueue? {
        guard let route = try? route(head)?.route else { return nil }
        if route.method != "GET" { return core.writer.queue }
        // The server's own threads do not read samples. The page's files are in memory.
        if route.right == .none { return nil }
        return route.isSlow ? core.pageQueue : core.quickPageQueue
    }

    func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let (route, variables) = try route(request.head) else {
            return HTTPResponse(status: 303, headers: [("Location", "/page/")])
        }
        let (session, token) = try session(request.head).map { ($0, $1) } ?? (nil, nil)
        let call = try PageCall(core, files, request, variables, session, token)
        switch (route.right, session) {
        case (.none, _): break
        case (_, nil):
            guard request.head.isSafe, request.head.path.count < 2 || request.head.path[1] != "data" else {
                throw Self.noSession
            }
            return Self.isFromElsewhere(request.head) ? LoginPage.again(call) : LoginPage.answer(call, status: 401)
        case (.person, _): break
        case (.keeper, _):
            guard call.isKeeper else { return try failed(Problem(403, "Only the owner of the hub can do this."), call) }
        }
        return try withExtendedLifetime(call) {
            do {
                return try route.answer(call)
            } catch let problem as Problem {
                return try failed(problem, call)
            }
        }
    }

    /// An error page. Requests for data get the error as API clients do.
    private func failed(_ problem: Problem, _ call: PageCall) throws -> HTTPResponse {
        if call.request.head.path.contains("data") { throw problem }
        let texts = call.texts
        let body: HTML = """
            <h1>\(texts("problem.title"))</h1><p class="problem">\(problem.detail)</p><p><a href="/page/">\(texts("problem.back"))</a></p>
            """
        return .page(PageLayout(call: call, title: texts("problem.title")).whole(body), status: problem.status)
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

extension ServiceCore {
    /// The session of a token, or `nil` if the token is invalid or expired.
    func pageSession(bearing token: String) throws -> PageSession? {
        let reader = try readers.lend(to: nil)
        return try withExtendedLifetime(reader) { try reader.store.pageSession(bearing: token, at: settings.now()) }
    }
}
