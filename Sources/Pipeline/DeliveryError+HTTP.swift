extension DeliveryError {
    /// What an HTTP status that is no success asks for (RFC 9110, RFC 6585).
    ///
    /// - Parameters:
    ///   - status: the answer's.
    ///   - retryAfter: seconds from `Retry-After`, where the answer has it.
    ///   - location: `Location`, where the answer has it: redirections are not followed, since they would lead readings elsewhere.
    ///   - words: the target's own, without health values.
    public init(status: Int, retryAfter: Int?, location: String? = nil, words: String) {
        var reason = words.isEmpty ? "HTTP \(status)" : "HTTP \(status): \(words)"
        if (300..<400).contains(status), let location {
            // What stands after a question mark may be a secret.
            let shown = location.prefix { $0 != "?" && $0 != "#" }.prefix(300)
            reason += ": it has moved to \(shown); put that address into the configuration"
        }
        let kind: Kind =
            switch status {
            case 401, 403, 407, 511: .unauthorised
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
