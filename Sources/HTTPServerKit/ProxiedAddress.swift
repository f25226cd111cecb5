/// The address at which a browser sees this server through a trusted reverse proxy.
package struct ProxiedAddress: Hashable, Sendable {
    /// The host in the browser's address, with a port if it has one.
    package let host: String
    /// The path that the proxy removed from the beginning of the target, such as `/api/hassio_ingress/x1`, or empty. It has no slash at
    /// the end.
    package let path: String

    /// The headers for the path: that of Home Assistant's ingress, and that of Traefik and others.
    private static let pathHeaders = ["x-ingress-path", "x-forwarded-prefix"]
    private static let maximumLength = 256

    /// Reads the address from the proxy's headers.
    ///
    /// - Throws: ``Problem`` 400 if the path is invalid, because it becomes a part of every link.
    init(_ head: RequestHead) throws(Problem) {
        host = head.header("x-forwarded-host") ?? head.header("host") ?? ""
        var path = ""
        for name in Self.pathHeaders where path.isEmpty { path = head.header(name) ?? "" }
        if path.hasSuffix("/") { path.removeLast() }
        let isPlain = path.utf8.allSatisfy { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "/-._~".utf8.contains(byte)
        }
        guard path.isEmpty || path.hasPrefix("/"), isPlain, path.utf8.count <= Self.maximumLength, !path.contains("//") else {
            throw Problem(400, "The proxy sent an invalid path.")
        }
        self.path = path
    }
}
