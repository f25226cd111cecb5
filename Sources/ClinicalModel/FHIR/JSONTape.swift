import HealthModel

/// A parsed JSON text (RFC 8259): its values in document order, each with the range of its bytes. Nothing is copied, and no number is
/// converted. It is valid only as long as the bytes are.
///
/// It accepts less than JSON, because the input is untrusted. It rejects duplicate names in an object, escapes in names, more than
/// ``maximumDepth`` levels or ``maximumCount`` values, and invalid UTF-8.
struct JSONTape {
    /// The kind of a value.
    enum Kind: UInt8 {
        case object, array, string, number, yes, no, null
    }

    /// A value.
    struct Node {
        var kind: Kind
        /// Whether a string has escapes.
        var isEscaped = false
        /// The range of its bytes, without a string's quotation marks.
        var start: Int32
        var end: Int32
        /// The range of its name in an object.
        var nameStart: Int32 = 0
        var nameEnd: Int32 = 0
        /// The hash of the name (FNV-1a).
        var hash: UInt64 = 0
        /// The index of the first value after this one and its children.
        var next: Int32 = 0
        /// The number of direct children.
        var count: Int32 = 0
    }

    /// The maximum depth. Resources have about twelve levels, and extensions some more.
    static let maximumDepth = 64
    /// The maximum number of values in a text.
    static let maximumCount = 200_000

    let octets: UnsafeRawBufferPointer
    private(set) var nodes: [Node] = []
    /// Hashes of the names in the objects that are open.
    private var names: [UInt64] = []
    private var index = 0

    /// Parses a text.
    ///
    /// - Parameter nodes: an array whose memory is reused.
    /// - Throws: ``ResourceFault`` with a path that begins with the outermost object's `resourceType`.
    init(_ octets: UnsafeRawBufferPointer, reusing nodes: consuming [Node] = []) throws(ResourceFault) {
        self.octets = octets
        self.nodes = nodes
        self.nodes.removeAll(keepingCapacity: true)
        guard octets.count < Int(Int32.max) else { throw ResourceFault("", "it is too long") }
        if let wrong = UTF8Text.firstFault(octets) { throw ResourceFault("", "it is not UTF-8", octet: wrong) }
        do throws(ResourceFault) {
            skipBlanks()
            try value(depth: 0)
            skipBlanks()
            guard index == octets.count else { throw fault("there is text after the resource") }
        } catch {
            throw ResourceFault(root + error.path, error.reason, octet: error.octet)
        }
    }

    private var root: String {
        guard !nodes.isEmpty, nodes[0].kind == .object else { return "" }
        // Only the part that was read. An object that is not closed has no count yet.
        var child = 1
        while child < nodes.count {
            let node = nodes[child]
            if node.kind == .string, name(of: child, is: "resourceType") { return ResourceTypes.shown(text(child)) }
            guard node.next > Int32(child) else { break }
            child = Int(node.next)
        }
        return "Resource"
    }

    private func fault(_ reason: String) -> ResourceFault { ResourceFault("", reason, octet: index) }

    @inline(__always) private mutating func skipBlanks() {
        while index < octets.count {
            let octet = octets[index]
            guard octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 else { return }
            index += 1
        }
    }

