import HTTPServerKit
import HealthServing
import SampleStore

/// The HTTP API. It finds a request's route and checks the request against the declarations of ``RouteTable``.
package final class APISite: Site {
    let core: ServiceCore
    let anchors: AnchorSeal
    let grants: GrantWatch
    /// The queue for slow reads. Each client has one at a time.
    let lookQueue = FairQueue("vitalgate.looks", lanes: 2)
    /// The queue for quick reads, which do not wait for slow ones.
    private let quickQueue = FairQueue("vitalgate.quick-looks", lanes: 4, own: 2)

    /// The queue for posts of phones. A large one takes several commits, between which others can write.
    private let intakeQueue = FairQueue("vitalgate.intake", lanes: 1)

    package init(_ core: ServiceCore) throws(StoreError) {
        self.core = core
        anchors = try AnchorSeal(store: core.settings.store)
        grants = GrantWatch(path: core.settings.store, now: core.settings.now)
    }

    package func has(_ path: [String]) -> Bool { true }

    /// Unknown routes and missing tokens are reported before a body is read.
    package func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        let (route, variables, allowed) = try route(head)
        guard let route else {
            return ResolvedRequest { _ in HTTPResponse(status: 204, headers: [("Allow", allowed)]) }
        }
        return ResolvedRequest(
            body: try bodyAllowance(of: head, route), queue: queue(for: route, head),
            payer: { [self] in
                head.token(for: route).flatMap { try? client(bearing: $0) }.map { .client($0.id) } ?? .unauthenticated
            },
            answer: { [self] in answer($0, route, variables) })
    }

    private func bodyAllowance(of head: RequestHead, _ route: Route) throws(Problem) -> BodyAllowance {
        guard let body = route.body else { return .none }
        // Without a valid token, a client gets no other error.
        let caller: Caller
        do {
            caller = try self.caller(bearing: head.token(for: route))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw .busy
        }
        _ = try Call.bodyForm(head, route)
        guard body.isSpooled else { return BodyAllowance(maximum: body.maximum, payer: .client(caller.id)) }
        let size = head.header("content-length").flatMap { Int($0) } ?? body.maximum
        try core.disk.take(min(size, body.maximum), for: .client(caller.id), at: core.settings.now())
        let folder = core.settings.store.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return BodyAllowance(maximum: body.maximum, payer: .client(caller.id), folder: folder.isEmpty ? "." : folder)
    }

    /// Changes wait in the writer's queue. Slow reads have a separate queue, so that they do not block others.
    private func queue(for route: Route, _ head: RequestHead) -> FairQueue? {
        if route.isWriting { return core.writer.turns }
        if route.body?.isSpooled ?? false { return intakeQueue }
        // The server's own threads do not read samples.
        if route.right == .none { return nil }
        let isSlow = route.isSlow || head.query.contains { $0.name == route.slowParameter }
        return isSlow ? lookQueue : quickQueue
    }

    private func answer(_ request: HTTPRequest, _ route: Route, _ variables: [String: String]) -> HTTPResponse {
        do {
            let caller = route.right == .none ? nil : try caller(bearing: request.head.token(for: route))
            let call = try Call(request, route, variables, caller, self)
            return try withExtendedLifetime(call) { try route.answer(call) }
        } catch {
            return Problem(of: error).response
        }
    }

    /// The client that sent a token.
    ///
    /// - Throws: ``Problem`` 401 if the token is missing, unknown or expired. The error is the same for unknown and expired tokens.
    func caller(bearing token: String?) throws -> Caller {
        var problem = Problem(
            401, "A client token is required. Send it as 'Authorization: Bearer TOKEN'.", headers: ["WWW-Authenticate": "Bearer"])
        guard let token else { throw problem }
        guard let caller = try client(bearing: token) else {
            problem.delay = core.delayOfWrongToken()
            throw problem
        }
        return caller
    }

    /// The client of a token, or `nil` if the token is invalid.
    private func client(bearing token: String) throws -> Caller? {
        let client = try core.authentication.client(bearing: token, at: core.settings.now())
        return client.map { Caller(client: $0, token: token) }
    }

    /// A reader that shows the data that a caller may read.
    func reader(for caller: Caller) throws -> Reader { try core.readers.lend(to: caller.client) }

    /// The route of a path and a method, and the methods of the path. For OPTIONS, which any path accepts, the route is `nil`.
    private func route(
        _ head: RequestHead
    ) throws(Problem) -> (route: Route?, variables: [String: String], allowed: String) {
        let found = RouteTable.all.compactMap { route in route.variables(of: head.path).map { (route, $0) } }
        guard !found.isEmpty else { throw Problem(404, "Path not found. See /openapi.json for all paths.") }
        let methods = found.map(\.0.method)
        let allowed = (methods + (methods.contains("GET") ? ["HEAD"] : []) + ["OPTIONS"]).joined(separator: ", ")
        if head.method == "OPTIONS" { return (nil, [:], allowed) }
        let method = head.method == "HEAD" ? "GET" : head.method
        guard let (route, variables) = found.first(where: { $0.0.method == method }) else {
            throw Problem(405, "This path does not allow the method. See the Allow header.", headers: ["Allow": allowed])
        }
        return (route, variables, allowed)
    }
}
