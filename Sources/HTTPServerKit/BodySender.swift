import CMicroHTTPD
import Glibc
import Synchronization

/// Sends a stream over one connection. libmicrohttpd asks for bytes when the socket accepts some, and the connection is suspended while
/// there are none.
///
/// The connection may be resumed from any thread, but only while it is suspended, and never after its request has completed. The lock
/// ensures this.
final class BodySender: @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var connection: OpaquePointer?
        var isSuspended = false
        /// Whether it was woken while it was not suspended. It then checks the stream again before it suspends.
        var isWoken = false
    }

    private let stream: any BodyStream
    private let gzip: GzipStream?
    private let deadlines: Deadlines
    private let state: Mutex<State>
    /// Used only by the sending thread.
    private var (rest, place, hasEnded) = ([UInt8](), 0, false)
    /// When the client began to leave too many bytes unread. Used only by the sending thread.
    private var slowSince: ContinuousClock.Instant?
    private let socket: Int32
    private let settings: ServerSettings
    private let isStopping: @Sendable () -> Bool

    private var key: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

    init(
        _ stream: any BodyStream, gzip: GzipStream?, connection: OpaquePointer, deadlines: Deadlines, _ settings: ServerSettings,
        isStopping: @escaping @Sendable () -> Bool
    ) {
        (self.stream, self.gzip, self.deadlines, self.isStopping) = (stream, gzip, deadlines, isStopping)
        (self.settings, socket) = (settings, vitalgate_http_socket(connection))
        state = Mutex(State(connection: connection))
        stream.begin { [weak self] in self?.wake() }
    }

    deinit { stream.close() }

    /// Writes bytes into the buffer. Returns their number, 0 if the connection is now suspended, or libmicrohttpd's code for the end or a
    /// failure.
    func fill(_ buffer: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
        while true {
            if place < rest.count {
                let count = min(size, rest.count - place)
                rest.withUnsafeBytes { bytes in
                    UnsafeMutableRawPointer(buffer).copyMemory(from: bytes.baseAddress! + place, byteCount: count)
                }
                place += count
                return count
            }
            if hasEnded { return vitalgate_http_end }
            do {
                guard try advance() else { return 0 }
            } catch {
                return vitalgate_http_failed
            }
        }
    }

    private struct Stopped: Error {}
    private struct Left: Error {}

    /// Asks for the next piece. Returns `false` if the connection is now suspended.
    private func advance() throws -> Bool {
        place = 0
        rest.removeAll(keepingCapacity: true)
        if let isAwake = waitForReader() { return isAwake }
        switch isStopping() && stream.isLive ? .end : try stream.next() {
        case .bytes(let bytes): rest = gzip?.packed(bytes, flushing: stream.isLive) ?? bytes
        case .end:
            hasEnded = true
            rest = gzip?.finished() ?? []
        case .wait(let timeout):
            guard !isStopping() else { throw Stopped() }
            // A client that leaves is not noticed while nothing is written.
            if !stream.isLive, isLeft { throw Left() }
            guard sleep() else { return true }
            deadlines.set(key, in: timeout, .wake(self))
            return false
        }
        return true
    }

    /// Pauses a live stream while its client leaves too many bytes unread. The missing changes are in the store. A client that stays too
    /// slow gets a final message and is dropped, so the limit leaves room for that message.
    ///
    /// - Returns: whether there are bytes to send now, or `nil` if the client keeps up.
    private func waitForReader() -> Bool? {
        var untaken: Int32 = 0
        guard stream.isLive, !isStopping(), ioctl(socket, UInt(TIOCOUTQ), &untaken) == 0, Int(untaken) > settings.maximumUnread
        else {
            slowSince = nil
            return nil
        }
        let since = slowSince ?? .now
        slowSince = since
        let waited = ContinuousClock.now - since
        guard waited < settings.slowTime else {
            hasEnded = true
            let word = stream.farewell()
            rest = gzip.map { (word.isEmpty ? [] : $0.packed(word, flushing: true)) + $0.finished() } ?? word
            return true
        }
        guard sleep() else { return true }
        let pause = min(max(waited / 4, .milliseconds(10)), .seconds(1))
        deadlines.set(key, in: min(pause, settings.slowTime - waited), .wake(self))
        return false
    }

    /// Whether the client has closed the connection.
    private var isLeft: Bool {
        guard let connection = state.withLock({ $0.connection }) else { return true }
        var byte: UInt8 = 0
        return recv(vitalgate_http_socket(connection), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    private func sleep() -> Bool {
        state.withLock { state in
            // Checked while the lock is held. A stopping server sets its flag first and then wakes all suspended connections.
            guard let connection = state.connection, !state.isWoken, !isStopping() else {
                state.isWoken = false
                return false
            }
            state.isSuspended = true
            MHD_suspend_connection(connection)
            return true
        }
    }

    /// Asks the stream again, from any thread.
    func wake() {
        state.withLock { state in
            guard let connection = state.connection else { return }
            if state.isSuspended {
                state.isSuspended = false
                MHD_resume_connection(connection)
            } else {
                state.isWoken = true
            }
        }
    }

    /// Ends the request. Its connection is not used any more.
    func finish() {
        state.withLock { $0.connection = nil }
        deadlines.remove(key)
    }
}
