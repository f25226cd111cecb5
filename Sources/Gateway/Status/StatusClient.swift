import Glibc

/// Asks the hub of a store how it is doing, from another process.
///
///     let (client, status) = try StatusClient.ask(store: path, machine: machine, follows: true)
///     while true { for status in try client.read() { … } }
public final class StatusClient {
    /// Why there is no answer.
    public enum Failure: Error, Hashable, Sendable {
        /// No hub runs on the store.
        case noHub
        /// This user may not ask it; the socket.
        case notPermitted(String)
        /// It runs, and does not answer now.
        case noAnswer(String)
        /// It has gone.
        case ended
    }

    /// For poll(2).
    public let descriptor: Int32
    private var received: [UInt8] = []

    /// How long an answer takes at most.
    private static let patience = 10

    private init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Asks the hub of a store.
    ///
    /// - Parameter follows: it is told of changes from now on.
    /// - Returns: the connection, and the first answer.
    public static func ask(
        store: String, machine: Machine, follows: Bool = false
    ) throws(Failure) -> (client: StatusClient, status: HubStatus) {
        var failure = Failure.noHub
        let meant = StatusSocket.canonical(store)
        for path in StatusSocket.candidates(store: store, machine: machine) {
            do throws(Failure) {
                guard let client = try connect(path) else { continue }
                client.write(StatusMessage.line(asking: follows ? .follow : .status))
                let status = try client.first()
                if status.store.path == meant { return (client, status) }
            } catch {
                // Another place may know better; but that somebody is there is worth more than that nobody is elsewhere.
                failure = error
            }
        }
        throw failure
    }

    private static func connect(_ path: String) throws(Failure) -> StatusClient? {
        do throws(SystemFailure) {
            return StatusClient(owning: try StatusSocket.connected(to: path, patience: patience))
        } catch {
            switch error.code {
            case EACCES, EPERM:
                // A folder that is not ours to look into tells nothing of a hub.
                var status = stat()
                guard lstat(path, &status) == 0 else { return nil }
                throw .notPermitted(path)
            case EAGAIN, EINPROGRESS: throw .noAnswer("it does not answer")
            default: return nil
            }
        }
    }

    /// What went wrong here is told by what can be read: a hub may have answered before it closed.
    private func write(_ bytes: [UInt8]) { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    private func first() throws(Failure) -> HubStatus {
        while true {
            if let status = try read().first { return status }
        }
    }

    /// Waits for something to come, and gives the answers that are whole, oldest first.
    ///
    /// - Throws: ``Failure``; `ended` also where it ended in the midst of a line.
    public func read() throws(Failure) -> [HubStatus] {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count < 0, errno == EINTR { return [] }
            if count < 0, errno == EAGAIN { throw .noAnswer("it does not answer") }
            throw .ended
        }
        received += buffer[..<count]
        var statuses: [HubStatus] = []
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            statuses.append(try Self.status(received[..<end]))
            received.removeSubrange(...end)
        }
        guard received.count <= StatusMessage.longestAnswer else { throw .noAnswer("its answer is too long") }
        return statuses
    }

    private static func status(_ line: some Collection<UInt8>) throws(Failure) -> HubStatus {
        guard line.count <= StatusMessage.longestAnswer, let answer = StatusMessage.answer(line) else {
            throw .noAnswer("its answer cannot be read")
        }
        if let status = answer.status, answer.vitalgate == StatusMessage.version { return status }
        throw .noAnswer(answer.error?.message ?? "it is of another version than this program")
    }

    /// From now on it waits for an answer as long as it takes.
    public func waitForEver() {
        var limit = timeval(tv_sec: 0, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
}
