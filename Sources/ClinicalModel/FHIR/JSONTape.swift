import HealthModel

/// A parsed JSON text (RFC 8259): its values in document order, each with the range of its bytes. Nothing is copied, and no number is
/// converted. It is valid only as long as the bytes are.
///
/// It accepts less than JSON, because the input is untrusted. It rejects duplicate names in an object, escapes in names, more than
/// ``maximumDepth`` levels or ``maximumCount`` values, and invalid UTF-8.
struct JSONTape {
    typealias Kind = JSONReader<ResourceFault>.Kind

    struct Node {
        var kind: Kind
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
        var count: Int32 = 0
    }

    /// The maximum depth. Resources have about twelve levels, and extensions some more.
    static let maximumDepth = 64
    /// The maximum number of values in a text.
    static let maximumCount = 200_000

    let bytes: UnsafeRawBufferPointer
    private(set) var nodes: [Node] = []
    /// Hashes of the names in the objects that are open.
    private var names: [UInt64] = []
    private var reader: JSONReader<ResourceFault>

    /// Parses a text.
    ///
    /// - Parameter nodes: an array whose memory is reused.
    /// - Throws: ``ResourceFault`` with a path that begins with the outermost object's `resourceType`.
    init(_ bytes: UnsafeRawBufferPointer, reusing nodes: consuming [Node] = []) throws(ResourceFault) {
        self.bytes = bytes
        reader = JSONReader(bytes, checks: .characters, maximumDepth: Self.maximumDepth)
        self.nodes = nodes
        self.nodes.removeAll(keepingCapacity: true)
        guard bytes.count < Int(Int32.max) else { throw ResourceFault("", "it is too long") }
        if let wrong = UTF8Text.firstFault(bytes) { throw ResourceFault("", "it is not UTF-8", byte: wrong) }
        do throws(ResourceFault) {
            reader.skipBlanks()
            try value(depth: 0)
            reader.skipBlanks()
            guard reader.isAtEnd else { throw fault("there is text after the resource") }
        } catch {
            throw ResourceFault(root + error.path, error.reason, byte: error.byte)
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

    private func fault(_ reason: String) -> ResourceFault { ResourceFault("", reason, byte: reader.index) }

    private mutating func value(depth: Int, name: Range<Int> = 0..<0, hash: UInt64 = 0) throws(ResourceFault) {
        let kind = try reader.kind()
        guard nodes.count < Self.maximumCount else { throw fault("it has more than \(Self.maximumCount) values") }
        let position = nodes.count
        var node = Node(kind: kind, start: Int32(reader.index), end: 0)
        (node.nameStart, node.nameEnd, node.hash) = (Int32(name.lowerBound), Int32(name.upperBound), hash)
        switch kind {
        case .object, .array:
            guard depth < Self.maximumDepth else { throw reader.fault(.depth) }
            nodes.append(node)
            let count = kind == .object ? try members(depth: depth) : try elements(depth: depth)
            nodes[position].count = Int32(count)
            nodes[position].end = Int32(reader.index)
            nodes[position].next = Int32(nodes.count)
            return
        case .string:
            let text = try reader.string()
            node.isEscaped = text.isEscaped
            (node.start, node.end) = (Int32(text.range.lowerBound), Int32(text.range.upperBound))
        default:
            try reader.literal(kind)
            node.end = Int32(reader.index)
        }
        node.next = Int32(position + 1)
        nodes.append(node)
    }

    private mutating func members(depth: Int) throws(ResourceFault) -> Int {
        let first = names.count
        defer { names.removeSubrange(first...) }
        var count = 0
        try reader.open("{")
        while let name = try reader.nextName(after: count) {
            guard !name.isEscaped else { throw fault("a name is written with an escape") }
            let hash = StableHash.hash(UnsafeRawBufferPointer(rebasing: bytes[name.range]))
            do throws(ResourceFault) {
                names.append(hash)
                if isTwice(from: first) { throw fault("occurs twice in one object") }
                try reader.colon()
                try value(depth: depth + 1, name: name.range, hash: hash)
            } catch {
                throw ResourceFault("." + shownName(name.range) + error.path, error.reason, byte: error.byte)
            }
            count += 1
        }
        try haveNoneTwice(from: first)
        return count
    }

    private mutating func elements(depth: Int) throws(ResourceFault) -> Int {
        var count = 0
        try reader.open("[")
        while try reader.nextElement(after: count) {
            do throws(ResourceFault) {
                try value(depth: depth + 1)
            } catch {
                throw ResourceFault("[\(count)]" + error.path, error.reason, byte: error.byte)
            }
            count += 1
        }
        return count
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

    /// A name for a path. Foreign names may be long or contain control characters.
    private func shownName(_ name: Range<Int>) -> String { NameText.shown(UnsafeRawBufferPointer(rebasing: bytes[name])) }
}
