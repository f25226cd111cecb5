import EventLoopKit
import Glibc

/// Notifications through a socket of bluetoothd's, one packet each: no D-Bus message for every value (AcquireNotify).
final class NotificationPipe {
    private let descriptor: Descriptor
    private let loop: EventLoop
    private var buffer: [UInt8]
    private let handler: ([UInt8]?) -> Void

    /// - Parameter handler: called with each value, and with none when BlueZ has closed its end.
    init(_ descriptor: Descriptor, loop: EventLoop, maximum: Int, handler: @escaping ([UInt8]?) -> Void) {
        self.descriptor = descriptor
        self.loop = loop
        self.handler = handler
        // The MTU, within what Bluetooth allows for a value.
        buffer = [UInt8](repeating: 0, count: min(max(maximum, 23), 517))
        _ = fcntl(descriptor.number, F_SETFL, fcntl(descriptor.number, F_GETFL) | O_NONBLOCK)
        loop.watch(descriptor.number) { [weak self] _ in self?.drain() }
    }

    deinit { loop.unwatch(descriptor.number) }

    /// More than a socket of bluetoothd's holds; one that never runs dry must not hold the loop.
    private static let valuesInATurn = 512

    /// Reading nothing is an empty value as well as the end: BlueZ has closed its end where the socket says so and nothing waits in it.
    private var hasEnded: Bool {
        var state = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, 0) >= 0 else { return errno != EINTR }
        var waiting: Int32 = 0
        guard Int32(state.revents) & (POLLHUP | POLLERR | POLLNVAL) != 0 else { return false }
        return ioctl(descriptor.number, UInt(FIONREAD), &waiting) != 0 || waiting == 0
    }

    /// Hands on what has arrived.
    func drain() {
        for _ in 0..<Self.valuesInATurn {
            let count = read(descriptor.number, &buffer, buffer.count)
            if count > 0 {
                handler(Array(buffer[..<count]))
            } else if count < 0, errno == EINTR {
                continue
            } else if count == 0, !hasEnded {
                handler([])
            } else {
                if count < 0, errno == EAGAIN { return }
                loop.unwatch(descriptor.number)
                handler(nil)
                return
            }
        }
    }
}
