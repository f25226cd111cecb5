import EventLoopKit
import Glibc
import Testing

@Suite struct EventLoopTests {
    /// A card that stalls for seconds delays the loop. Data that arrived in the meantime is read before the timer that would interpret
    /// silence as a fault and close the socket.
    @Test func readsPendingDataBeforeTimers() throws {
        let clock = RadioBench.Clock()
        let loop = EventLoop(clock: clock)
        var ends: [(reading: Descriptor, writing: Descriptor)] = []
        for _ in 1...2 {
            var numbers: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &numbers) == 0)
            ends.append((Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1])))
        }
        let (slow, strap) = (ends[0], ends[1])
        var order: [String] = []
        func take(_ descriptor: Descriptor) {
            var byte: UInt8 = 0
            #expect(read(descriptor.number, &byte, 1) == 1)
        }
        loop.watch(slow.reading.number) { _ in
            take(slow.reading)
            clock.uptime += .seconds(7)
            write(strap.writing.number, "b", 1)
        }
        loop.watch(strap.reading.number) { _ in
            take(strap.reading)
            order.append("heard")
        }
        loop.after(.seconds(5)) { order.append("silent") }
        write(slow.writing.number, "a", 1)
        loop.turn(maximumWait: .zero)
        #expect(order.isEmpty)
        loop.turn(maximumWait: .zero)
        #expect(order == ["heard", "silent"])
    }

    /// A line of the log, and of the ledger's notes, is one line whatever a device calls itself.
    @Test(arguments: ["\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}", "\u{B}", "\u{C}"])
    func aNoticeIsOneLine(_ lineBreak: String) {
        let notice = SourceNotice(.warning, "Maker\(lineBreak)info: forged", "its name is X\(lineBreak)action: forged")
        #expect(notice.description == "Maker info: forged: its name is X action: forged")
    }
}
