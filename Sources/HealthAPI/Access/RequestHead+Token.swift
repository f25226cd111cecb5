import HTTPServerKit

extension RequestHead {
    /// The token of a request: that of `Authorization: Bearer`, or of `X-API-Key` on routes for apps that cannot send the former.
    func token(for route: Route) -> String? {
        bearer ?? (route.acceptsKeyHeader ? header("x-api-key") : nil)
    }
}
