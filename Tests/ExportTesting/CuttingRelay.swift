import Glibc
import Synchronization

/// A relay between a client and a server, on Unix sockets or local TCP. It cuts a connection after a number of bytes in one direction:
/// before the server receives anything, in the middle, or when the server has finished and its answer is in transit. It can also pass on
/// the server's answers a few bytes at a time.
package final class CuttingRelay: @unchecked Sendable {
    /// The direction whose bytes are counted.
    package enum Direction: CaseIterable, Sendable {
        case toServer
        case toClient
    }

    /// The address of a listener.
    package enum Address: Sendable {
        case unix(String)
        /// A port of 127.0.0.1.
        case tcp(UInt16)
    }

    private let listener: Int32
    private let isClosed = Mutex(false)
    private let server: Address
    private let address: Address
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var fuse: (direction: Direction, bytes: Int)?
    /// How many connections were cut.
    private var cuts = 0
    /// The number of bytes of an answer that are passed on at a time, one portion each millisecond. `nil` if all are.
    private var trickle: Int?
    private var lots = 0

    /// - Parameters:
    ///   - address: where the client connects. A port of 0 is a free one, which ``port`` names.
    ///   - server: the server's address.
    package init(_ address: Address, server: Address) {
        (self.address, self.server) = (address, server)
        pthread_mutex_init(lock, nil)
        listener = Self.open(address, Glibc.bind)
        listen(listener, 16)
        Self.thread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Self.thread { [self] in relay(client) }
            }
            // Closed only here: another socket could get the number while this thread still accepts with it.
            Glibc.close(listener)
        }
    }

    /// Ends it: no connection is taken any more.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        if case .unix(let path) = address { unlink(path) }
    }

    /// The port at 127.0.0.1, if it listens there.
    package var port: UInt16 { FreePort.of(listener) }

    /// Cuts the connection after this number of further bytes.
    package func cut(_ direction: Direction, after bytes: Int) {
        locked { fuse = (direction, bytes) }
    }

    /// Nothing is cut.
    package func mend() { locked { fuse = nil } }

    /// Passes on the server's answers slowly from now on, this number of bytes at a time.
    package func slow(to bytes: Int) { locked { trickle = bytes } }

    /// How many such lots have gone by.
    package var slowLots: Int { locked { lots } }

    /// How many connections were cut so far.
    package var count: Int { locked { cuts } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    /// The number of these bytes that are passed on. The rest is dropped.
    private func passing(_ count: Int, _ direction: Direction) -> Int {
        locked {
            guard let (direction: burning, bytes: bytes) = fuse, burning == direction else { return count }
            guard count >= bytes else {
                fuse = (direction, bytes - count)
                return count
            }
            fuse = nil
            cuts += 1
            return bytes
        }
    }

    /// The number of bytes to pass on now, after a delay of a millisecond if this direction is slow.
    private func lot(_ direction: Direction) -> Int? {
        guard direction == .toClient,
            let lot = locked({
                lots += trickle == nil ? 0 : 1
                return trickle
            })
        else { return nil }
        usleep(1000)
        return lot
    }

    private func relay(_ client: Int32) {
        let upstream = Self.open(server, connect)
        defer {
            Glibc.close(upstream)
            Glibc.close(client)
        }
        guard upstream >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var ends = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&ends, 2, -1) > 0 || errno == EINTR else { return }
            for (index, direction) in [Direction.toServer, .toClient].enumerated() where ends[index].revents != 0 {
                let count = read(ends[index].fd, &buffer, lot(direction) ?? buffer.count)
                guard count > 0 else { return }
                let going = passing(count, direction)
                var sent = 0
                while sent < going {
                    let written = buffer[sent..<going].withUnsafeBytes {
                        send(ends[1 - index].fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { return }
                    sent += written
                }
                guard going == count else { return }
            }
        }
    }

    /// A socket that is bound or connected, or -1 if that fails.
    private static func open(
        _ address: Address, _ use: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) -> Int32 {
        func used<Socket>(_ family: Int32, _ address: Socket) -> Int32 {
            let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
            let code = withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use(descriptor, $0, socklen_t(MemoryLayout<Socket>.size)) }
            }
            guard code != 0 else { return descriptor }
            Glibc.close(descriptor)
            return -1
        }
        switch address {
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix($0.count - 1))) }
            return used(AF_UNIX, address)
        case .tcp(let port): return used(AF_INET, FreePort.address(port))
        }
    }

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    static func thread(_ body: @escaping () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work)
        pthread_detach(thread)
    }
}
