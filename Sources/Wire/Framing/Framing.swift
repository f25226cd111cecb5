/// The way that frames follow each other in a stream of bytes without packets, such as that of a serial line.
///
///     let framing = Framing(.packet(PacketRule(marks: [.init(at: 0, mask: 0x80, value: 0x80)], size: .fixed(5))))
///     framing.verdict(on: bytes)   // .frame(5)
package struct Framing: Hashable, Sendable {
    /// The way that the end of a frame is found.
    package enum Form: Hashable, Sendable {
        /// Frames end with this byte. If the stream ends without it, the rest is a frame only with `lastMayLackEnd`.
        case delimited(by: UInt8, lastMayLackEnd: Bool)
        /// Frames are recognised by some of their bytes, their length and a check code.
        case packet(PacketRule)
    }

    /// The way that the end of a frame is found.
    package var form: Form
    /// The length of the longest frame in bytes, including its end.
    package var maximum: Int

    /// The upper limit of ``maximum``. It is more than any health sensor sends in one piece, and cheap to buffer.
    package static let maximumLimit = 4096

    /// - Parameter maximum: The length of the longest frame in bytes. The default is the rule's maximum, or 256 for delimited frames.
    package init(_ form: Form, maximum: Int? = nil) {
        self.form = form
        if case .packet(let rule) = form { self.maximum = maximum ?? rule.maximum } else { self.maximum = maximum ?? 256 }
    }

    /// Whether frames are lines of text or other delimited pieces.
    package var isDelimited: Bool { if case .delimited = form { true } else { false } }

    /// Classifies the bytes that begin at the first one.
    package func verdict(on bytes: UnsafeRawBufferPointer) -> FramingVerdict {
        switch form {
        case .delimited(let end, _):
            if let index = bytes.prefix(maximum).firstIndex(of: end) { return .frame(index + 1) }
            return bytes.count >= maximum ? .wrong(.tooLong, at: maximum) : .incomplete
        case .packet(let rule): return rule.verdict(on: bytes, maximum: maximum)
        }
    }

    /// The range of a complete frame's own bytes, without its line break.
    ///
    /// - Returns: The range, or a failure with its reason and offset if the bytes are not exactly one frame.
    package func content(of bytes: UnsafeRawBufferPointer) -> Result<Range<Int>, FramingFault> {
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

    /// Removes the carriage return before a line feed, or the line feed that follows the carriage return of the previous line.
    private func trimmed(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Range<Int> {
        guard case .delimited(let end, _) = form, count > 0 else { return 0..<count }
        switch end {
        case UInt8(ascii: "\n"): return 0..<(bytes[count - 1] == UInt8(ascii: "\r") ? count - 1 : count)
        case UInt8(ascii: "\r"): return (bytes[0] == UInt8(ascii: "\n") ? 1 : 0)..<count
        default: return 0..<count
        }
    }
}

/// The classification of the bytes at a place in a stream.
package enum FramingVerdict: Hashable, Sendable {
    /// A frame with this number of bytes.
    case frame(Int)
    /// A frame may begin here. More bytes are needed.
    case incomplete
    /// Not a frame, as detected at this byte.
    case wrong(FramingFault.Reason, at: Int)
}

/// The reason why bytes are not a frame.
package struct FramingFault: Error, Hashable, Sendable {
    /// The kinds of faults, in ascending order of severity.
    package enum Reason: UInt8, Hashable, Sendable, Comparable {
        /// Nothing begins here. This is noise, or the rest of a frame whose start was missed.
        case noStart
        /// A frame began and does not continue, or the stream ended in it.
        case cut
        /// No end within the maximum length.
        case tooLong
        /// The check code does not match the bytes.
        case checkCode
        /// More bytes follow the frame.
        case overlong
        package static func < (one: Reason, other: Reason) -> Bool { one.rawValue < other.rawValue }
    }

    package var reason: Reason
    /// The place where it was detected, in bytes from the start of the search.
    package var offset: Int

    /// - Parameter offset: The place in bytes from the start of the search.
    package init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
