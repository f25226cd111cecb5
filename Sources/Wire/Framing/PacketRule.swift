/// Frames of octets that are known by what some of their octets have to be, by their length, and by a check code.
///
/// A frame may be a row of equal blocks, each with its own check code, of which the first has other marks than those behind it.
public struct PacketRule: Hashable, Sendable {
    /// What the octet at one place has to be, as far as the mask goes.
    public struct Mark: Hashable, Sendable {
        /// In octets from the beginning of the frame, or of its block.
        public var offset: Int
        /// The bits that are compared.
        public var mask: UInt8
        /// What those bits have to be.
        public var value: UInt8

        /// - Parameter mask: the bits that are compared; all of them where none is given.
        public init(at offset: Int, mask: UInt8 = 0xFF, value: UInt8) {
            self.offset = offset
            self.mask = mask
            self.value = value
        }

        func holds(_ octet: UInt8) -> Bool { octet & mask == value }
    }

    /// How long a frame is, or one of its blocks, in octets.
    public enum Size: Hashable, Sendable {
        /// Always so many.
        case fixed(Int)
        /// By the value of the first octet; with any other value nothing begins.
        case byFirst([UInt8: Int])
        /// An integer at `offset` of one or two octets, to which `plus` is added.
        case field(offset: Int, width: Int, bigEndian: Bool, plus: Int)
    }

    /// Over all octets in front of it.
    public enum Check: String, Hashable, Sendable, CaseIterable {
        /// The sum modulo 256, in the last octet.
        case sum8
        /// The exclusive or, in the last octet.
        case xor8
        /// The sum modulo 65536, in the last two, least significant octet first.
        case sum16

        var width: Int { self == .sum16 ? 2 : 1 }
    }

    /// What some octets have to be.
    public var marks: [Mark]
    /// In place of `marks`, for all blocks but the first.
    public var followingMarks: [Mark]
    /// What all octets without a mark have to be.
    public var others: Mark?
    /// Of a frame, or of one block.
    public var size: Size
    /// Equal blocks in a frame; 1 where a frame is no row of them.
    public var blocks: Int
    /// The check code at the end of each block; nil where there is none.
    public var check: Check?

    /// - Parameter others: what all octets without a mark have to be; nil where they may be anything.
    public init(
        marks: [Mark], followingMarks: [Mark] = [], others: Mark? = nil, size: Size, blocks: Int = 1, check: Check? = nil
    ) {
        self.marks = marks
        self.followingMarks = followingMarks
        self.others = others
        self.size = size
        self.blocks = blocks
        self.check = check
    }

    /// Octets of the longest frame, as far as the rule tells.
    public var maximum: Int {
        switch size {
        case .fixed(let count): count * blocks
        case .byFirst(let counts): (counts.values.max() ?? 0) * blocks
        case .field: Framing.maximumLimit
        }
    }

    func verdict(on bytes: UnsafeRawBufferPointer, maximum: Int) -> FramingVerdict {
        var offset = 0
        for block in 0..<blocks {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            switch self.block(block == 0 ? marks : followingMarks, rest) {
            case .frame(let count):
                offset += count
                if offset > maximum { return .wrong(.cut, at: offset) }
            case .incomplete: return .incomplete
            // What goes wrong behind a block that was right is no longer a matter of where a frame begins.
            case .wrong(let reason, let place): return .wrong(offset > 0 ? max(reason, .cut) : reason, at: offset + place)
            }
        }
        return .frame(offset)
    }

    private func block(_ marks: [Mark], _ bytes: UnsafeRawBufferPointer) -> FramingVerdict {
        guard let first = bytes.first else { return .incomplete }
        let count: Int
        switch size {
        case .fixed(let fixed): count = fixed
        case .byFirst(let counts):
            guard let known = counts[first] else { return .wrong(.noStart, at: 0) }
            count = known
        case .field(let offset, let width, let bigEndian, let plus):
            var reader = ByteReader(bytes)
            guard reader.octets(offset) != nil, let length = reader.unsigned(width, bigEndian: bigEndian) else {
                return wrongMark(marks, bytes, bytes.count) ?? .incomplete
            }
            count = Int(length) + plus
            if count > maximum || count <= offset + width { return .wrong(.noStart, at: offset) }
        }
        if let wrong = wrongMark(marks, bytes, min(count, bytes.count)) { return wrong }
        guard bytes.count >= count else { return .incomplete }
        if let check, !Self.holds(check, UnsafeRawBufferPointer(rebasing: bytes[..<count])) {
            return .wrong(.checkCode, at: count - check.width)
        }
        return .frame(count)
    }

    /// The first octet that is not what it has to be. Where it is the first of all, nothing begins here.
    private func wrongMark(_ marks: [Mark], _ bytes: UnsafeRawBufferPointer, _ count: Int) -> FramingVerdict? {
        var isCertain = false
        for index in 0..<count {
            let mark = marks.first { $0.offset == index }
            if let rule = mark ?? others, !rule.holds(bytes[index]) { return .wrong(isCertain ? .cut : .noStart, at: index) }
            // Once the marks of the beginning are all there, a frame has begun.
            if mark != nil, !marks.contains(where: { $0.offset > index }) { isCertain = true }
            if marks.isEmpty { isCertain = true }
        }
        return nil
    }

    private static func holds(_ check: Check, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > check.width else { return false }
        let end = bytes.count - check.width
        switch check {
        case .sum8: return bytes[..<end].reduce(0) { $0 &+ $1 } == bytes[end]
        case .xor8: return bytes[..<end].reduce(0) { $0 ^ $1 } == bytes[end]
        case .sum16:
            let sum = bytes[..<end].reduce(UInt16(0)) { $0 &+ UInt16($1) }
            return sum == UInt16(bytes[end]) | UInt16(bytes[end + 1]) << 8
        }
    }
}
