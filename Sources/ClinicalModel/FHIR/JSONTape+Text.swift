import HealthModel

// Access to names and values.
extension JSONTape {
    /// The bytes of a value. Those of a string are as written, without quotation marks.
    @inline(__always) func bytes(of node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Int(nodes[node].start)..<Int(nodes[node].end)])
    }

    /// The bytes of the value's name.
    @inline(__always) func name(of node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[Int(nodes[node].nameStart)..<Int(nodes[node].nameEnd)])
    }

    @inline(__always) func name(of node: Int, is name: StaticString) -> Bool { self.name(of: node).isEqual(to: name) }

    /// Calls `body` for each direct child of an object or array.
    @inline(__always) func forEachChild<Failure: Error>(
        of node: Int, _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        var child = node + 1
        let end = Int(nodes[node].next)
        while child < end {
            try body(child)
            child = Int(nodes[child].next)
        }
    }

    /// The member of an object with a name, or `nil`.
    func member(_ name: StaticString, of node: Int?) -> Int? {
        guard let node, nodes[node].kind == .object else { return nil }
        var child = node + 1
        let end = Int(nodes[node].next)
        while child < end {
            if self.name(of: child, is: name) { return child }
            child = Int(nodes[child].next)
        }
        return nil
    }

    /// The elements of an array. A value that is not an array is returned alone.
    func list(_ node: Int?) -> [Int] {
        guard let node else { return [] }
        guard nodes[node].kind == .array else { return [node] }
        var list: [Int] = []
        forEachChild(of: node) { list.append($0) }
        return list
    }

    /// A string with its escapes resolved, or an empty text if the value is not a string.
    func text(_ node: Int?) -> String {
        guard let node, nodes[node].kind == .string else { return "" }
        let range = Int(nodes[node].start)..<Int(nodes[node].end)
        return JSONString(range, isEscaped: nodes[node].isEscaped).text(in: bytes)
    }

    /// The text of a member, or `nil` if it is not a string.
    func text(_ name: StaticString, of node: Int?) -> String? {
        guard let member = member(name, of: node), nodes[member].kind == .string else { return nil }
        return text(member)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are those of an ASCII text.
    @inline(__always) func isEqual(to text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount
            && elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

/// Makes foreign names safe for a path.
enum NameText {
    /// Returns a name of at most 64 letters, digits and `_`. Anything else is shown as `?`.
    static func shown(_ bytes: UnsafeRawBufferPointer) -> String {
        let isName = bytes.allSatisfy { byte in
            byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
        }
        return isName && !bytes.isEmpty && bytes.count <= 64 ? String(decoding: bytes, as: UTF8.self) : "?"
    }
}
