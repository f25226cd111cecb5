import Glibc
import HealthModel
import PipelineTesting
import Testing

@testable import Hub

/// How `status` reads bytes that arrive at any time.
@Suite struct StatusClientTests {
    /// The other end of a client's connection.
    private final class Server {
        private let descriptor: Int32
        let client: StatusClient

        init(timeout: Duration = .seconds(3600)) {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
            descriptor = ends[0]
            client = StatusClient(owning: ends[1], timeout: timeout)
        }

        deinit { close(descriptor) }

        func transmit(_ bytes: some Sequence<UInt8>) {
            let bytes = Array(bytes)
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private func line(_ uptime: Int) throws -> [UInt8] {
        let time = FixedClock().now
        var status = HubStatus(
            time: time, hub: .init(process: 1, started: time, uptime: uptime), store: .init(path: "/store.db", bytes: 0),
            today: .init(since: time))
        status.devicesLeftOut = uptime
        return StatusMessage.line(status)
    }

    /// However it is cut, each line is one answer.
    @Test(arguments: [1, 7, 100, 100_000]) func anyCut(_ size: Int) throws {
        let server = Server()
        var bytes: [UInt8] = []
        for uptime in 1...5 { bytes += try line(uptime) }
        var uptimes: [Int?] = []
        while !bytes.isEmpty {
            server.transmit(bytes.prefix(size))
            bytes.removeFirst(min(size, bytes.count))
            uptimes += try server.client.read().map { $0.hub?.uptime }
        }
        #expect(uptimes == [1, 2, 3, 4, 5])
        #expect(!server.client.isInMidst)
        server.hangUp()
        #expect(throws: StatusClient.Failure.ended) { try server.client.read() }
    }

    /// A client gives up after a while if the other end is silent or stops within a line.
    @Test(arguments: [0, 1, 20]) func halfALine(_ count: Int) throws {
        let server = Server(timeout: .milliseconds(1))
        server.transmit(try line(1).prefix(count))
        #expect(throws: StatusClient.Failure.noAnswer(count == 0 ? "it does not respond" : "its response is incomplete")) {
            while true { _ = try server.client.read() }
        }
    }

    /// So is one who stops in the midst of a later line.
    @Test func halfOfALaterLine() throws {
        let server = Server(timeout: .milliseconds(1))
        server.transmit(try line(1) + line(2).prefix(20))
        #expect(try server.client.read().count == 1)
        #expect(server.client.isInMidst)
        #expect(throws: StatusClient.Failure.noAnswer("its response is incomplete")) {
            while true { _ = try server.client.read() }
        }
    }

    /// A byte now and then does not extend the time limit.
    @Test func slowBytesDoNotExtendTimeout() throws {
        let server = Server(timeout: .milliseconds(20))
        var failure: StatusClient.Failure?
        for _ in 0..<1_000_000 where failure == nil {
            server.transmit([UInt8(ascii: " ")])
            do throws(StatusClient.Failure) { _ = try server.client.read() } catch { failure = error }
        }
        #expect(failure == .noAnswer("its response is incomplete"))
    }

    @Test func aLineWithoutEnd() throws {
        let server = Server()
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 32_768)
        var failure: StatusClient.Failure?
        var count = 0
        while failure == nil {
            server.transmit(chunk)
            count += 1
            do throws(StatusClient.Failure) { _ = try server.client.read() } catch { failure = error }
        }
        #expect(failure == .noAnswer("its response is too long"))
        #expect(count == StatusMessage.maximumAnswerLength / chunk.count + 1)
    }
}
