/// Frames that are recognised by the values of some bytes, by their length, and by a check code.
///
/// A frame may consist of equal blocks, each with its own check code. The first block may have other marks than the following ones.
package struct PacketRule: Hashable, Sendable {
    /// The value that the byte at one place must have, under a mask.
    package struct Mark: Hashable, Sendable {
        /// The place in bytes from the start of the frame or of its block.
        package var offset: Int
        /// The bits to compare.
        package var mask: UInt8
        /// The required value of those bits.
        package var value: UInt8

        /// - Parameter mask: The bits to compare, by default all of them.
        package init(at offset: Int, mask: UInt8 = 0xFF, value: UInt8) {
            self.offset = offset
            self.mask = mask
            self.value = value
        }

        func matches(_ byte: UInt8) -> Bool { byte & mask == value }
    }

    /// The length of a frame, or of one of its blocks, in bytes.
    package enum Size: Hashable, Sendable {
        case fixed(Int)
        /// The length for each value of the first byte. With any other value, nothing begins.
        case byFirst([UInt8: Int])
        /// An integer of one or two bytes at `offset`, to which `plus` is added.
        case field(offset: Int, width: Int, bigEndian: Bool, plus: Int)
    }

    /// A check code over all preceding bytes.
    package enum Check: String, Hashable, Sendable, CaseIterable {
        /// The sum modulo 256, in the last byte.
        case sum8
        /// The exclusive or, in the last byte.
        case xor8
        /// The sum modulo 65536, in the last two bytes, least significant byte first.
        case sum16

        var width: Int { self == .sum16 ? 2 : 1 }
    }

    /// The required values of some bytes.
    package var marks: [Mark]
    /// The marks of all blocks but the first, instead of `marks`.
    package var followingMarks: [Mark]
    /// The required value of all bytes without a mark.
    package var others: Mark?
    /// The length of a frame or of one block.
    package var size: Size
    /// The number of equal blocks in a frame, usually 1.
    package var blocks: Int
    /// The check code at the end of each block, or `nil` if there is none.
    package var check: Check?

    /// - Parameter others: The required value of all bytes without a mark, or `nil` if they may have any value.
    package init(
        marks: [Mark], followingMarks: [Mark] = [], others: Mark? = nil, size: Size, blocks: Int = 1, check: Check? = nil
    ) {
        self.marks = marks
        self.followingMarks = followingMarks
        self.others = others
        self.size = size
        self.blocks = blocks
        self.check = check
    }

    /// The length of the longest frame in bytes, as far as the rule defines it.
    package var maximum: Int {
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
            // A fault after a correct block no longer concerns the start of a frame.
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
            guard reader.readBytes(offset) != nil, let length = reader.unsigned(width, bigEndian: bigEndian) else {
                return wrongMark(marks, bytes, bytes.count) ?? .incomplete
            }
            count = Int(length) + plus
            if count > maximum || count <= offset + width { return .wrong(.noStart, at: offset) }
        }
        if let wrong = wrongMark(marks, bytes, min(count, bytes.count)) { return wrong }
        guard bytes.count >= count else { return .incomplete }
        if let check, !Self.matches(check, UnsafeRawBufferPointer(rebasing: bytes[..<count])) {
            return .wrong(.checkCode, at: count - check.width)
        }
        return .frame(count)
    }

    /// The first byte that breaks a mark. If the marks of the beginning are not all matched before it, nothing begins here.
    private func wrongMark(_ marks: [Mark], _ bytes: UnsafeRawBufferPointer, _ count: Int) -> FramingVerdict? {
        var isCertain = false
        for index in 0..<count {
            let mark = marks.first { $0.offset == index }
            if let rule = mark ?? others, !rule.matches(bytes[index]) { return .wrong(isCertain ? .cut : .noStart, at: index) }
            // Once all marks of the beginning match, a frame has begun.
            if mark != nil, !marks.contains(where: { $0.offset > index }) { isCertain = true }
            if marks.isEmpty { isCertain = true }
        }
        return nil
    }

    private static func matches(_ check: Check, _ bytes: UnsafeRawBufferPointer) -> Bool {
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
