import HTTPServerKit
import HealthModel
import SampleStore

/// The session cookie of the page (RFC 6265). Browsers send it to this host only. With HTTPS its name has the prefix `__Host-`, so
/// that no other program on the host can set it over plain HTTP.
struct PageCookie: Sendable {
    private let name: String
    private let isSecure: Bool

    /// Creates the cookie of a store.
    ///
    /// - Parameters:
    ///   - store: The path of the store, which is part of the name.
    ///   - owner: The person that the store belongs to.
    ///   - isSecure: Whether the page is served over HTTPS.
    init(store: String, owner: String, isSecure: Bool) {
        let digest = Digest.sha256(Array((store + "\n" + owner).utf8)).prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        name = (isSecure ? "__Host-" : "") + "vitalgate-page-" + digest.joined()
        self.isSecure = isSecure
    }

    /// The maximum number of cookies to check.
    private static let maximum = 8

    /// The values of all cookies of the name. A browser may send several, and any one can be the valid session.
    func tokens(of head: RequestHead) -> [String] {
        var tokens: [String] = []
        for header in head.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") where tokens.count < Self.maximum {
                let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if sides.count == 2, sides[0] == name { tokens.append(String(sides[1])) }
            }
        }
        return tokens
    }

    /// The header that sets the token, or deletes the cookie if it is `nil`. Scripts cannot read the cookie.
    func header(_ token: String?) -> (name: String, value: String) {
        let age = token == nil ? 0 : SampleStore.PageSessions.times.session / 1_000_000
        // The prefix requires the root path.
        let place = isSecure ? "Path=/; Secure" : "Path=/page"
        return ("Set-Cookie", "\(name)=\(token ?? "-"); \(place); Max-Age=\(age); HttpOnly; SameSite=Strict")
    }
}
