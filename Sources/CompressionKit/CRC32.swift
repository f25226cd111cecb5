import CDeflate

/// The checksum of gzip and ZIP (RFC 1952, section 8), computed in pieces.
package struct CRC32: Sendable {
    /// The checksum of all bytes so far.
    package private(set) var value: UInt32 = 0

    /// Creates the checksum of no bytes.
    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // libdeflate starts again if there is no address.
        guard let start = bytes.baseAddress else { return }
        value = libdeflate_crc32(value, start, bytes.count)
    }
}
