/// Cuts a stream of bytes into frames, and finds the next frame after noise.
///
///     var framer = StreamFramer(framing)
///     framer.feed(octets) { event in … }
///     framer.finish(isCut: true) { event in … }
///
/// Every byte is emitted exactly once and in order, in a frame or as skipped. The buffer between two calls is at most as long as the
/// longest frame. If a supposed frame is not one, the search continues at its second byte, so that noise never hides the next frame.
package struct StreamFramer: Sendable {
    package enum Event {
        /// A complete frame, valid during the call, and the number of bytes before it in the stream.
        case frame(UnsafeRawBufferPointer, offset: Int)
        /// Bytes that do not belong to a frame.
        case skipped(SkippedBytes)
    }

    /// The rules for finding frames.
    package let framing: Framing
    /// The number of bytes emitted from the stream.
    package private(set) var offset = 0
    private var buffer: [UInt8] = []
    /// The number of bytes emitted from the buffer.
    private var head = 0
    /// Skipped bytes that are not yet reported.
    private var run: SkippedBytes?
    /// A line was too long. Everything up to its end is skipped.
    private var isInLongLine = false

    /// The number of bytes after which a run of skipped bytes is reported even if it continues.
    static let maximumRunLength = 65_536

    /// A framer for a stream that need not start at the beginning of a frame.
    package init(_ framing: Framing) { self.framing = framing }

    /// Processes the next bytes. If `handle` throws, the error is rethrown and the framer must not be used again.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws -> Void) rethrows {
        buffer.append(contentsOf: bytes)
        try drain(handle)
        buffer.removeFirst(head)
        head = 0
    }

    /// Ends the stream.
    /// - Parameter isCut: Whether it may have ended within a frame (an unplugged cable), so that a frame without its end does not count.
    package mutating func finish(isCut: Bool, _ handle: (Event) throws -> Void) rethrows {
        while remaining > 0 {
            if case .delimited(_, let lastMayLackEnd) = framing.form {
                let isFrame = lastMayLackEnd && !isCut && !isInLongLine
                if isFrame { try take(remaining, handle) } else { skip(remaining, .cut, at: remaining) }
            } else {
                skip(1, .cut, at: remaining)
                try drain(handle)
            }
        }
        buffer.removeAll(keepingCapacity: true)
        head = 0
        isInLongLine = false
        try report(handle)
    }

    private var remaining: Int { buffer.count - head }

    private mutating func drain(_ handle: (Event) throws -> Void) rethrows {
        while remaining > 0 {
            if let run, run.count >= Self.maximumRunLength { try report(handle) }
            if isInLongLine {
                guard case .delimited(let end, _) = framing.form else { break }
                let index = buffer[head...].firstIndex(of: end)
                skip((index.map { $0 + 1 } ?? buffer.count) - head, .tooLong, at: 0)
                isInLongLine = index == nil
                continue
            }
            let verdict = buffer.withUnsafeBytes { framing.verdict(on: UnsafeRawBufferPointer(rebasing: $0[head...])) }
            switch verdict {
            case .frame(let count): try take(count, handle)
            case .incomplete: return
            case .wrong(.tooLong, _): isInLongLine = true
            case .wrong(let reason, let place): skip(1, reason, at: place)
            }
        }
    }

    private mutating func take(_ count: Int, _ handle: (Event) throws -> Void) rethrows {
        try report(handle)
        let start = offset
        offset += count
        let range = head..<head + count
        head += count
        try buffer.withUnsafeBytes { try handle(.frame(UnsafeRawBufferPointer(rebasing: $0[range]), offset: start)) }
    }

    private mutating func skip(_ count: Int, _ reason: FramingFault.Reason, at place: Int) {
        let fault = FramingFault(reason, at: offset + place)
        if run == nil { run = SkippedBytes(offset: offset, count: 0, fault: fault) }
        run?.count += count
        if let worst = run?.fault.reason, reason > worst { run?.fault = fault }
        offset += count
        head += count
    }

    private mutating func report(_ handle: (Event) throws -> Void) rethrows {
        guard let run else { return }
        self.run = nil
        try handle(.skipped(run))
    }
}

/// Consecutive bytes that do not belong to a frame.
package struct SkippedBytes: Hashable, Sendable {
    /// The number of bytes before them in the stream.
    package var offset: Int
    package var count: Int
    /// The most severe fault, and its place in the stream.
    package var fault: FramingFault

    /// Whether a frame was lost here, as opposed to noise.
    package var containsLostFrame: Bool { fault.reason != .noStart }
}
