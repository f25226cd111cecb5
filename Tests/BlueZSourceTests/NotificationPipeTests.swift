import EventLoopKit
import Glibc
import Testing

@testable import BlueZSource

/// The socket that bluetoothd hands over: one packet for each value.
@Suite struct NotificationPipeTests {
    private final class Received {
        var values: [[UInt8]?] = []
    }

    /// Both ends of a socket that keeps packets apart, as bluetoothd's does.
    private static func ends() throws -> (own: Descriptor, other: Int32) {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &pair) == 0)
        return (Descriptor(owning: pair[0]), pair[1])
    }

    /// A notification may be empty (Bluetooth Core, Vol 3, Part F, 3.4.7.1). It is a value, and others follow.
    @Test func anEmptyValueEndsNothing() throws {
        let (own, other) = try Self.ends()
        let received = Received()
        let pipe = NotificationPipe(own, loop: EventLoop(clock: ManualClock()), maximum: 23) { received.values.append($0) }
        for value in [[1, 2], [], [3]] as [[UInt8]] { #expect(send(other, value, value.count, 0) == value.count) }
        pipe.drain()
        #expect(received.values == [[1, 2], [], [3]])
        // Values that were sent before the end are received before it.
        for value in [[], [4]] as [[UInt8]] { #expect(send(other, value, value.count, 0) == value.count) }
        close(other)
        pipe.drain()
        #expect(received.values.filter { $0?.isEmpty != true } == [[1, 2], [3], [4], nil])
        #expect(received.values.count { $0 == nil } == 1)
    }
}
