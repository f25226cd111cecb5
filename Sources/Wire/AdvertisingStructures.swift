/// The structures of an advertisement (Core specification 5.4, vol 3, part C, 11).
///
///     | length | type | data (length - 1 bytes) | length | type | …
///
/// A length of 0 ends the list. The bytes may be an advertisement followed by a scan response.
package struct AdvertisingStructures: Sendable {
    package struct Structure: Sendable {
        /// The type, such as 0x16 for service data (Assigned Numbers, 2.3).
        package let type: UInt8
        /// The data after the type.
        package let data: [UInt8]
    }

    package private(set) var all: [Structure] = []
    /// Whether the last one is longer than the rest, so that bytes are missing.
    package private(set) var isTorn = false

    package init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let length = rest.popFirst(), length > 0 {
            guard length <= rest.count, let type = rest.first else {
                isTorn = true
                return
            }
            all.append(Structure(type: type, data: Array(rest.prefix(Int(length)).dropFirst())))
            rest = rest.dropFirst(Int(length))
        }
    }
}
