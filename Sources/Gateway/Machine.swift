import Glibc
import HealthModel
import Pipeline

/// What the program takes from the machine it runs on: clock, zone, folders, environment. Everything below gets it handed.
public struct Machine: Sendable {
    /// Environment variables by name; ``current()`` takes only those that are used.
    public var environment: [String: String]
    /// The hub's clock.
    public var now: @Sendable () -> Instant
    /// Compiled zone files of the tz database.
    public var zoneDirectory: String

    /// What people call it.
    public var hostName: String
    /// What tells it from others, as its system and its board say; empty where neither says anything.
    public var identity: String

    /// - Parameters:
    ///   - zoneDirectory: the folder of the compiled zone files of the tz database.
    ///   - hostName: what people call it.
    ///   - identity: what tells it from others.
    public init(
        environment: [String: String], now: @escaping @Sendable () -> Instant, zoneDirectory: String, hostName: String = "",
        identity: String = ""
    ) {
        (self.hostName, self.identity) = (hostName, identity)
        self.environment = environment
        self.now = now
        self.zoneDirectory = zoneDirectory
    }

    /// The machine the program runs on.
    public static func current() -> Machine {
        var environment: [String: String] = [:]
        for name in ["HOME", "TZ", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUNTIME_DIRECTORY"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        if environment["HOME", default: ""].isEmpty { environment["HOME"] = accountsHome() }
        return Machine(
            environment: environment, now: Machine.clock, zoneDirectory: "/usr/share/zoneinfo", hostName: name(),
            identity: boards.compactMap(text).joined(separator: "\n"))
    }

    /// machine-id(5), which a cloned card has in common with the one that it was made of; and the serial number of a board, which it has not.
    private static let boards = ["/etc/machine-id", "/sys/firmware/devicetree/base/serial-number"]

    /// A short file's text.
    private static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var octets = [UInt8](repeating: 0, count: 256)
        let count = read(file, &octets, octets.count)
        let text = String(decoding: octets.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    private static func name() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A store's file on this machine, as targets tell it from a copy elsewhere: no name and no number of the machine can be read from it.
    public func holder(ofStore path: String) -> StoreHolder {
        let place = Self.whole(path)
        let digest = Digest.sha256(Array("vitalgate-holder-1\n\(identity)\n\(place)\n".utf8)).prefix(12)
        return StoreHolder(
            id: digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
            name: "'\(hostName.isEmpty ? "this machine" : hostName)' (\(place))")
    }

    /// A path without links, from the root on.
    private static func whole(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// The home folder that the user's account has, for a service that is started without `HOME`.
    private static func accountsHome() -> String? {
        var account = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(getuid(), &account, &buffer, buffer.count, &found) == 0, found != nil, let home = account.pw_dir else {
            return nil
        }
        return String(cString: home)
    }

    /// The user's home folder, where there is one.
    public var home: String? { folder("HOME") }

    /// A folder named by a variable: an empty one counts as unset, and a relative one is to be ignored (XDG Base Directory, "All
    /// paths must be absolute").
    func folder(_ variable: String) -> String? {
        environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    @Sendable private static func clock() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// The configuration, or a name that only the configuration explains, is wrong.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String
    /// Whether a number is none that the program can work with, while the file reads as it should.
    public var isOutOfRange: Bool
    /// Whether a person named it on the command line, or in the environment: then it is wrong usage, and no wrong configuration.
    public var isOfOption: Bool
    /// - Parameters:
    ///   - description: what is wrong, and what to do, in words for a person.
    ///   - isOutOfRange: whether it is a number that the program cannot work with.
    ///   - isOfOption: whether a person named it on the command line, or in the environment.
    public init(_ description: String, isOutOfRange: Bool = false, isOfOption: Bool = false) {
        (self.description, self.isOfOption) = (description, isOfOption)
        self.isOutOfRange = isOutOfRange
    }
}
