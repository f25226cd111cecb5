import HubBackup
import Pipeline

/// Where and when the hub makes backups: the key `backup` of the configuration.
///
///     backup: {
///         at: ["03:30"],                              // local times
///         keep: { daily: 7, weekly: 5, monthly: 12 },
///         drill: "restore",                           // or "read"
///         locations: { usb: { location: "/media/usb/vitalgate" } },
///     }
package struct BackupConfiguration: Decodable, Sendable {
    package var schedule = BackupSchedule()
    package var locations: [BackupLocationConfiguration] = []

    /// The keys of the object `backup`, and of `keep`.
    static let knownKeys = ["at", "keep", "drill", "locations"]
    static let keepKeys = ["daily", "weekly", "monthly"]
    static let key = "backup"

    package init() {}

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(hasOnly: Self.knownKeys)
        if let times: [String] = try members["at"] {
            guard (1...24).contains(times.count) else { throw members.fault("at", "expected 1 to 24 times") }
            schedule.times = try times.map(Self.minutes)
        }
        if let drill: String = try members["drill"] {
            guard ["restore", "read"].contains(drill) else {
                throw members.fault("drill", "must be \"restore\" or \"read\"")
            }
            schedule.drillRestores = drill == "restore"
        }
        if let keep = try members.members("keep", hasOnly: Self.keepKeys) {
            schedule.daily = try keep.number("daily", in: 0...1000) ?? schedule.daily
            schedule.weekly = try keep.number("weekly", in: 0...1000) ?? schedule.weekly
            schedule.monthly = try keep.number("monthly", in: 0...1000) ?? schedule.monthly
        }
        let named: NamedSettings<BackupLocationConfiguration>? = try members["locations"]
        locations = named?.all ?? []
    }

    /// The minutes after midnight of a time such as `03:30`.
    private static func minutes(_ text: String) throws(ConfigurationError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { $0.utf8.count == 2 ? Int($0) : nil }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1], (0...23).contains(hour), (0...59).contains(minute)
        else {
            throw ConfigurationError("'backup.at': invalid time '\(text)', expected one such as 03:30")
        }
        return hour * 60 + minute
    }
}

/// A location for backups, by its name in commands.
package struct BackupLocationConfiguration: Sendable, NamedSetting {
    package let name: String
    package let location: BackupLocation
    /// The path of a file with the variables that the location needs, or `nil`.
    package let credentials: String?

    static let (key, noun) = ("backup.locations", "location")
    static let knownKeys = ["location", "credentials"]

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let members = try decoder.members(hasOnly: Self.knownKeys)
        guard let text: String = try members["location"] else { throw members.fault("location", "is missing") }
        do throws(BackupFailure) {
            location = try BackupLocation(text)
        } catch {
            throw members.fault("location", "\(error)")
        }
        credentials = try members["credentials"]
        guard credentials?.hasPrefix("/") != false else {
            throw members.fault("credentials", "the path must begin with /")
        }
    }

    package static func isValid(name: String) -> Bool { isName(name) }

    /// The keys of the object with all locations.
    package static let path = [BackupConfiguration.key, "locations"]

    /// The settings of a location in JSON5.
    package static func object(_ location: BackupLocation, credentials: String?) -> String {
        var settings = [(key: "location", value: JSON5Text.quoted(location.address))]
        if let credentials { settings.append((key: "credentials", value: JSON5Text.quoted(credentials))) }
        return JSON5Text.object(settings)
    }
}
