import EventLoopKit
import Glibc

/// A client's connection on the hub's side. It never blocks: unsent data stays in a buffer of one line.
final class StatusConnection {
    /// The result of reading or writing.
    enum State {
        case open, closed
    }

    let descriptor: Int32
    var isFollower = false
    /// Whether the client wants commits each second.
    var isHurrying = false
    /// Whether its request has arrived.
    var hasAsked = false
    /// The number of the connection. Older connections have lower numbers.
    let number: Int
    /// Whether its last status is outdated and the new one could not be sent yet.
    var isOutdated = false
    /// The uptime since which it accepts no data.
    var stuckSince: Duration?
    /// Closes the connection if no request arrives.
    var deadline: EventLoop.Timer?
    private var closesWhenSent = false
    private var request: [UInt8] = []
    private var outgoing: [UInt8] = []
    private var sent = 0

    /// Takes ownership of the descriptor, which must be nonblocking.
    init(owning descriptor: Int32, number: Int) {
        self.descriptor = descriptor
        self.number = number
    }

    deinit {
        deadline?.cancel()
        close(descriptor)
    }

    /// Whether a line was sent only in part.
    var isSending: Bool { sent < outgoing.count }

    /// Reads available data. Returns the request's line without its newline once it is complete.
    /// - Throws: ``StatusProblem`` if the data is too long for a request.
    func receive() throws(StatusProblem) -> (state: State, line: [UInt8]?) {
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            let isWaiting = count < 0 && (errno == EAGAIN || errno == EINTR)
            // A client that has closed its sending side may still read the answer.
            return (isWaiting || closesWhenSent ? .open : .closed, nil)
        }
        // Data after the request is ignored.
        guard !isFollower, !isHurrying, !closesWhenSent else { return (.open, nil) }
        request += buffer[..<count]
        if let end = request.firstIndex(of: UInt8(ascii: "\n")), end <= StatusMessage.maximumRequestLength {
            return (.open, Array(request[..<end]))
        }
        guard request.count <= StatusMessage.maximumRequestLength else {
            throw StatusProblem("request", "the request is too long")
        }
        return (.open, nil)
    }

    /// Sends as much of a line as possible. No other line may be in progress.
    func send(_ line: [UInt8], thenClose: Bool = false) -> State {
        outgoing = line
        sent = 0
        closesWhenSent = closesWhenSent || thenClose
        return flush()
    }

    /// Sends more of the line.
    func flush() -> State {
        while isSending {
            let count = outgoing.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .open : .closed
            }
            sent += count
        }
        outgoing = []
        sent = 0
        stuckSince = nil
        return closesWhenSent ? .closed : .open
    }

    /// The events for poll(2).
    var interest: Int32 {
        // A client that has closed its sending side stays readable, so reading is pointless until the answer is sent.
        Int32(closesWhenSent ? 0 : POLLIN) | Int32(isSending ? POLLOUT : 0)
    }
}
