/// How frames follow each other in a stream of octets without packets, such as a serial line's.
///
///     let framing = Framing(.packet(PacketRule(marks: [.init(at: 0, mask: 0x80, value: 0x80)], size: .fixed(5))))
///     framing.verdict(on: bytes)   // .frame(5)
public struct Framing: Hashable, Sendable {
    /// By what the end of a frame is known.
    public enum Form: Hashable, Sendable {
        /// Frames end with an octet. What stands behind the last of them is a frame only where `lastMayLackEnd`.
        case delimited(by: UInt8, lastMayLackEnd: Bool)
        /// Frames are known by some of their octets, their length and a check code.
        case packet(PacketRule)
    }

    /// By what the end of a frame is known.
    public var form: Form
    /// Octets of the longest frame, its end included.
    public var maximum: Int

    /// More than any health sensor sends in one piece, and little to keep.
    public static let maximumLimit = 4096

    /// - Parameter maximum: octets of the longest frame; what the rule tells, or 256, where none is given.
    public init(_ form: Form, maximum: Int? = nil) {
        self.form = form
        if case .packet(let rule) = form { self.maximum = maximum ?? rule.maximum } else { self.maximum = maximum ?? 256 }
    }

    /// Whether frames are lines of text or other delimited pieces.
    public var isDelimited: Bool { if case .delimited = form { true } else { false } }

    /// What begins at the first octet.
    public func verdict(on bytes: UnsafeRawBufferPointer) -> FramingVerdict {
        switch form {
        case .delimited(let end, _):
            if let index = bytes.prefix(maximum).firstIndex(of: end) { return .frame(index + 1) }
            return bytes.count >= maximum ? .wrong(.tooLong, at: maximum) : .incomplete
        case .packet(let rule): return rule.verdict(on: bytes, maximum: maximum)
        }
    }

    /// Where a whole frame's own octets are, without the end of its line.
    ///
    /// - Returns: nothing where the bytes are not one frame, and why and where.
    public func content(of bytes: UnsafeRawBufferPointer) -> Result<Range<Int>, FramingFault> {
        switch verdict(on: bytes) {
        case .wrong(let reason, let offset): return .failure(FramingFault(reason, at: offset))
        case .incomplete:
            guard case .delimited(_, let lastMayLackEnd) = form, lastMayLackEnd, !bytes.isEmpty else {
                return .failure(FramingFault(.cut, at: bytes.count))
            }
            return .success(trimmed(bytes, bytes.count))
        case .frame(let count):
            guard count == bytes.count else { return .failure(FramingFault(.overlong, at: count)) }
            return .success(isDelimited ? trimmed(bytes, count - 1) : 0..<count)
        }
    }

    /// Without the carriage return before a line feed, and without the line feed behind the carriage return that ended the line before.
    private func trimmed(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Range<Int> {
        guard case .delimited(let end, _) = form, count > 0 else { return 0..<count }
        switch end {
        case UInt8(ascii: "\n"): return 0..<(bytes[count - 1] == UInt8(ascii: "\r") ? count - 1 : count)
        case UInt8(ascii: "\r"): return (bytes[0] == UInt8(ascii: "\n") ? 1 : 0)..<count
        default: return 0..<count
        }
    }
}

/// What begins at a place in a stream.
public enum FramingVerdict: Hashable, Sendable {
    /// A frame of so many octets.
    case frame(Int)
    /// A frame may begin here: more octets will tell.
    case incomplete
    /// No frame; seen at this octet.
    case wrong(FramingFault.Reason, at: Int)
}

/// Why octets are no frame.
public struct FramingFault: Error, Hashable, Sendable {
    /// What was wrong; the later ones weigh more.
    public enum Reason: UInt8, Hashable, Sendable, Comparable {
        /// Nothing begins here: noise, or the rest of a frame whose beginning was not heard.
        case noStart
        /// A frame began and does not go on, or the stream ended in it.
        case cut
        /// No end within the longest length.
        case tooLong
        /// The check code is another one than the octets give.
        case checkCode
        /// Octets stand behind the frame.
        case overlong
        public static func < (one: Reason, other: Reason) -> Bool { one.rawValue < other.rawValue }
    }

    /// What was wrong.
    public var reason: Reason
    /// Where it was seen, in octets from where the search began.
    public var offset: Int

    /// - Parameter offset: in octets from where the search began.
    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
