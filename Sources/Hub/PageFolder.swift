import Glibc
import HTTPServerKit

/// Finds the page's files on this machine.
package enum PageFolder {
    /// Returns `WebPage` beside a checkout's build, or else the installed folder. `nil` if there is none.
    ///
    /// - Parameter executable: the program's own path.
    package static func find(executable: String) -> String? {
        var folder = executable
        for _ in 0..<5 {
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { break }
            folder = String(folder[..<slash])
            if access(folder + "/WebPage/texts", F_OK) == 0 { return folder + "/WebPage" }
        }
        return ["/usr/share/vitalgate/WebPage", "/usr/local/share/vitalgate/WebPage"].first { access($0, F_OK) == 0 }
    }
}

extension APIConfiguration {
    /// The URL of the page, or `nil` on a socket.
    package var pageAddress: String? { address.map { $0 + "/page/" } }

    /// The URL of the API without a path, or `nil` on a socket.
    package var address: String? {
        guard case .tcp(let host, let port) = listen else { return nil }
        let scheme = certificate == nil ? "http" : "https"
        let isAny = host == "0.0.0.0" || host == "::"
        let name = certificate != nil || isAny ? hosts.first : nil
        let own = name ?? (isAny ? "localhost" : host.contains(":") ? "[\(host)]" : host)
        return "\(scheme)://\(own):\(port)"
    }
}
