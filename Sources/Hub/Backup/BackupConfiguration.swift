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
}

/// Adds locations to the text of a configuration, or removes them. All other text stays as it is.
package enum BackupText {
    /// Adds a location after the others.
    ///
    /// - Returns: the new text.
    /// - Throws: ``ConfigurationError`` if the text has no object for it.
    package static func adding(
        _ name: String, _ location: BackupLocation, credentials: String?, to bytes: [UInt8]
    ) throws(ConfigurationError) -> [UInt8] {
        var settings = [(key: "location", value: JSON5Text.quoted(location.address))]
        if let credentials { settings.append((key: "credentials", value: JSON5Text.quoted(credentials))) }
        let member = "\(JSON5Text.key(name)): \(JSON5Text.object(settings))"
        func locations(_ indentation: String) -> String {
            "locations: {\n\(indentation)    \(member),\n\(indentation)}"
        }
        guard !ConfigurationText.isBlank(bytes) else {
            return Array("{\n    backup: {\n        \(locations("        ")),\n    },\n}\n".utf8)
        }
        let root = try ConfigurationText.members(of: bytes)
        guard let backup = try ConfigurationText.only(BackupConfiguration.key, of: root) else {
            let inner = ConfigurationText.indentation(of: root, in: bytes)
            return ConfigurationText.inserting(
                "\(BackupConfiguration.key): {\n\(inner)    \(locations(inner + "    ")),\n\(inner)}", into: root, of: bytes)
        }
        let object = try ConfigurationText.members(of: bytes, at: backup.value.lowerBound, BackupConfiguration.key)
        guard let list = try ConfigurationText.only("locations", of: object) else {
            let inner = ConfigurationText.indentation(of: object, in: bytes)
            return ConfigurationText.inserting(locations(inner), into: object, of: bytes)
        }
        return ConfigurationText.inserting(
            member, into: try ConfigurationText.members(of: bytes, at: list.value.lowerBound, "locations"), of: bytes)
    }

    /// Removes a location.
    ///
    /// - Returns: the new text, or `nil` if it has no such location.
    package static func removing(_ name: String, from bytes: [UInt8]) throws(ConfigurationError) -> [UInt8]? {
        let root = try ConfigurationText.members(of: bytes)
        guard let backup = try ConfigurationText.only(BackupConfiguration.key, of: root) else { return nil }
        let object = try ConfigurationText.members(of: bytes, at: backup.value.lowerBound, BackupConfiguration.key)
        guard let list = try ConfigurationText.only("locations", of: object) else { return nil }
        let members = try ConfigurationText.members(of: bytes, at: list.value.lowerBound, "locations")
        guard let member = try ConfigurationText.only(name, of: members) else { return nil }
        return ConfigurationText.removing(member, from: bytes)
    }
}
