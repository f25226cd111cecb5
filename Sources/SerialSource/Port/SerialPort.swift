import EventLoopKit
import Glibc
import Wire

/// An open serial port that nobody else of ours has open: raw, not blocking (termios(3)).
final class SerialPort {
    private let descriptor: Descriptor
    private let loop: EventLoop
    private var isOurs = false
    private var buffer = [UInt8](repeating: 0, count: 4096)
    /// What became of waiting for octets.
    enum Event {
        case octets(UnsafeRawBufferPointer)
        /// The plug was pulled, or the line is broken.
        case ended
    }

    /// - Parameter handler: called with what comes; after `ended`, no more.
    /// - Throws: ``SerialPortError``.
    init(
        path: String, settings: SerialSettings, loop: EventLoop, handler: @escaping (Event) -> Void
    ) throws(SerialPortError) {
        let number = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw SerialPortError(opening: errno) }
        descriptor = Descriptor(owning: number)
        self.loop = loop
        // TIOCEXCL keeps programs out that know nothing of locks, but not the administrator's; flock(2) keeps out every Vitalgate.
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw .taken }
        guard isatty(number) == 1 else { throw .noPort }
        _ = ioctl(number, UInt(TIOCEXCL))
        isOurs = true
        try Self.configure(number, settings)
        loop.watch(number) { [weak self] _ in self?.drain(handler) }
    }

    deinit {
        loop.unwatch(descriptor.number)
        // The mark is the port's: another one's stays.
        if isOurs { _ = ioctl(descriptor.number, UInt(TIOCNXCL)) }
    }

    /// Writes a short command. What the line does not take at once is lost: a device that then does not answer is asked again.
    func write(_ octets: [UInt8]) {
        _ = octets.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
    }

    private func drain(_ handler: (Event) -> Void) {
        // The handler may close the port.
        let number = descriptor.number
        let kept = self
        while true {
            let count = kept.buffer.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
            if count > 0 {
                let octets = Array(kept.buffer[..<count])
                octets.withUnsafeBytes { handler(.octets($0)) }
                // One piece a turn, so that a line that never stops stops nobody else.
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
            // An octet with wrong parity is left out, so that its frame is too short; the default puts a zero in its place.
            line.c_iflag |= tcflag_t(INPCK | IGNPAR)
        }
        if settings.hasSoftwareFlow { line.c_iflag |= tcflag_t(IXON | IXOFF) }
        guard let speed = speeds[settings.speed], cfsetispeed(&line, speed) == 0, cfsetospeed(&line, speed) == 0 else {
            throw .unsupported
        }
        if tcsetattr(number, TCSANOW, &line) == 0 { return }
        // A pseudo-terminal has no parity bit, and tcsetattr(3) calls that an error where nothing else is to be changed.
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

/// Why a port could not be opened.
enum SerialPortError: Error, Hashable {
    /// Nothing is plugged in there.
    case missing
    /// Somebody else has it.
    case taken
    case denied
    /// It is there and does not answer: a plug that is just being pulled.
    case broken(Int32)
    /// No serial port.
    case noPort
    /// It cannot be set to this speed.
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
