extension DeliveryError {
    /// The error for an HTTP status that is not a success (RFC 9110, RFC 6585).
    ///
    /// - Parameters:
    ///   - status: The status code of the response.
    ///   - retryAfter: Seconds from `Retry-After`, or `nil` if the response has none.
    ///   - location: `Location`, if the response has it. Redirects are not followed because they would send readings elsewhere.
    ///   - words: The target's own error text, without health values.
    public init(status: Int, retryAfter: Int?, location: String? = nil, words: String) {
        var reason = words.isEmpty ? "HTTP \(status)" : "HTTP \(status): \(words)"
        if (300..<400).contains(status), let location {
            // The query may contain a secret.
            let shown = location.prefix { $0 != "?" && $0 != "#" }.prefix(300)
            reason += ": it has moved to \(shown): use that address in the configuration"
        }
        let kind: Kind =
            switch status {
            case 401, 407, 511: .unauthorised
            case 403: .forbidden
            case 404, 405, 410, 501: .unfit
            case 413, 414: .tooLarge
            case 408, 425: .unreachable
            case 429, 503: retryAfter.map { .busy(.seconds(min(max($0, 0), 3600))) } ?? .unreachable
            case 400..<500: .refused
            default: .unreachable
            }
        self.init(kind, reason)
    }
}
