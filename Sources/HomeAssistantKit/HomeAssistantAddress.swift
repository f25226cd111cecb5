/// The address of a Home Assistant.
///
///     try HomeAssistantAddress("http://localhost:8123").webSocket   // http://localhost:8123/api/websocket
package struct HomeAssistantAddress: Hashable, Sendable {
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The address without a path, as it is shown.
    package let text: String
    /// The address of its WebSocket, with `http` for `ws`.
    package let webSocket: String
    /// Whether a token sent to it stays on this machine or is encrypted.
    package let isSafe: Bool

    /// - Parameter text: Begins with `http://`, `https://`, `ws://` or `wss://`. The path may be missing.
    /// - Throws: ``Fault``.
    package init(_ text: String) throws(Fault) {
        let schemes = ["http": "http", "ws": "http", "https": "https", "wss": "https"]
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty,
            let scheme = schemes[String(parts[0].dropLast())], text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Fault(description: "the address must begin with http:// or https://") }
        guard !parts[2].contains("@"), !text.contains("?"), !text.contains("#") else {
            throw Fault(description: "an address without user, password and query: use the key 'token'")
        }
        var path = parts.count > 3 ? "/" + parts[3] : ""
        while path.hasSuffix("/") { path.removeLast() }
        let isWhole = path.hasSuffix("/websocket")
        self.text = "\(scheme)://\(parts[2])" + path
        webSocket = "\(scheme)://\(parts[2])" + (isWhole ? path : path + "/api/websocket")
        let host = Self.host(of: parts[2])
        isSafe =
            scheme == "https" || host == "localhost" || host == "[::1]" || host == "supervisor"
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }

    private static func host(of authority: String) -> String {
        guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }).lowercased() }
        return String(authority.prefix { $0 != "]" }).lowercased() + "]"
    }
}
