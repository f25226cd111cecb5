import Glibc
import HealthModel
import Ingestion
import Pipeline

/// The machine's clock, zone, folders and environment, which are passed to the rest of the program.
package struct Machine: Sendable {
    /// Environment variables by name; ``current()`` takes only those that are used.
    package var environment: [String: String]
    /// The hub's clock.
    package var now: @Sendable () -> Instant
    /// The folder of the compiled tz database.
    package var zoneDirectory: String

    package var hostName: String
    /// The identity of the system and board. Empty if neither has one.
    package var identity: String

    /// - Parameters: - zoneDirectory: the folder of the compiled tz database. - hostName: the host name. - identity: the identity
    ///   of the system and board.
    package init(
        environment: [String: String], now: @escaping @Sendable () -> Instant, zoneDirectory: String, hostName: String = "",
        identity: String = ""
    ) {
        (self.hostName, self.identity) = (hostName, identity)
        self.environment = environment
        self.now = now
        self.zoneDirectory = zoneDirectory
    }

    package static func current() -> Machine {
        var environment: [String: String] = [:]
        for name in ["HOME", "TZ", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUNTIME_DIRECTORY"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        if environment["HOME", default: ""].isEmpty { environment["HOME"] = accountsHome() }
        return Machine(
            environment: environment, now: Machine.clock, zoneDirectory: "/usr/share/zoneinfo", hostName: name(),
            identity: boards.compactMap(text).joined(separator: "\n"))
    }

    /// The machine-id(5), which a cloned SD card shares with the original, and the board's serial number, which it does not.
    private static let boards = ["/etc/machine-id", "/sys/firmware/devicetree/base/serial-number"]

    /// The first word of a short file.
    private static func text(_ path: String) -> String? {
        guard let word = SmallFile.read(path, limit: 4096)?.prefix(while: { $0 > 0x20 }), !word.isEmpty else { return nil }
        return String(decoding: word, as: UTF8.self)
    }

    private static func name() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the identity of a store's file on this machine, by which targets recognise copies. It reveals neither the path nor
    /// the machine's id.
    package func holder(ofStore path: String) -> StoreHolder {
        let place = Folder.resolved(path) ?? path
        let digest = Digest.sha256(Array("vitalgate-holder-1\n\(identity)\n\(place)\n".utf8)).prefix(12)
        return StoreHolder(
            id: digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(),
            name: "'\(hostName.isEmpty ? "this machine" : hostName)' (\(place))")
    }

    /// Returns the home folder of the user's account, for a service that is started without `HOME`.
    private static func accountsHome() -> String? {
        var account = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(getuid(), &account, &buffer, buffer.count, &found) == 0, found != nil, let home = account.pw_dir else {
            return nil
        }
        return String(cString: home)
    }

    /// The user's home folder, or `nil`.
    package var home: String? { folder("HOME") }

    /// Returns the folder in a variable. Empty and relative values are ignored (XDG Base Directory, "All paths must be
    /// absolute").
    func folder(_ variable: String) -> String? {
        environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    @Sendable private static func clock() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// An error in the configuration, or in a name that is resolved by it.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String
    /// Whether the value comes from the command line or the environment, so that it is a usage error.
    package var isOfOption: Bool
    /// - Parameter description: the problem and its solution, for the user.
    package init(_ description: String, isOfOption: Bool = false) {
        (self.description, self.isOfOption) = (description, isOfOption)
    }
}
