import CCrypto

/// AES-128 in CCM mode (RFC 3610), which encrypts and authenticates.
package enum AESCCM {
    /// The length of a key in bytes.
    package static let keySize = 16

    /// Decrypts a message. Returns `nil` if the tag does not match the other arguments, or an argument has an invalid length.
    ///
    /// - Parameters:
    ///   - ciphertext: the encrypted bytes. The plaintext has the same length.
    ///   - tag: 4 to 16 bytes.
    ///   - key: ``keySize`` bytes.
    ///   - nonce: 7 to 13 bytes.
    ///   - authenticated: bytes that are authenticated but not encrypted.
    package static func open(
        _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: [UInt8], nonce: [UInt8],
        authenticated: [UInt8] = []
    ) -> [UInt8]? {
        guard key.count == keySize, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let length = Int32(clamping: ciphertext.count)
        // libcrypto only reads the tag.
        guard EVP_DecryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(clamping: nonce.count), nil) == 1,
            EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_SET_TAG, Int32(clamping: tag.count), UnsafeMutableRawPointer(mutating: tag.baseAddress))
                == 1,
            EVP_DecryptInit_ex(context, nil, nil, key, nonce) == 1
        else { return nil }
        var written: Int32 = 0
        if !authenticated.isEmpty {
            // CCM needs the total length before the additional authenticated data.
            guard EVP_DecryptUpdate(context, nil, &written, nil, length) == 1,
                EVP_DecryptUpdate(context, nil, &written, authenticated, Int32(clamping: authenticated.count)) == 1
            else { return nil }
        }
        // CCM checks the tag in this call, which fails if the tag is wrong. The extra byte keeps the pointers valid if there is no text.
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count + 1)
        let code =
            if let start = ciphertext.baseAddress, !ciphertext.isEmpty {
                EVP_DecryptUpdate(context, &plaintext, &written, start.assumingMemoryBound(to: UInt8.self), length)
            } else {
                EVP_DecryptUpdate(context, &plaintext, &written, [0], 0)
            }
        guard code == 1, Int(written) == ciphertext.count else { return nil }
        plaintext.removeLast()
        return plaintext
    }
}
