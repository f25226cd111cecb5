import Glibc
import HealthModel

/// What the program takes from the machine it runs on: clock, zone, folders, environment. Everything below gets it handed.
public struct Machine: Sendable {
    /// Environment variables by name; ``current()`` takes only those that are used.
    public var environment: [String: String]
    /// The hub's clock.
    public var now: @Sendable () -> Instant
    /// Compiled zone files of the tz database.
    public var zoneDirectory: String

    /// - Parameter zoneDirectory: the folder of the compiled zone files of the tz database.
    public init(environment: [String: String], now: @escaping @Sendable () -> Instant, zoneDirectory: String) {
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
        return Machine(environment: environment, now: Machine.clock, zoneDirectory: "/usr/share/zoneinfo")
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
