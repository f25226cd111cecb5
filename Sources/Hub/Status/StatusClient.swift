import EventLoopKit
import Glibc
import HealthModel

/// Asks a store's hub for its status from another process.
///
///     let (client, status) = try StatusClient.ask(store: path, machine: machine, follows: true)
///     while true { for status in try client.read() { … } }
package final class StatusClient {
    /// The reason for a missing answer.
    package enum Failure: Error, Hashable, Sendable {
        case noHub
        /// This user may not use the socket.
        case notPermitted(String)
        /// The hub runs but does not answer now.
        case noAnswer(String)
        case ended
    }

    /// The descriptor for poll(2).
    package let descriptor: Int32
    /// The maximum time for an answer, from its first byte to its last. For the first answer it starts with the request.
    package let timeout: Duration
    private var received = LineBuffer()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// The time by which the current answer has to be complete, or `nil`.
    private var deadline: ContinuousClock.Instant?

    /// The maximum length in characters. A hub's own messages are below a hundred.
    private static let maximumMessageLength = 500
    /// The usual time for an answer.
    package static let defaultTimeout = Duration.seconds(10)

    /// Takes ownership of a connection on which an answer is expected.
    init(owning descriptor: Int32, timeout: Duration = defaultTimeout) {
        self.descriptor = descriptor
        self.timeout = timeout
        deadline = .now + timeout
    }

    deinit { close(descriptor) }

    /// Asks a store's hub.
    ///
    /// - Parameters:
    ///   - follows: whether to receive later changes.
    ///   - timeout: the maximum time for an answer.
    /// - Returns: the connection and the first answer.
    package static func ask(
        store: String, machine: Machine, follows: Bool = false, timeout: Duration = defaultTimeout
    ) throws(Failure) -> (client: StatusClient, status: HubStatus) {
        try ask(follows ? .follow : .status, store: store, machine: machine, timeout: timeout)
    }

    static func ask(
        _ question: StatusMessage.Question, store: String, machine: Machine, timeout: Duration
    ) throws(Failure) -> (client: StatusClient, status: HubStatus) {
        var failure = Failure.noHub
        let intended = StatusSocket.canonical(store)
        for path in StatusSocket.candidates(store: store, machine: machine) {
            do throws(Failure) {
                guard let client = try connect(path, timeout) else { continue }
                client.write(StatusMessage.line(asking: question))
                let status = try client.first()
                if status.store.path == intended { return (client, status) }
            } catch {
                // Other paths are tried too, but this failure is more important than a missing hub elsewhere.
                failure = error
            }
        }
        throw failure
    }

    private static func connect(_ path: String, _ timeout: Duration) throws(Failure) -> StatusClient? {
        do throws(SystemFailure) {
            let seconds = Int(timeout.components.seconds)
            return StatusClient(owning: try StatusSocket.connected(to: path, timeout: seconds), timeout: timeout)
        } catch {
            switch error.code {
            case EACCES, EPERM:
                // A folder without access does not show whether a hub runs.
                var status = stat()
                guard lstat(path, &status) == 0 else { return nil }
                throw .notPermitted(path)
            case EAGAIN, EINPROGRESS: throw .noAnswer("it does not respond")
            default: return nil
            }
        }
    }

    /// Sends the request. Errors are ignored because reading reports them: the hub may have answered before it closed.
    private func write(_ bytes: [UInt8]) { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    private func first() throws(Failure) -> HubStatus {
        while true {
            if let status = try read().first { return status }
        }
    }

    /// Whether the hub still has the connection open.
    var isOpen: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
    }

    /// Whether an answer was received in part.
    package var isInMidst: Bool { !received.rest.isEmpty }

    /// Waits for data and returns the complete answers, oldest first. There is no time limit between two answers.
    ///
    /// - Throws: ``Failure``. It is also `ended` if the connection ended within a line.
    package func read() throws(Failure) -> [HubStatus] {
        guard try wait() else { return [] }
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return [] }
            throw .ended
        }
        received.append(buffer[..<count])
        var statuses: [HubStatus] = []
        while let line = received.next() { statuses.append(try Self.status(line)) }
        guard received.rest.count <= StatusMessage.maximumAnswerLength else { throw .noAnswer("its response is too long") }
        if received.rest.isEmpty {
            if !statuses.isEmpty { deadline = nil }
        } else if deadline == nil || !statuses.isEmpty {
            deadline = .now + timeout
        } else if let deadline, deadline <= .now {
            // Single bytes at long intervals are not an answer either.
            throw .noAnswer("its response is incomplete")
        }
        return statuses
    }

    /// Whether there is data to read. False after a signal.
    private func wait() throws(Failure) -> Bool {
        var limit: Int32 = -1
        if let deadline {
            let (seconds, attoseconds) = (deadline - .now).components
            limit = Int32(clamping: max(0, seconds) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
            if deadline <= .now { limit = 0 }
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&entry, 1, limit)
        if ready > 0 { return true }
        if ready < 0 { return false }
        throw .noAnswer(isInMidst ? "its response is incomplete" : "it does not respond")
    }

    private static func status(_ line: some Collection<UInt8>) throws(Failure) -> HubStatus {
        guard line.count <= StatusMessage.maximumAnswerLength else { throw .noAnswer("its response is too long") }
        let version = StatusMessage.version(line)
        if let version, version != StatusMessage.version { throw .noAnswer("its version differs from this program's") }
        guard let answer = StatusMessage.answer(line) else { throw .noAnswer("its response cannot be read") }
        if let status = answer.status { return status }
        throw .noAnswer(
            answer.error.map { String($0.message.prefix(Self.maximumMessageLength)) } ?? "its response cannot be read")
    }
}
