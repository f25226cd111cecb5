import CCrypto

/// What a device's encrypted frames are opened with.
public struct FrameSecrets: Hashable, Sendable {
    /// 16 octets, as the maker's app shows them.
    public var bindKey: [UInt8]?
    /// 6 octets, in the order in which an address is printed.
    public var address: [UInt8]?

    public init(bindKey: [UInt8]? = nil, address: [UInt8]? = nil) {
        self.bindKey = bindKey
        self.address = address
    }
}

/// The encryption of BTHome v2: AES-128-CCM with a tag of 4 octets (bthome.io, "Encryption").
///
///     ┌─────────────┬────────────┬─────────────┬──────────────┐
///     │ information │ ciphertext │ counter u32 │ tag, 4 octets │
///     └─────────────┴────────────┴─────────────┴──────────────┘
///     nonce: address (6) · D2 FC · information (1) · counter (4), nothing else is authenticated
///
/// Through libcrypto's EVP interface, whose functions this file alone calls.
enum BTHomeSeal {
    private static let counterLength = 4
    private static let tagLength = 4
    /// Octets that are no ciphertext.
    static let overhead = counterLength + tagLength

    /// What rises with each frame, least significant octet first.
    static func counter(_ sealed: UnsafeRawBufferPointer) -> UInt32? {
        guard sealed.count >= overhead else { return nil }
        return sealed[(sealed.count - overhead)..<(sealed.count - tagLength)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The plaintext, or `nil` where the tag is not that of this key, address and counter.
    static func open(_ sealed: UnsafeRawBufferPointer, information: UInt8, key: [UInt8], address: [UInt8]) -> [UInt8]? {
        guard sealed.count >= overhead, key.count == 16, address.count == 6 else { return nil }
        let length = sealed.count - overhead
        let counter = sealed[length..<(length + counterLength)]
        var tag = Array(sealed[(length + counterLength)...])
        let nonce = address + [0xD2, 0xFC, information] + counter
        let ciphertext = Array(sealed[..<length])
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_DecryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1,
            EVP_DecryptInit_ex(context, nil, nil, key, nonce) == 1
        else { return nil }
        // CCM checks the tag in this one call; it fails where the tag is wrong. One octet more keeps the address valid for none.
        var plaintext = [UInt8](repeating: 0, count: length + 1)
        var written: Int32 = 0
        guard EVP_DecryptUpdate(context, &plaintext, &written, ciphertext.isEmpty ? [0] : ciphertext, Int32(length)) == 1,
            Int(written) == length
        else { return nil }
        plaintext.removeLast()
        return plaintext
    }
}
