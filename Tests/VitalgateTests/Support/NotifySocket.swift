import Glibc

/// The messages that a service manager receives: the datagrams of sd_notify(3).
final class NotifySocket {
    private let number: Int32
    let path: String
    /// All that was heard, in order.
    private(set) var messages: [String] = []

    init(_ path: String) throws {
        self.path = path
        number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard number >= 0, bound == 0 else { throw POSIXFailure("bind \(path)", errno) }
    }

    deinit { close(number) }

    /// The next message. The limit only ends a test that would hang.
    @discardableResult
    func next() throws -> String {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 300_000) > 0 else { throw POSIXFailure("no message came", ETIMEDOUT) }
        return take() ?? ""
    }

    /// Waits for a message that contains a text, and returns those before it.
    @discardableResult
    func waits(for text: String) throws -> [String] {
        let start = messages.count
        while try !next().contains(text) {}
        return Array(messages[start..<(messages.count - 1)])
    }

    /// Messages that were received and not waited for.
    func rest() -> [String] {
        let start = messages.count
        while take() != nil {}
        return Array(messages[start...])
    }

    private func take() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { return nil }
        messages.append(String(decoding: buffer[..<count], as: UTF8.self))
        return messages.last
    }
}
