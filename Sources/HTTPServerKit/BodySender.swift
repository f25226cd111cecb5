import CMicroHTTPD
import Glibc
import Synchronization

/// Sends a stream over one connection: libmicrohttpd asks for octets when the socket takes some, and the connection sleeps while there are none.
///
/// The connection may be resumed from any thread, but only while it is suspended, and never once its request is over: the lock keeps the three apart.
final class BodySender: @unchecked Sendable {
    private struct State: @unchecked Sendable {
        var connection: OpaquePointer?
        var isSuspended = false
        /// Woken when it was not asleep: it does not go to sleep before it has looked again.
        var isWoken = false
    }

    private let stream: any BodyStream
    private let gzip: GzipStream?
    private let deadlines: Deadlines
    private let state: Mutex<State>
    /// Used by the one thread that sends.
    private var (rest, place, hasEnded) = ([UInt8](), 0, false)
    /// Since when the reader leaves too much; by the one thread that sends.
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

    /// Puts octets into the buffer: how many, 0 when the connection sleeps now, or libmicrohttpd's words for the end and for a failure.
    func fill(_ buffer: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
        while true {
            if place < rest.count {
                let count = min(size, rest.count - place)
                rest.withUnsafeBytes { octets in
                    UnsafeMutableRawPointer(buffer).copyMemory(from: octets.baseAddress! + place, byteCount: count)
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

    /// Asks for the next piece; `false` when the connection sleeps.
    private func advance() throws -> Bool {
        place = 0
        rest.removeAll(keepingCapacity: true)
        if let isAwake = waitForReader() { return isAwake }
        switch isStopping() && stream.isLive ? .end : try stream.next() {
        case .octets(let octets): rest = gzip?.packed(octets, flushing: stream.isLive) ?? octets
        case .end:
            hasEnded = true
            rest = gzip?.finished() ?? []
        case .wait(let patience):
            guard !isStopping() else { throw Stopped() }
            // Nothing is written for long, and who does not write does not notice.
            if !stream.isLive, isLeft { throw Left() }
            guard sleep() else { return true }
            deadlines.set(key, in: patience, .wake(self))
            return false
        }
        return true
    }

    /// Nothing more is made for the reader of a live stream that has not taken what there is: what it lacks is in the store. One that stays so is told
    /// that it is dropped, which is why there is room left for that.
    ///
    /// - Returns: whether there is something to send now; `nil` where the reader keeps up.
    private func waitForReader() -> Bool? {
        var untaken: Int32 = 0
        guard stream.isLive, !isStopping(), ioctl(socket, UInt(TIOCOUTQ), &untaken) == 0, Int(untaken) > settings.mostUntaken
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

    /// Whether the reader has hung up.
    private var isLeft: Bool {
        guard let connection = state.withLock({ $0.connection }) else { return true }
        var octet: UInt8 = 0
        return recv(vitalgate_http_socket(connection), &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    private func sleep() -> Bool {
        state.withLock { state in
            // Asked within the lock: whoever stops the server wakes all that sleep, once it has said so.
            guard let connection = state.connection, !state.isWoken, !isStopping() else {
                state.isWoken = false
                return false
            }
            state.isSuspended = true
            MHD_suspend_connection(connection)
            return true
        }
    }

    /// Has the stream asked again.
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

    /// The request is over: its connection is touched no more.
    func finish() {
        state.withLock { $0.connection = nil }
        deadlines.remove(key)
    }
}
