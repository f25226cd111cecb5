/// A response body that is produced while it is sent. One thread at a time asks for it, at the speed of the client.
package protocol BodyStream: AnyObject {
    /// Returns the next piece. An error aborts the connection, so that the client cannot mistake the part for the whole.
    func next() throws -> BodyPiece
    /// Called before the first piece is requested.
    ///
    /// - Parameter wake: asks a waiting stream again. Call it from any thread, even after the client has gone.
    func begin(wake: @escaping @Sendable () -> Void)
    /// Called once after the last piece was sent or the client has gone.
    func close()
    /// Whether each piece is flushed at once, also with compression. The client has to keep up.
    var isLive: Bool { get }
    /// The last bytes for the client of a live stream that does not keep up. The stream then ends.
    func farewell() -> [UInt8]
}

extension BodyStream {
    package func begin(wake: @escaping @Sendable () -> Void) {}
    package func close() {}
    package var isLive: Bool { false }
    package func farewell() -> [UInt8] { [] }
}

/// The result of asking a stream for more.
package enum BodyPiece: Sendable {
    /// Between one byte and about 64 KiB.
    case bytes([UInt8])
    /// Nothing yet. The stream is asked again when it calls `wake`, or after this time.
    case wait(atMost: Duration)
    case end
}
