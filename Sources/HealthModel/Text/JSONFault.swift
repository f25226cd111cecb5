/// What is wrong with a JSON text, and where.
@frozen public struct JSONFault: JSONFailure, Hashable {
    /// What is wrong.
    @frozen public enum Kind: Hashable, Sendable {
        /// The text ends where a value, a name, or a separator must follow.
        case end
        /// No value begins here, or a word or number is not one of JSON.
        case value
        /// A member has no name in quotation marks.
        case name
        /// The name of a member has no colon after it.
        case colon
        /// Two members, or two elements, have no comma between them.
        case memberSeparator, elementSeparator
        /// A string contains a control character, an unknown escape, or half of a surrogate pair.
        case controlCharacter, escape, halfCharacter
        /// A string has no end.
        case unclosedText
        /// A number has no digit after its point, or in its exponent.
        case fraction, exponent
        /// A value is nested too deeply.
        case depth
    }

    public var kind: Kind
    /// The index of the first wrong byte. It is the number of bytes if the text ends too early.
    public var index: Int
    /// The index of the first byte of the escape, word, or number that is wrong. For other faults it is ``index``.
    public var start: Int
    /// Whether the text ends here, so that more bytes could make it valid.
    public var isEnd: Bool

    public init(_ kind: Kind, at index: Int, from start: Int, isEnd: Bool) {
        (self.kind, self.index, self.start, self.isEnd) = (kind, index, start, isEnd)
    }

    public init(_ fault: JSONFault) { self = fault }

    /// The fault in words, without its place.
    public var reason: String {
        switch kind {
        case .end: "it ends early"
        case .value: "it is not JSON"
        case .name: "a name is missing"
        case .colon: "a colon is missing after a name"
        case .memberSeparator, .elementSeparator: "a comma is missing"
        case .controlCharacter: "a text contains a control character"
        case .escape: "a text has an escape that JSON does not know"
        case .halfCharacter: "a text has half a character"
        case .unclosedText: "a text is never closed"
        case .fraction: "a number has no digit after its point"
        case .exponent: "a number has no digit in its exponent"
        case .depth: "it is nested too deeply"
        }
    }
}

/// The error of a ``JSONReader``: a ``JSONFault`` in the words of its caller.
public protocol JSONFailure: Error {
    init(_ fault: JSONFault)
}
