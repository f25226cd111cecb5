import CCrypto

/// Digests that a protocol prescribes.
package enum MessageDigest {
    /// Returns the 20 bytes of SHA-1, which is not safe for signatures. The WebSocket handshake requires it.
    package static func sha1(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        EVP_Digest(message, message.count, &digest, nil, EVP_sha1(), nil)
        return digest
    }
}
