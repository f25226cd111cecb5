/// The first digits of a sample's UUID, at least four, by which a person names the sample.
///
/// The first 12 digits are the nominal start in milliseconds, so a prefix is a range of nominal starts.
public struct IdentityPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The minimum number of digits.
    public static let shortest = 4

    /// The digits in lower case, without hyphens.
    private let digits: [UInt8]

    /// Parses the beginning of a UUID, with or without hyphens. Returns `nil` for any other text and for a
    /// whole UUID.
    public init?(_ text: some StringProtocol) {
        var digits: [UInt8] = []
        let bytes = Array(text.utf8)
        guard bytes.count <= SampleIdentity.textLength else { return nil }
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "-"):
                guard [8, 13, 18, 23].contains(index) else { return nil }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(byte | 0x20)
            default: return nil
            }
        }
        guard digits.count >= Self.shortest, digits.count < 32 else { return nil }
        self.digits = digits
    }

    /// The digits in lower case.
    public var description: String { String(decoding: digits, as: UTF8.self) }

    /// The nominal starts in microseconds of all UUIDs that begin with the digits.
    public var nominalStarts: ClosedRange<Int64> {
        var low: Int64 = 0
        let given = digits.prefix(12)
        for digit in given {
            low = low << 4 | Int64(digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10)
        }
        let free = Int64(4 * (12 - given.count))
        low <<= free
        return low * 1000...(low + (1 << free) - 1) * 1000 + 999
    }

    /// Whether a UUID begins with the digits.
    public func matches(_ identity: SampleIdentity) -> Bool {
        identity.description.utf8.filter { $0 != UInt8(ascii: "-") }.starts(with: digits)
    }
}
