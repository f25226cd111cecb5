/// Refuses what another site's page has a browser send: changes always, and reads where the browser's cookies go with them. A token beside is no
/// exemption. A link is followed: the browser shows what is read to its user alone.
enum OriginGuard {
    static func check(_ head: RequestHead) throws(Problem) {
        guard !head.isSafe || head.header("cookie") != nil else { return }
        let problem = Problem(403, "a page of another site may not ask for this")
        if let site = head.header("sec-fetch-site"), !["same-origin", "none"].contains(site), !head.isLinkFollowed {
            throw problem
        }
        guard let origin = head.header("origin") else { return }
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        // `https://name:port`; `null` is nobody's.
        guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            parts[2].lowercased() == head.header("host")?.lowercased()
        else { throw problem }
    }
}

extension RequestHead {
    /// Whether a browser goes to this page itself, in the place of the one that it shows, such as where somebody clicks a link.
    public var isLinkFollowed: Bool {
        isSafe && header("sec-fetch-mode") == "navigate" && header("sec-fetch-dest") == "document"
    }
}
