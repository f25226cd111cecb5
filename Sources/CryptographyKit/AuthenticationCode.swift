import CCrypto

/// Message authentication codes (HMAC, RFC 2104).
package enum AuthenticationCode {
    /// Returns the 32 bytes of HMAC with SHA-256.
    ///
    /// - Parameter key: any number of bytes.
    package static func sha256(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &code, &length)
        return code
    }
}
