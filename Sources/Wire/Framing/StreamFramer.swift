/// Cuts a stream of octets into frames, and finds the next frame after noise.
///
///     var framer = StreamFramer(framing)
///     framer.feed(octets) { event in … }
///     framer.finish(isCut: true) { event in … }
///
/// Every octet comes out exactly once, in its order: in a frame, or as skipped. What is kept between two calls is no longer than
/// the longest frame. Where a frame turns out not to be one, the search goes on at its second octet, so that noise never hides the
/// frame behind it.
public struct StreamFramer: Sendable {
    /// What comes out, in the order of the stream.
    public enum Event {
        /// A whole frame, valid during the call, and the octets in front of it in the stream.
        case frame(UnsafeRawBufferPointer, offset: Int)
        /// Octets that are no frame.
        case skipped(SkippedOctets)
    }

    /// How frames are told apart.
    public let framing: Framing
    /// Octets of the stream that have come out.
    public private(set) var offset = 0
    private var buffer: [UInt8] = []
    /// Octets of the buffer that have come out.
    private var head = 0
    /// Octets that are to be skipped, and not told yet.
    private var run: SkippedOctets?
    /// A line was too long: nothing of it is a frame, up to its end.
    private var isInLongLine = false

    /// After so many octets, skipping is told even where it goes on.
    static let longestRun = 65_536

    /// Begins at a place in the stream that need not be the beginning of a frame.
    public init(_ framing: Framing) { self.framing = framing }

    /// Takes the next octets. What `handle` throws comes back, and the framer is not to be used any more.
    public mutating func feed(_ bytes: UnsafeRawBufferPointer, _ handle: (Event) throws -> Void) rethrows {
        buffer.append(contentsOf: bytes)
        try drain(handle)
        buffer.removeFirst(head)
        head = 0
    }

    /// The stream has ended.
    /// - Parameter isCut: it may have ended within a frame (a plug that was pulled), so that nothing without its end is one.
    public mutating func finish(isCut: Bool, _ handle: (Event) throws -> Void) rethrows {
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
        try tell(handle)
    }

    private var remaining: Int { buffer.count - head }

    private mutating func drain(_ handle: (Event) throws -> Void) rethrows {
        while remaining > 0 {
            if let run, run.count >= Self.longestRun { try tell(handle) }
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
        try tell(handle)
        let start = offset
        offset += count
        let range = head..<head + count
        head += count
        try buffer.withUnsafeBytes { try handle(.frame(UnsafeRawBufferPointer(rebasing: $0[range]), offset: start)) }
    }

    private mutating func skip(_ count: Int, _ reason: FramingFault.Reason, at place: Int) {
        let fault = FramingFault(reason, at: offset + place)
        if run == nil { run = SkippedOctets(offset: offset, count: 0, fault: fault) }
        run?.count += count
        if let worst = run?.fault.reason, reason > worst { run?.fault = fault }
        offset += count
        head += count
    }

    private mutating func tell(_ handle: (Event) throws -> Void) rethrows {
        guard let run else { return }
        self.run = nil
        try handle(.skipped(run))
    }
}

/// Octets one behind the other that are no frame.
public struct SkippedOctets: Hashable, Sendable {
    /// Octets of the stream in front of them.
    public var offset: Int
    /// How many they are.
    public var count: Int
    /// The weightiest of the reasons, and where in the stream it was seen.
    public var fault: FramingFault

    /// Whether a frame was lost here, rather than noise heard.
    public var holdsFrame: Bool { fault.reason != .noStart }
}
