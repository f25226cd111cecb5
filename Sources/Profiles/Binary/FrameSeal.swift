import CryptographyKit

/// The key and address that decrypt a device's frames.
package struct FrameSecrets: Hashable, Sendable {
    /// The key: 16 bytes, as the maker's app shows them.
    package var bindKey: [UInt8]?
    /// The address: 6 bytes, in the order in which addresses are printed.
    package var address: [UInt8]?

    package init(bindKey: [UInt8]? = nil, address: [UInt8]? = nil) {
        self.bindKey = bindKey
        self.address = address
    }
}

/// The encryption of adverts: AES-128-CCM with a tag of 4 bytes. Each format builds its nonce from address, header and counter.
///
///     bthome-v2     ciphertext · counter 4 · tag 4     nonce: address · D2 FC · information · counter            (bthome.io, "Encryption")
///     mibeacon-v5   ciphertext · counter 3 · tag 4     nonce: address reversed · product, frame counter · counter; authenticated: 11
///     pvvx          ciphertext · tag 4                 nonce: address reversed · length, 16, 1A 18 · counter 1;    authenticated: 11
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
        let bytes = sealed[(sealed.count - overhead)..<(sealed.count - Self.tagLength)]
        let counter = bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
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
        guard sealed.count >= overhead, address.count == 6, let nonce = nonce(header, sealed, address) else { return nil }
        let (end, tag) = (sealed.count - overhead, sealed.count - Self.tagLength)
        return AESCCM.open(
            UnsafeRawBufferPointer(rebasing: sealed[..<end]), tag: UnsafeRawBufferPointer(rebasing: sealed[tag...]), key: key,
            nonce: nonce, authenticated: self == .bthomeV2 ? [] : [0x11])
    }
}
