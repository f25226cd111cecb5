import Glibc

/// A pseudo-terminal: the device's end of a serial line. The hub opens ``path``.
package final class Pty {
    package let path: String
    private var number: Int32

    package init() throws {
        // posix_openpt(3) and its companions, which Swift does not see: pts(4).
        number = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var unlocked: Int32 = 0
        var slave: UInt32 = 0
        guard number >= 0, ioctl(number, 0x4004_5431 as UInt, &unlocked) == 0, ioctl(number, 0x8004_5430 as UInt, &slave) == 0
        else {
            throw PtyError(code: errno)
        }
        path = "/dev/pts/\(slave)"
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        // Without this, data that is written before the hub configures the line would return as an echo.
        var line = termios()
        tcgetattr(number, &line)
        cfmakeraw(&line)
        tcsetattr(number, TCSANOW, &line)
    }

    deinit { pull() }

    /// Pulls the plug.
    package func pull() {
        if number >= 0 { close(number) }
        number = -1
    }

    package func write(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty, number >= 0 {
            let count = rest.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else {
                guard errno == EAGAIN || errno == EINTR else { return }
                var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, 100)
            }
        }
    }

    package func write(_ text: String) { write(text.utf8) }

    /// The data that the hub has written. Waits for it at most this long. Empty if the hub has closed the line or writes nothing.
    package func read(waiting milliseconds: Int32 = 0) -> [UInt8] {
        var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        guard number >= 0, poll(&entry, 1, milliseconds) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(number, &buffer, buffer.count)
        if count < 0, milliseconds > 0 {
            // The line is not open, which poll(2) reports as an event.
            usleep(1000)
        }
        return count > 0 ? Array(buffer[..<count]) : []
    }

    /// How the hub has set the line up.
    package var settings: termios {
        var line = termios()
        tcgetattr(number, &line)
        return line
    }
}

package struct PtyError: Error {
    package var code: Int32
    package init(code: Int32) { self.code = code }
}
