import EventLoopKit
import Glibc
import SystemdKit

@testable import BlueZSource
@testable import SystemdKit

/// A bus with one client, played by the test: it authenticates the client, answers each call with nothing, and sends what the test
/// provides.
final class RawBus {
    let path: String
    var address: String { "unix:path=\(path)" }
    private(set) var calls: [UInt32] = []
    private(set) var visits = 0
    private let loop: EventLoop
    private var listener: Int32 = -1
    private var connection: Int32 = -1
    private var received: [UInt8] = []
    private var isIn = false
    private var waiting: ArraySlice<UInt8> = []

    init(loop: EventLoop, folder: String) throws {
        self.loop = loop
        path = folder + "/raw"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard RawBus.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 4) == 0 else {
            throw BusError.system(-errno, "a raw bus")
        }
        loop.watch(listener) { [weak self] _ in self?.accept() }
    }

    deinit {
        hangUp()
        loop.unwatch(listener)
        close(listener)
        unlink(path)
    }

    static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    func hangUp() {
        guard connection >= 0 else { return }
        loop.unwatch(connection)
        close(connection)
        connection = -1
    }

    private func accept() {
        hangUp()
        connection = Glibc.accept(listener, nil, nil)
        _ = fcntl(connection, F_SETFL, O_NONBLOCK)
        (received, waiting, isIn) = ([], [], false)
        visits += 1
        loop.watch(connection) { [weak self] _ in self?.read() }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return hangUp() }
        received += buffer[..<count]
        while !isIn, let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: received[..<end].filter { $0 >= 32 }, as: UTF8.self)
            received.removeSubrange(...end)
            authenticate(line)
        }
        while isIn, let call = RawMessage.take(from: &received) { answer(call.serial) }
    }

    private func authenticate(_ line: String) {
        let welcome = "OK 0123456789abcdef0123456789abcdef\r\n"
        switch line {
        case "AUTH EXTERNAL": transmit(Array("DATA\r\n".utf8))
        case "NEGOTIATE_UNIX_FD": transmit(Array("AGREE_UNIX_FD\r\n".utf8))
        case "BEGIN": isIn = true
        default: transmit(Array(welcome.utf8))
        }
    }

    private func answer(_ serial: UInt32) {
        calls.append(serial)
        // The first call is Hello, and its answer contains the client's name.
        var body = RawMessage.MessageReader()
        body.add(":1.7")
        transmit(answer(to: serial, body.bytes).bytes)
    }

    func answer(to serial: UInt32, _ body: [UInt8]) -> RawMessage {
        RawMessage(
            kind: .answer, serial: 9, answers: serial, destination: ":1.7", sender: "org.freedesktop.DBus", signature: "s",
            body: body)
    }

    /// Says it, now or as soon as there is room.
    func transmit(_ bytes: [UInt8]) {
        waiting += bytes
        push()
    }

    /// Writes as much as the socket accepts.
    /// - Returns: whether everything was written.
    @discardableResult
    func push() -> Bool {
        while !waiting.isEmpty {
            let count = waiting.withUnsafeBytes { send(connection, $0.baseAddress, min($0.count, 1 << 16), Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            waiting = waiting.dropFirst(count)
        }
        return true
    }
}

/// Another client on the same bus, which sends anything to one address.
final class RawPeer {
    private let descriptor: Int32

    init(_ daemon: PrivateBus) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard RawBus.withAddress(daemon.folder + "/bus", { connect(descriptor, $0, $1) }) == 0 else {
            throw BusError.system(-errno, "a raw peer")
        }
        let user = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        transmit(Array("\0AUTH EXTERNAL \(user)\r\nBEGIN\r\n".utf8))
        var hello = RawMessage(kind: .call)
        (hello.path, hello.interface, hello.member) = ("/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
        hello.destination = "org.freedesktop.DBus"
        transmit(hello.bytes)
    }

    deinit { close(descriptor) }

    func transmit(_ bytes: [UInt8]) { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Waits until the bus has passed on all messages.
    func waitUntilIdle() {
        var ping = RawMessage(kind: .call, serial: 4711)
        (ping.path, ping.interface, ping.member) = ("/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
        ping.destination = "org.freedesktop.DBus"
        transmit(ping.bytes)
        // Its answer is the only message of this peer that answers a call with this serial, little-endian.
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !Self.contains(received, [5, 1, 117, 0, 0x67, 0x12, 0, 0]) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            received += buffer[..<count]
        }
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
    }
}
