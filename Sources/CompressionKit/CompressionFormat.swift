/// A container for bytes that are compressed with DEFLATE.
package enum CompressionFormat: Sendable {
    /// zlib (RFC 1950): a header of two bytes and a checksum.
    case zlib
    /// gzip (RFC 1952): the format of `Content-Encoding: gzip`.
    case gzip
    /// DEFLATE (RFC 1951) without a container, as in a ZIP file.
    case raw

    /// zlib's `windowBits`: 15 for the largest window, 16 more for gzip, and negative for no container.
    var window: Int32 {
        switch self {
        case .zlib: 15
        case .gzip: 15 + 16
        case .raw: -15
        }
    }
}

package enum CompressionLevel: Sendable {
    /// The least effort (level 1).
    case fast
    /// The usual effort of zlib and gzip (level 6).
    case standard

    var number: Int32 {
        switch self {
        case .fast: 1
        case .standard: 6
        }
    }
}
