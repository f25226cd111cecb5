import EventLoopKit
import Glibc

/// Notifications through a socket of bluetoothd, one packet each, without a D-Bus message for every value (AcquireNotify).
final class NotificationPipe {
    private let descriptor: Descriptor
    private let loop: EventLoop
    private var buffer: [UInt8]
    private let handler: ([UInt8]?) -> Void

    /// - Parameter handler: called with each value, and with nil when BlueZ has closed its end.
    init(_ descriptor: Descriptor, loop: EventLoop, maximum: Int, handler: @escaping ([UInt8]?) -> Void) {
        self.descriptor = descriptor
        self.loop = loop
        self.handler = handler
        // The MTU, limited to Bluetooth's range for a value.
        buffer = [UInt8](repeating: 0, count: min(max(maximum, 23), 517))
        _ = fcntl(descriptor.number, F_SETFL, fcntl(descriptor.number, F_GETFL) | O_NONBLOCK)
        loop.watch(descriptor.number) { [weak self] _ in self?.drain() }
    }

    deinit { loop.unwatch(descriptor.number) }

    /// More than bluetoothd's socket can contain. A socket that never runs empty must not block the loop.
    private static let valuesInATurn = 512

    /// Whether BlueZ has closed its end. A read of zero bytes is not enough, because it may be an empty value. The socket must also report
    /// the end and be empty.
    private var hasEnded: Bool {
        var state = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, 0) >= 0 else { return errno != EINTR }
        var waiting: Int32 = 0
        guard Int32(state.revents) & (POLLHUP | POLLERR | POLLNVAL) != 0 else { return false }
        return ioctl(descriptor.number, UInt(FIONREAD), &waiting) != 0 || waiting == 0
    }

    /// Passes on the values that have arrived.
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
