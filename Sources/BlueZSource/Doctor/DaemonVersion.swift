import Glibc
import Pipeline

/// The version of the installed bluetoothd. BlueZ does not report it over D-Bus, so its program is run.
struct DaemonVersion: Hashable, Comparable, CustomStringConvertible {
    var major: Int
    var minor: Int

    var description: String { "\(major).\(minor)" }
    static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }

    init?(_ text: String) {
        let parts = text.split { $0.isWhitespace || $0 == "." }.prefix(2).compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        (major, minor) = (parts[0], parts[1])
    }

    /// The paths in Debian 12 and later, in older Debian versions, and in Fedora.
    private static let paths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    static var program: String? { paths.first { access($0, X_OK) == 0 } }

    /// The known fault of this version and its source, or nil.
    var fault: String? {
        switch (major, minor) {
        // Before 5.49 there is no AcquireNotify. 5.50 is the oldest version in a supported Debian.
        case (...4, _), (5, ..<50): "is older than any tested version (5.66)"
        case (5, 64): "drops links and loses notifications (bluez/bluez#509)"
        case (5, 71): "does not load stored bonds (bluez/bluez#686)"
        default: nil
        }
    }

    /// Runs `bluetoothd --version`, or another program in tests.
    static func installed(program: String? = program, arguments words: [String] = ["--version"]) -> DaemonVersion? {
        guard let program else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var start = ProgramStart([program] + words)
        start.connect(0, to: nil)
        start.connect(1, to: ends[1])
        start.connect(2, to: nil)
        let result = start.run()
        close(ends[1])
        guard case .success(let process) = result else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(ends[0], &bytes, bytes.count)
        // Kill the program, so that one with more output cannot block.
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        return count > 0 ? DaemonVersion(String(decoding: bytes[..<count], as: UTF8.self)) : nil
    }
}
