/// Refuses what another site's page has a browser send: changes always, and reads where the browser's cookies go with them. A token beside is no
/// exemption.
enum OriginGuard {
    static func check(_ head: RequestHead) throws(Problem) {
        guard !head.isSafe || head.header("cookie") != nil else { return }
        let problem = Problem(403, "a page of another site may not ask for this")
        if let site = head.header("sec-fetch-site"), !["same-origin", "none"].contains(site) { throw problem }
        guard let origin = head.header("origin") else { return }
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        // `https://name:port`; `null` is nobody's.
        guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            parts[2].lowercased() == head.header("host")?.lowercased()
        else { throw problem }
    }
}
