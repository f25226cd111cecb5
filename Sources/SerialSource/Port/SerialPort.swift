import EventLoopKit
import Glibc
import Wire

/// An open serial port in raw, nonblocking mode, locked against other programs (termios(3)).
final class SerialPort {
    private let descriptor: Descriptor
    private let loop: EventLoop
    private var isOurs = false
    private var buffer = [UInt8](repeating: 0, count: 4096)
    /// The result of waiting for bytes.
    enum Event {
        case bytes(UnsafeRawBufferPointer)
        /// The adapter was removed, or the line is broken.
        case ended
    }

    /// - Parameter handler: called with received bytes. It is not called again after `ended`.
    /// - Throws: ``SerialPortError``.
    init(
        path: String, settings: SerialSettings, loop: EventLoop, handler: @escaping (Event) -> Void
    ) throws(SerialPortError) {
        let number = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw SerialPortError(opening: errno) }
        descriptor = Descriptor(owning: number)
        self.loop = loop
        // TIOCEXCL excludes programs that do not use locks, except those of the administrator. flock(2) excludes every other Vitalgate.
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw .taken }
        guard isatty(number) == 1 else { throw .noPort }
        _ = ioctl(number, UInt(TIOCEXCL))
        isOurs = true
        try Self.configure(number, settings)
        loop.watch(number) { [weak self] _ in self?.drain(handler) }
    }

    deinit {
        loop.unwatch(descriptor.number)
        // The mark belongs to the port. Another program's mark must stay.
        if isOurs { _ = ioctl(descriptor.number, UInt(TIOCNXCL)) }
    }

    /// Writes a short command. Bytes that do not fit into the buffer are lost. If the device then does not answer, the command is sent
    /// again.
    func write(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
    }

    private func drain(_ handler: (Event) -> Void) {
        // The handler may close the port.
        let number = descriptor.number
        let retained = self
        while true {
            let count = retained.buffer.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
            if count > 0 {
                let bytes = Array(retained.buffer[..<count])
                bytes.withUnsafeBytes { handler(.bytes($0)) }
                // Read one piece in each turn of the loop, so that a line that never pauses does not block other sources.
                return
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            loop.unwatch(number)
            return handler(.ended)
        }
    }

    private static func configure(_ number: Int32, _ settings: SerialSettings) throws(SerialPortError) {
        var line = termios()
        guard tcgetattr(number, &line) == 0 else { throw .noPort }
        cfmakeraw(&line)
        line.c_cflag |= tcflag_t(CREAD | CLOCAL)
        line.c_cflag &= ~tcflag_t(CSIZE | PARENB | PARODD | CSTOPB) & ~tcflag_t(truncatingIfNeeded: 0x8000_0000 as UInt32)
        line.c_cflag |= tcflag_t(settings.dataBits == 7 ? CS7 : CS8)
        if settings.stopBits == 2 { line.c_cflag |= tcflag_t(CSTOPB) }
        if settings.parity != .none {
            line.c_cflag |= tcflag_t(PARENB) | (settings.parity == .odd ? tcflag_t(PARODD) : 0)
            // A byte with wrong parity is dropped, so its frame is too short. By default it would be replaced by a zero.
            line.c_iflag |= tcflag_t(INPCK | IGNPAR)
        }
        if settings.hasSoftwareFlow { line.c_iflag |= tcflag_t(IXON | IXOFF) }
        guard let speed = speeds[settings.speed], cfsetispeed(&line, speed) == 0, cfsetospeed(&line, speed) == 0 else {
            throw .unsupported
        }
        if tcsetattr(number, TCSANOW, &line) == 0 { return }
        // A pseudo-terminal has no parity bit, and tcsetattr(3) reports that as an error if nothing else changes.
        var found = termios()
        guard tcgetattr(number, &found) == 0, cfgetispeed(&found) == speed, found.c_iflag == line.c_iflag,
            found.c_lflag == line.c_lflag, (found.c_cflag ^ line.c_cflag) & ~tcflag_t(PARENB) == 0
        else { throw .unsupported }
    }

    private static let speeds: [Int: speed_t] = [
        1200: speed_t(B1200), 2400: speed_t(B2400), 4800: speed_t(B4800), 9600: speed_t(B9600), 19_200: speed_t(B19200),
        38_400: speed_t(B38400), 57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400),
        460_800: speed_t(B460800), 921_600: speed_t(B921600),
    ]
}

/// The reasons why a port could not be opened.
enum SerialPortError: Error, Hashable {
    /// Nothing is plugged in.
    case missing
    /// Another program has the port.
    case taken
    case denied
    /// The port exists but does not respond, for example while it is being removed.
    case broken(Int32)
    case noPort
    /// The port does not support these settings.
    case unsupported

    init(opening code: Int32) {
        self =
            switch code {
            case ENOENT, ENODEV, ENXIO: .missing
            case EBUSY: .taken
            case EACCES, EPERM: .denied
            default: .broken(code)
            }
    }
}
