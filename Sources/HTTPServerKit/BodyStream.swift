/// An answer that is made while it is sent. It is asked by one thread at a time, and only for as much as the reader takes.
public protocol BodyStream: AnyObject {
    /// The next piece. What it throws ends the connection in the midst, so that nobody takes the part for the whole.
    func next() throws -> BodyPiece
    /// Told before the first piece is asked for.
    ///
    /// - Parameter wake: has a stream that waits asked again, from any thread, also when nobody reads it any more.
    func begin(wake: @escaping @Sendable () -> Void)
    /// Told once when no more is asked for: all was sent, or the reader has gone.
    func close()
    /// Whether each piece is sent at once, also packed; its reader is to keep up.
    var isLive: Bool { get }
    /// The last word to the reader of a live stream that does not keep up: behind it the stream ends.
    func farewell() -> [UInt8]
}

extension BodyStream {
    public func begin(wake: @escaping @Sendable () -> Void) {}
    public func close() {}
    public var isLive: Bool { false }
    public func farewell() -> [UInt8] { [] }
}

/// What a stream gives when it is asked.
public enum BodyPiece: Sendable {
    /// Octets, at most some 64 KiB, at least one.
    case octets([UInt8])
    /// Nothing yet: it is asked again when it wakes the server, or after this time.
    case wait(atMost: Duration)
    /// That was all.
    case end
}
