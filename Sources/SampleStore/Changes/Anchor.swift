/// The position of a reader in the change history of one store.
///
/// The text form is opaque to readers. It contains the number of the last change seen and the token of the process that
/// had most recently begun to write at that point. If a store is restored from a copy, other processes write its
/// further changes, so the same numbers mean different changes.
public struct Anchor: Hashable, Sendable, CustomStringConvertible {
    /// The token of the change's epoch, or an empty string at the beginning.
    let token: String
    /// The number of the last change seen.
    let seq: Int64

    /// The anchor before the first change of any store, written `0`.
    public static let beginning = Anchor(token: "", seq: 0)

    init(token: String, seq: Int64) {
        self.token = token
        self.seq = seq
    }

    /// The number of the last change seen, within one history. Never reveal it to a reader that sees only part of the
    /// store.
    public var number: Int64 { seq }

    /// Parses an anchor. Returns `nil` if the text is not an anchor, such as a bare change number.
    public init?(_ text: some StringProtocol) {
        if text == "0" {
            self = .beginning
            return
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16, parts[0].utf8.allSatisfy(Self.isDigit), let seq = Int64(parts[1]),
            seq > 0,
            parts[1] == "\(seq)"
        else { return nil }
        self.init(token: String(parts[0]), seq: seq)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    public var description: String { seq == 0 ? "0" : "\(token)-\(seq)" }
}
