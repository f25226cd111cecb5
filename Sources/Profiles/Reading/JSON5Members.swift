/// The members of an object in a JSON5 text, with their positions in bytes. It allows to edit a text without its comments being lost.
package struct JSON5Members: Sendable {
    /// A key with its value.
    package struct Member: Sendable {
        package let key: String
        /// The position of the key.
        package let start: Int
        package let value: Range<Int>
        /// The position of the comma after the value, or `nil` if there is none.
        package let comma: Int?
        /// The position after the value and its comma.
        package var end: Int { comma.map { $0 + 1 } ?? value.upperBound }
    }

    /// The positions of the braces.
    package let open: Int, close: Int
    /// The members in the order of the text.
    package let all: [Member]

    /// Returns the members of the outermost object, or of the object at a position. `nil` if another value is there.
    ///
    /// - Throws: ``JSON5Fault`` if the text is not JSON5.
    package static func find(in bytes: [UInt8], at position: Int? = nil) throws(JSON5Fault) -> JSON5Members? {
        if let fault = JSON5Fault.find(in: bytes) { throw fault }
        var parser = JSON5Parser(bytes)
        // The text is JSON5, so this does not fail.
        return try? parser.members(of: position)
    }
}
