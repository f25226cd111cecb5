/// The mark of its encoding that a text may begin with (Unicode 16.0, section 23.8).
public enum ByteOrderMark: Hashable, Sendable {
    case utf8, utf16LittleEndian, utf16BigEndian

    /// The mark at the start of a text, or `nil` if there is none.
    @inlinable public init?(_ bytes: some Sequence<UInt8>) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8
        } else if bytes.starts(with: [0xFF, 0xFE]) {
            self = .utf16LittleEndian
        } else if bytes.starts(with: [0xFE, 0xFF]) {
            self = .utf16BigEndian
        } else {
            return nil
        }
    }

    /// The number of bytes of the mark.
    public var length: Int { self == .utf8 ? 3 : 2 }

    /// The number of bytes of the mark of UTF-8 at the start of a text, 0 if there is none.
    @inlinable public static func lengthUTF8(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }
}
