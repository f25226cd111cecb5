import CryptographyKit
import HTTPClientKit

/// The request signature of Standard Webhooks (standardwebhooks.com): HMAC with SHA-256 over `ID.TIME.BODY`.
struct Signature {
    private let key: [UInt8]

    /// - Parameter secret: `whsec_` followed by base64, or any other text, whose bytes are the key.
    init(_ secret: String) {
        key = secret.hasPrefix("whsec_") ? Base64.bytes(secret.dropFirst(6)) ?? Array(secret.utf8) : Array(secret.utf8)
    }

    /// Returns `v1,` and the signature in base64.
    func text(of body: [UInt8], id: String, time: String) -> String {
        let message = Array("\(id).\(time).".utf8) + body
        return "v1," + Base64.text(AuthenticationCode.sha256(of: message, key: key))
    }
}
