import FoundationEssentials
import Glibc
import Pipeline

extension BackgroundDelivery.Message {
    /// The message as one line of JSON.
    var line: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }
}

extension BackgroundDelivery.Receiver {
    /// Sends a line to the receiver. Gives up after `timeout` or when the task is cancelled.
    ///
    /// - Returns: The reason why the line was not acknowledged, or `nil` if it was.
    func take(_ line: [UInt8], within timeout: Duration) async -> String? {
        switch self {
        case .command(let words):
            do throws(CommandFailure) {
                let process = try StartedCommand(words, input: line)
                return await ReceiverThread().ended(process, within: timeout)
            } catch {
                return error.reason
            }
        case .socket(let path):
            do throws(ReceiverFailure) {
                let socket = try ReceiverSocket(path, within: timeout)
                return await ReceiverThread().answered(socket, line, within: timeout)
            } catch {
                return error.reason
            }
        }
    }
}

struct ReceiverFailure: Error {
    var reason: String
}

/// Waits for a receiver on its own thread, which may block.
private actor ReceiverThread {
    private let executor = BlockingExecutor(label: "vitalstore.receiver")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private func wait(_ body: @Sendable () -> String?) -> String? { body() }

    nonisolated func ended(_ process: StartedCommand, within timeout: Duration) async -> String? {
        let leash = Leash { process.end() }
        let reason = await waiting(leash, timeout) { process.wait() }
        await leash.release()
        // From here on the system may reuse the process id, so the process must not be killed any more.
        process.reap()
        return reason
    }

    nonisolated func answered(_ socket: ReceiverSocket, _ line: [UInt8], within timeout: Duration) async -> String? {
        let leash = Leash { socket.end() }
        let reason = await waiting(leash, timeout) { socket.transmit(line) }
        await leash.release()
        socket.close()
        return reason
    }

    private nonisolated func waiting(
        _ leash: Leash, _ timeout: Duration, _ body: @escaping @Sendable () -> String?
    ) async -> String? {
        let timer = Task {
            try await Task.sleep(for: timeout)
            await leash.pull()
        }
        let reason = await withTaskCancellationHandler {
            await wait(body)
        } onCancel: {
            Task { await leash.pull() }
        }
        timer.cancel()
        guard reason != nil, await leash.wasPulled else { return reason }
        return "it did not acknowledge within \(timeout.components.seconds) s"
    }
}

/// Ends a blocking wait, unless it is already over.
private actor Leash {
    private var end: (@Sendable () -> Void)?
    private(set) var wasPulled = false

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    func pull() {
        guard let end else { return }
        wasPulled = true
        end()
    }

    func release() { end = nil }
}

/// A connection to a listening receiver.
private struct ReceiverSocket: Sendable {
    private let descriptor: Int32
    private let path: String
    private static let maximumBytes = 256
    private static let maximumPathLength = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Creates a socket that is not connected yet.
    ///
    /// - Parameter timeout: The maximum time to connect.
    init(_ path: String, within timeout: Duration) throws(ReceiverFailure) {
        self.path = path
        guard path.utf8.count <= Self.maximumPathLength else {
            throw ReceiverFailure(reason: "\(path) is too long for the path of a socket")
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ReceiverFailure(reason: "\(path): \(String(cString: strerror(errno)))") }
        // Without a timeout, a receiver that listens but never accepts would block the connection forever.
        var limit = timeval(tv_sec: Int(timeout.components.seconds) + 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private func connected() -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    func transmit(_ line: [UInt8]) -> String? {
        guard connected() else { return "\(path): \(String(cString: strerror(errno)))" }
        var sent = 0
        while sent < line.count {
            let count = line.withUnsafeBytes { bytes -> Int in
                guard let start = bytes.baseAddress else { return 0 }
                return send(descriptor, start + sent, line.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { return "it was not accepted: \(String(cString: strerror(errno)))" }
            sent += max(count, 0)
        }
        var (answer, byte): ([UInt8], UInt8) = ([], 0)
        while answer.count < Self.maximumBytes {
            let count = recv(descriptor, &byte, 1, 0)
            guard count == 1 else {
                if count < 0, errno == EINTR { continue }
                return "it was not acknowledged"
            }
            if byte == UInt8(ascii: "\n") { break }
            answer.append(byte)
        }
        return answer == Array("ok".utf8) ? nil : "the response was not ok"
    }

    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() { Glibc.close(descriptor) }
}
