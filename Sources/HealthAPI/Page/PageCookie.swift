import HTTPServerKit
import HealthModel
import SampleStore

/// The cookie by which a browser shows a session of the page (RFC 6265). It is sent to this host alone. With HTTPS its name has the prefix
/// `__Host-`, so that no other program on the host can set it over plain HTTP.
struct PageCookie: Sendable {
    private let name: String
    private let isSecure: Bool

    /// - Parameters:
    ///   - store: the path of the store, which is part of the name.
    ///   - keeper: the person whose store it is.
    init(store: String, keeper: String, isSecure: Bool) {
        let digest = Digest.sha256(Array((store + "\n" + keeper).utf8)).prefix(8).map { octet in
            let digits = String(octet, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        name = (isSecure ? "__Host-" : "") + "vitalgate-page-" + digest.joined()
        self.isSecure = isSecure
    }

    /// Most cookies of the name that are looked at.
    private static let most = 8

    /// What a request has under the name: a browser may send several, of which any may be the session's.
    func tokens(of head: RequestHead) -> [String] {
        var tokens: [String] = []
        for header in head.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") where tokens.count < Self.most {
                let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if sides.count == 2, sides[0] == name { tokens.append(String(sides[1])) }
            }
        }
        return tokens
    }

    /// The header that has a browser show a token, or nothing any more if it is `nil`. Scripts of the page cannot read it.
    func header(_ token: String?) -> (name: String, value: String) {
        let age = token == nil ? 0 : SampleStore.pageTimes.session / 1_000_000
        // The prefix wants the path to be the root.
        let place = isSecure ? "Path=/; Secure" : "Path=/page"
        return ("Set-Cookie", "\(name)=\(token ?? "-"); \(place); Max-Age=\(age); HttpOnly; SameSite=Strict")
    }
}
