/// Rejects requests that a browser sends for another site's page: all writes, and reads with cookies, even if they have a token. Links
/// are allowed, because the browser shows the result only to its user.
enum OriginGuard {
    static func check(_ head: RequestHead) throws(Problem) {
        guard !head.isSafe || head.header("cookie") != nil else { return }
        let problem = Problem(403, "Pages of other sites may not send this request.")
        if let site = head.header("sec-fetch-site"), !["same-origin", "none"].contains(site), !head.isLinkFollowed {
            throw problem
        }
        guard let origin = head.header("origin") else { return }
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        // `https://name:port`. The origin `null` never matches.
        guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            parts[2].lowercased() == (head.proxied?.host ?? head.header("host"))?.lowercased()
        else { throw problem }
    }
}

extension RequestHead {
    /// Whether a browser navigates to this page, for example when the user clicks a link.
    package var isLinkFollowed: Bool {
        isSafe && header("sec-fetch-mode") == "navigate" && header("sec-fetch-dest") == "document"
    }
}
