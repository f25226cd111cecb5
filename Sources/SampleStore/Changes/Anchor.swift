/// How far a reader of changes has come: a place in the history of one store.
///
/// The text is opaque to readers. It holds the number of the last change seen, and the token of the process that was the last to begin
/// to write by then: where a store was put back from a copy, other processes write its further changes, and the same numbers are other changes.
public struct Anchor: Hashable, Sendable, CustomStringConvertible {
    /// Of the epoch that the change is of; empty at the beginning.
    let token: String
    /// The last change seen.
    let seq: Int64

    /// Before the first change of any store, written `0`.
    public static let beginning = Anchor(token: "", seq: 0)

    init(token: String, seq: Int64) {
        self.token = token
        self.seq = seq
    }

    /// The last change seen, as a number within one history. No reader that sees a part of a store may be told it.
    public var number: Int64 { seq }

    /// Reads an anchor; `nil` where the text is none, such as a change's number alone.
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
