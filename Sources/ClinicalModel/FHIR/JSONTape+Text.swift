import HealthModel

// Access to names and values.
extension JSONTape {
    /// The bytes of a value. Those of a string are as written, without quotation marks.
    @inline(__always) func octets(of node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: octets[Int(nodes[node].start)..<Int(nodes[node].end)])
    }

    /// The bytes of the value's name.
    @inline(__always) func name(of node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: octets[Int(nodes[node].nameStart)..<Int(nodes[node].nameEnd)])
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
        let octets = octets(of: node)
        guard nodes[node].isEscaped else { return String(decoding: octets, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(octets.count)
        var index = 0
        while index < octets.count {
            guard octets[index] == UInt8(ascii: "\\") else {
                plain.append(octets[index])
                index += 1
                continue
            }
            index += 2
            switch octets[index - 1] {
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "u"):
                let start = Int(nodes[node].start) + index
                var scalar = codeUnit(at: start) ?? 0xFFFD
                index += 4
                if scalar & 0xFC00 == 0xD800, let low = codeUnit(at: start + 6) {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
                    index += 6
                }
                plain += Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
            default: plain.append(octets[index - 1])
            }
        }
        return String(decoding: plain, as: UTF8.self)
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
    static func shown(_ octets: UnsafeRawBufferPointer) -> String {
        let isName = octets.allSatisfy { octet in
            octet &- UInt8(ascii: "0") < 10 || (octet | 0x20) &- UInt8(ascii: "a") < 26 || octet == UInt8(ascii: "_")
        }
        return isName && !octets.isEmpty && octets.count <= 64 ? String(decoding: octets, as: UTF8.self) : "?"
    }
}

/// Validates UTF-8.
enum UTF8Text {
    /// The index of the first invalid byte (Unicode, table 3-7), or `nil` if all are valid.
    static func firstFault(_ octets: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while index < octets.count {
            if index + 8 <= octets.count,
                octets.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            let first = octets[index]
            if first < 0x80 {
                index += 1
                continue
            }
            let length: Int
            var second: ClosedRange<UInt8> = 0x80...0xBF
            switch first {
            case 0xC2...0xDF: length = 2
            case 0xE0: (length, second) = (3, 0xA0...0xBF)
            case 0xED: (length, second) = (3, 0x80...0x9F)
            case 0xE1...0xEF: length = 3
            case 0xF0: (length, second) = (4, 0x90...0xBF)
            case 0xF1...0xF3: length = 4
            case 0xF4: (length, second) = (4, 0x80...0x8F)
            default: return index
            }
            guard index + length <= octets.count, second.contains(octets[index + 1]) else { return index }
            if length > 2, octets[index + 2] & 0xC0 != 0x80 { return index }
            if length > 3, octets[index + 3] & 0xC0 != 0x80 { return index }
            index += length
        }
        return nil
    }
}
