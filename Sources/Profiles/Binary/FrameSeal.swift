import CCrypto

/// The key and address that decrypt a device's frames.
public struct FrameSecrets: Hashable, Sendable {
    /// The key: 16 bytes, as the maker's app shows them.
    public var bindKey: [UInt8]?
    /// The address: 6 bytes, in the order in which addresses are printed.
    public var address: [UInt8]?

    public init(bindKey: [UInt8]? = nil, address: [UInt8]? = nil) {
        self.bindKey = bindKey
        self.address = address
    }
}

/// The encryption of adverts: AES-128-CCM with a tag of 4 bytes. Each format builds its nonce from address, header and counter.
///
///     bthome-v2     ciphertext · counter 4 · tag 4     nonce: address · D2 FC · information · counter            (bthome.io, "Encryption")
///     mibeacon-v5   ciphertext · counter 3 · tag 4     nonce: address reversed · product, frame counter · counter; authenticated: 11
///     pvvx          ciphertext · tag 4                 nonce: address reversed · length, 16, 1A 18 · counter 1;    authenticated: 11
///
/// Uses libcrypto's EVP interface. Only this file calls its functions.
enum FrameSeal: String, CaseIterable, Sendable {
    case bthomeV2 = "bthome-v2"
    /// Versions 4 and 5 of Xiaomi's MiBeacon.
    case mibeaconV5 = "mibeacon-v5"
    /// The firmware of pvvx and ATC1441 for Xiaomi's thermometers.
    case pvvx

    private static let tagLength = 4

    private var counterLength: Int {
        switch self {
        case .bthomeV2: 4
        case .mibeaconV5: 3
        case .pvvx: 0
        }
    }

    /// The number of bytes that are not ciphertext.
    var overhead: Int { counterLength + Self.tagLength }

    /// The frame counter, which rises over a device's whole life, or nil if it restarts every 256 frames.
    func counter(_ header: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer) -> UInt32? {
        guard counterLength > 0, sealed.count >= overhead else { return nil }
        let octets = sealed[(sealed.count - overhead)..<(sealed.count - Self.tagLength)]
        let counter = octets.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard self == .mibeaconV5 else { return counter }
        // The header contains the lowest byte, and the trailer the three above it.
        return header.count > 4 ? counter << 8 | UInt32(header[4]) : nil
    }

    /// - Parameters:
    ///   - header: the frame up to the encrypted part.
    ///   - sealed: the rest, including counter and tag.
    private func nonce(_ header: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer, _ address: [UInt8]) -> [UInt8]? {
        let counter = sealed[(sealed.count - overhead)..<(sealed.count - Self.tagLength)]
        switch self {
        case .bthomeV2:
            guard let information = header.last else { return nil }
            return address + [0xD2, 0xFC, information] + counter
        case .mibeaconV5:
            guard header.count >= 5 else { return nil }
            return address.reversed() + header[2..<5] + counter
        case .pvvx:
            guard let count = header.last, let length = UInt8(exactly: header.count + sealed.count + 3) else { return nil }
            return address.reversed() + [length, 0x16, 0x1A, 0x18, count]
        }
    }

    /// Returns the plaintext, or `nil` if the tag does not match the key, address and counter.
    func open(
        _ header: UnsafeRawBufferPointer, _ sealed: UnsafeRawBufferPointer, key: [UInt8], address: [UInt8]
    ) -> [UInt8]? {
        guard sealed.count >= overhead, key.count == 16, address.count == 6, let nonce = nonce(header, sealed, address) else {
            return nil
        }
        let length = sealed.count - overhead
        var tag = Array(sealed[(sealed.count - Self.tagLength)...])
        let ciphertext = Array(sealed[..<length])
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_DecryptInit_ex(context, EVP_aes_128_ccm(), nil, nil, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &tag) == 1,
            EVP_DecryptInit_ex(context, nil, nil, key, nonce) == 1
        else { return nil }
        var written: Int32 = 0
        if self != .bthomeV2 {
            // CCM needs the total length before the additional authenticated data.
            guard EVP_DecryptUpdate(context, nil, &written, nil, Int32(length)) == 1,
                EVP_DecryptUpdate(context, nil, &written, [0x11], 1) == 1
            else { return nil }
        }
        // CCM checks the tag in this call, which fails if the tag is wrong. The extra byte keeps the pointer valid for an empty plaintext.
        var plaintext = [UInt8](repeating: 0, count: length + 1)
        guard EVP_DecryptUpdate(context, &plaintext, &written, ciphertext.isEmpty ? [0] : ciphertext, Int32(length)) == 1,
            Int(written) == length
        else { return nil }
        plaintext.removeLast()
        return plaintext
    }
}