    private mutating func value(depth: Int, name: Range<Int> = 0..<0, hash: UInt64 = 0) throws(ResourceFault) {
        guard index < octets.count else { throw fault("it ends early") }
        guard nodes.count < Self.maximumCount else { throw fault("it has more than \(Self.maximumCount) values") }
        let position = nodes.count
        var node = Node(kind: .null, start: Int32(index), end: 0)
        (node.nameStart, node.nameEnd, node.hash) = (Int32(name.lowerBound), Int32(name.upperBound), hash)
        switch octets[index] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.maximumDepth else { throw fault("it is nested more than \(Self.maximumDepth) levels deep") }
            let isObject = octets[index] == UInt8(ascii: "{")
            node.kind = isObject ? .object : .array
            nodes.append(node)
            index += 1
            let count = isObject ? try members(depth: depth) : try elements(depth: depth)
            nodes[position].count = Int32(count)
            nodes[position].end = Int32(index)
            nodes[position].next = Int32(nodes.count)
            return
        case UInt8(ascii: "\""):
            node.kind = .string
            let text = try string(&node.isEscaped)
            (node.start, node.end) = (Int32(text.lowerBound), Int32(text.upperBound))
        case UInt8(ascii: "t"): try literal("true", .yes, &node)
        case UInt8(ascii: "f"): try literal("false", .no, &node)
        case UInt8(ascii: "n"): try literal("null", .null, &node)
        default: try number(&node)
        }
        node.next = Int32(position + 1)
        nodes.append(node)
    }

    private mutating func members(depth: Int) throws(ResourceFault) -> Int {
        let first = names.count
        defer { names.removeSubrange(first...) }
        var count = 0
        skipBlanks()
        if take(UInt8(ascii: "}")) { return 0 }
        while true {
            skipBlanks()
            guard index < octets.count, octets[index] == UInt8(ascii: "\"") else {
                throw fault(index < octets.count ? "a name is missing" : "it ends early")
            }
            var isEscaped = false
            let name = try string(&isEscaped)
            guard !isEscaped else { throw fault("a name is written with an escape") }
            let hash = StableHash.hash(UnsafeRawBufferPointer(rebasing: octets[name]))
            do throws(ResourceFault) {
                names.append(hash)
                if isTwice(from: first) { throw fault("occurs twice in one object") }
                skipBlanks()
                guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing after a name") }
                skipBlanks()
                try value(depth: depth + 1, name: name, hash: hash)
            } catch {
                throw ResourceFault("." + shownName(name) + error.path, error.reason, octet: error.octet)
            }
            count += 1
            skipBlanks()
            if take(UInt8(ascii: "}")) {
                try haveNoneTwice(from: first)
                return count
            }
            guard take(UInt8(ascii: ",")) else { throw fault(index < octets.count ? "a comma is missing" : "it ends early") }
        }
    }

    private mutating func elements(depth: Int) throws(ResourceFault) -> Int {
        var count = 0
        skipBlanks()
        if take(UInt8(ascii: "]")) { return 0 }
        while true {
            do throws(ResourceFault) {
                skipBlanks()
                try value(depth: depth + 1)
            } catch {
                throw ResourceFault("[\(count)]" + error.path, error.reason, octet: error.octet)
            }
            count += 1
            skipBlanks()
            if take(UInt8(ascii: "]")) { return count }
            guard take(UInt8(ascii: ",")) else { throw fault(index < octets.count ? "a comma is missing" : "it ends early") }
        }
    }

    /// Objects with more names are checked for duplicates when they are closed.
    private static let fewNames = 64

    /// Whether the last name is already present in its object.
    private func isTwice(from first: Int) -> Bool {
        guard names.count - first <= Self.fewNames, let last = names.last else { return false }
        return names[first..<(names.count - 1)].contains(last)
    }

    private func haveNoneTwice(from first: Int) throws(ResourceFault) {
        guard names.count - first > Self.fewNames, Set(names[first...]).count < names.count - first else { return }
        throw fault("an object has the same name twice")
    }

    private mutating func take(_ octet: UInt8) -> Bool {
        guard index < octets.count, octets[index] == octet else { return false }
        index += 1
        return true
    }

    private mutating func literal(_ text: StaticString, _ kind: Kind, _ node: inout Node) throws(ResourceFault) {
        let end = index + text.utf8CodeUnitCount
        guard end <= octets.count, UnsafeRawBufferPointer(rebasing: octets[index..<end]).isEqual(to: text) else {
            throw fault("it is not JSON")
        }
        node.kind = kind
        index = end
        node.end = Int32(end)
    }

    /// The range of the bytes between the quotation marks.
    @inline(__always) private mutating func string(_ isEscaped: inout Bool) throws(ResourceFault) -> Range<Int> {
        index += 1
        let first = index
        while index < octets.count {
            switch octets[index] {
            case UInt8(ascii: "\""):
                index += 1
                return first..<(index - 1)
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0..<0x20: throw fault("a text contains a control character")
            default: index += 1
            }
        }
        throw fault("a text is never closed")
    }

    private mutating func escape() throws(ResourceFault) {
        guard index + 1 < octets.count else { throw fault("a text is never closed") }
        switch octets[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"),
            UInt8(ascii: "b"), UInt8(ascii: "f"):
            index += 2
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(at: index + 2) else { throw fault("a text has an escape that JSON does not know") }
            if unit & 0xF800 == 0xD800 {
                // A single surrogate is not a character.
                guard unit < 0xDC00, index + 7 < octets.count, octets[index + 6] == UInt8(ascii: "\\"),
                    octets[index + 7] == UInt8(ascii: "u"), let low = codeUnit(at: index + 8), low & 0xFC00 == 0xDC00
                else { throw fault("a text has half a character") }
                index += 6
            }
            index += 6
        default: throw fault("a text has an escape that JSON does not know")
        }
    }

    /// The value of four hexadecimal digits.
    func codeUnit(at start: Int) -> UInt32? {
        guard start + 4 <= octets.count else { return nil }
        var unit: UInt32 = 0
        for octet in octets[start..<(start + 4)] {
            guard let digit = Character(Unicode.Scalar(octet)).hexDigitValue, octet < 0x80 else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Parses `-`, digits without a leading zero, a fraction and an exponent.
    private mutating func number(_ node: inout Node) throws(ResourceFault) {
        let first = index
        if octets[index] == UInt8(ascii: "-") { index += 1 }
        let digits = skipDigits()
        guard digits > 0, digits == 1 || octets[index - digits] != UInt8(ascii: "0") else {
            index = first
            throw fault("it is not JSON")
        }
        if index < octets.count, octets[index] == UInt8(ascii: ".") {
            index += 1
            guard skipDigits() > 0 else { throw fault("a number has no digit after its point") }
        }
        if index < octets.count, octets[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < octets.count, octets[index] == UInt8(ascii: "+") || octets[index] == UInt8(ascii: "-") { index += 1 }
            guard skipDigits() > 0 else { throw fault("a number has no digit in its exponent") }
        }
        node.kind = .number
        node.end = Int32(index)
    }

    private mutating func skipDigits() -> Int {
        let first = index
        while index < octets.count, octets[index] &- UInt8(ascii: "0") < 10 { index += 1 }
        return index - first
    }

    /// A name for a path. Foreign names may be long or contain control characters.
    private func shownName(_ name: Range<Int>) -> String { NameText.shown(UnsafeRawBufferPointer(rebasing: octets[name])) }
}
