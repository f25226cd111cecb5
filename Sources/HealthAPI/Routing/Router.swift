import Dispatch
import HTTPServerKit
import HealthModel
import Pipeline
import SampleStore

/// Finds a request's route and checks the request against the declarations of ``RouteTable``.
struct Router: HTTPHandler {
    let core: ServiceCore
    private var page: PageRouter? { core.settings.page.map { PageRouter(core: core, files: $0) } }

    /// Unknown routes and missing tokens are reported before a body is read.
    func bodyAllowance(of head: RequestHead) throws(Problem) -> BodyAllowance {
        if let page, PageRouter.has(head.path) { return try page.bodyAllowance(of: head) }
        guard let route = try route(head).route, let body = route.body else { return .nothing }
        // Without a valid token, a client gets no other error.
        let caller: Caller
        do {
            caller = try core.caller(bearing: head.bearer)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Self.busy
        }
        _ = try Call.bodyForm(head, route)
        return BodyAllowance(most: body.most, payer: .client(caller.id))
    }

    func payer(of head: RequestHead?) -> Payer {
        guard let head else { return .stranger }
        if let page, PageRouter.has(head.path) { return page.payer(of: head) }
        let client = head.bearer.flatMap { try? core.client(bearing: $0) }
        return client.map { .client($0.id) } ?? .stranger
    }

    /// Changes wait in the writer's queue. Slow reads have a separate queue, so that they do not block others.
    func queue(for head: RequestHead) -> DispatchQueue? {
        if let page, PageRouter.has(head.path) { return page.queue(for: head) }
        guard let route = (try? route(head))?.route else { return nil }
        if route.isWriting { return core.writer.queue }
        // The server's own threads do not read samples.
        if route.right == .none { return nil }
        let isSlow = route.isSlow || head.query.contains { $0.name == route.slowParameter }
        return isSlow ? core.lookQueue : core.quickQueue
    }

    static let busy = Problem(503, "The store is busy. Try again.", headers: ["Retry-After": "1"])

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        do {
            if let page, PageRouter.has(request.head.path) { return try page.answer(request) }
            return try routed(request)
        } catch let problem as Problem {
            return problem.response
        } catch let error as PredicateError {
            return Problem(422, "where: \(error)").response
        } catch let error as UnitError {
            return Problem(422, "\(error)").response
        } catch let error as StoreError where error.kind == .busy {
            return Self.busy.response
        } catch let error as StoreError where error.kind == .tooLong {
            return Problem(422, "The query takes too long. Use a shorter time range or fewer types.").response
        } catch let error as StoreError where error.kind == .full {
            return Problem(507, "The disk is full. Nothing was saved.", headers: ["Retry-After": "600"]).response
        } catch let refusal as Refusal {
            return Problem(422, "\(refusal.place.kind.rawValue) \(refusal.place.number): \(refusal.reason)").response
        } catch {
            // The error's details stay inside because they may mention hidden data.
            return Problem(500, "The request failed because of an internal error.").response
        }
    }

    private func routed(_ request: HTTPRequest) throws -> HTTPResponse {
        let head = request.head
        let (route, variables, allowed) = try route(head)
        guard let route else { return HTTPResponse(status: 204, headers: [("Allow", allowed)]) }
        let caller = route.right == .none ? nil : try core.caller(bearing: head.bearer)
        let call = try Call(request, route, variables, caller, core)
        return try withExtendedLifetime(call) { try route.answer(call) }
    }

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
