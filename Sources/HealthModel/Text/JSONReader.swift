/// Reads JSON (RFC 8259) from bytes, part by part. It copies nothing and converts no number: strings and numbers are ranges of bytes.
///
///     var reader = JSONReader<JSONFault>(bytes, maximumDepth: 32)
///     try reader.forEachMember { name, value in print(name.text(in: bytes), bytes[value].count) }
///
/// UTF-8, duplicate names, and text after the value are for the caller to check. `Failure` is the caller's own error.
@frozen public struct JSONReader<Failure: JSONFailure> {
    /// What is checked of strings and numbers.
    @frozen public enum Checks: Sendable {
        /// Only that they end: escapes and the order of a number's digits and signs may be wrong.
        case structure
        /// The grammar of JSON.
        case grammar
        /// The grammar, and that no escape is half of a surrogate pair.
        case characters
    }

    /// The kind of a value.
    @frozen public enum Kind: UInt8, Sendable {
        case object, array, string, number, yes, no, null
    }

    public let bytes: UnsafeRawBufferPointer
    /// The index of the next byte.
    public var index: Int
    @usableFromInline let checks: Checks
    @usableFromInline let maximumDepth: Int

    /// - Parameters:
    ///   - index: where to begin.
    ///   - maximumDepth: how deep a skipped value may be nested. The reader is recursive.
    @inlinable public init(
        _ bytes: UnsafeRawBufferPointer, from index: Int = 0, checks: Checks = .grammar, maximumDepth: Int
    ) {
        (self.bytes, self.index, self.checks, self.maximumDepth) = (bytes, index, checks, maximumDepth)
    }

    /// Whether there is no further byte.
    @inlinable public var isAtEnd: Bool { index >= bytes.count }

    /// The error for a fault at the next byte.
    ///
    /// - Parameter start: where the wrong word, number, or escape begins.
    public func fault(_ kind: JSONFault.Kind, from start: Int? = nil) -> Failure {
        Failure(JSONFault(kind, at: index, from: start ?? index, isEnd: isAtEnd))
    }

    @inlinable public mutating func skipBlanks() {
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            index += 1
        }
    }

    /// Skips a byte if it is the next one, and returns whether it is.
    @inlinable public mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    // MARK: Values

    /// The kind of the value that begins with the next byte. Any other byte counts as the beginning of a number.
    @inlinable public func kind() throws(Failure) -> Kind {
        guard index < bytes.count else { throw fault(.end) }
        switch bytes[index] {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"): return .yes
        case UInt8(ascii: "f"): return .no
        case UInt8(ascii: "n"): return .null
        default: return .number
        }
    }

    /// Skips a value and the blanks before it. Returns its range, which includes a string's quotation marks.
    @inlinable public mutating func value(depth: Int = 0) throws(Failure) -> Range<Int> {
        guard depth <= maximumDepth else { throw fault(.depth) }
        skipBlanks()
        let first = index
        switch try kind() {
        case .object: try forEachMember(depth: depth) { _, _ in }
        case .array: try forEachElement(depth: depth) { _ in }
        case .string: _ = try string()
        case let kind: try literal(kind)
        }
        return first..<index
    }

    /// Skips a number, `true`, `false`, or `null`.
    @inlinable public mutating func literal(_ kind: Kind) throws(Failure) {
        switch kind {
        case .yes: try word("true")
        case .no: try word("false")
        case .null: try word("null")
        default: try number()
        }
    }

    // MARK: Objects and arrays

    /// Passes the name and the range of the value of each member of the object that begins here.
    @inlinable public mutating func forEachMember(
        depth: Int = 0, _ body: (_ name: JSONString, _ value: Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        var count = 0
        try open("{")
        while let name = try nextName(after: count) {
            try colon()
            try body(name, try value(depth: depth + 1))
            count += 1
        }
    }

    /// Passes the range of each element of the array that begins here.
    @inlinable public mutating func forEachElement(
        depth: Int = 0, _ body: (Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        var count = 0
        try open("[")
        while try nextElement(after: count) {
            try body(try value(depth: depth + 1))
            count += 1
        }
    }

    /// Skips the bracket that must come next.
    @inlinable public mutating func open(_ bracket: Unicode.Scalar) throws(Failure) {
        guard take(bracket) else { throw fault(.value) }
    }

    /// Reads the name of an object's next member, or returns `nil` at the end of the object.
    ///
    /// - Parameter count: the number of members so far.
    @inlinable public mutating func nextName(after count: Int) throws(Failure) -> JSONString? {
        skipBlanks()
        if take("}") { return nil }
        if count > 0 {
            guard take(",") else { throw fault(isAtEnd ? .end : .memberSeparator) }
            skipBlanks()
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw fault(isAtEnd ? .end : .name) }
        return try string()
    }

    /// Skips the colon between a name and its value, and blanks.
    @inlinable public mutating func colon() throws(Failure) {
        skipBlanks()
        guard take(":") else { throw fault(.colon) }
        skipBlanks()
    }

    /// Whether an array has another element, which then begins here.
    ///
    /// - Parameter count: the number of elements so far.
    @inlinable public mutating func nextElement(after count: Int) throws(Failure) -> Bool {
        skipBlanks()
        if take("]") { return false }
        if count > 0 {
            guard take(",") else { throw fault(isAtEnd ? .end : .elementSeparator) }
            skipBlanks()
        }
        return true
    }
}
