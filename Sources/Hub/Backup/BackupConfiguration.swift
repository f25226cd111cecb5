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
        let members = try decoder.container(keyedBy: SettingKey.self)
        try members.refuseUnknown(Self.knownKeys, at: Self.key)
        if let times = try members.decodeIfPresent([String].self, forKey: SettingKey("at")) {
            guard (1...24).contains(times.count) else { throw ConfigurationError("'backup.at': expected 1 to 24 times") }
            schedule.times = try times.map(Self.minutes)
        }
        if let drill = try members.decodeIfPresent(String.self, forKey: SettingKey("drill")) {
            guard ["restore", "read"].contains(drill) else {
                throw ConfigurationError("'backup.drill': must be \"restore\" or \"read\"")
            }
            schedule.drillRestores = drill == "restore"
        }
        if members.contains(SettingKey("keep")) {
            let keep = try members.nestedContainer(keyedBy: SettingKey.self, forKey: SettingKey("keep"))
            try keep.refuseUnknown(Self.keepKeys, at: "backup.keep")
            func number(_ name: String, _ standard: Int) throws -> Int {
                let number = try keep.decodeIfPresent(Int.self, forKey: SettingKey(name)) ?? standard
                guard (0...1000).contains(number) else {
                    throw ConfigurationError("'backup.keep.\(name)': expected a whole number from 0 to 1000", isOutOfRange: true)
                }
                return number
            }
            schedule.daily = try number("daily", schedule.daily)
            schedule.weekly = try number("weekly", schedule.weekly)
            schedule.monthly = try number("monthly", schedule.monthly)
        }
        locations =
            try members.decodeIfPresent(NamedSettings<BackupLocationConfiguration>.self, forKey: SettingKey("locations"))?.all
            ?? []
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

    static let key = "backup.locations"
    static let knownKeys = ["location", "credentials"]

    init(name: String, from decoder: any Decoder) throws {
        self.name = name
        let path = "backup.locations.\(name)"
        guard Self.isName(name) else {
            throw ConfigurationError("'\(path)': a location's name has at most 64 characters from a to z, 0 to 9 and -")
        }
        let members = try decoder.container(keyedBy: SettingKey.self)
        try members.refuseUnknown(Self.knownKeys, at: path)
        guard let text = try members.decodeIfPresent(String.self, forKey: SettingKey("location")) else {
            throw ConfigurationError("'\(path).location': is missing")
        }
        do throws(BackupFailure) {
            location = try BackupLocation(text)
        } catch {
            throw ConfigurationError("'\(path).location': \(error)")
        }
        credentials = try members.decodeIfPresent(String.self, forKey: SettingKey("credentials"))
        guard credentials?.hasPrefix("/") != false else {
            throw ConfigurationError("'\(path).credentials': the path must begin with /")
        }
    }

    package static func isValid(name: String) -> Bool { isName(name) }
}

extension KeyedDecodingContainer<SettingKey> {
    fileprivate func refuseUnknown(_ known: [String], at path: String) throws(ConfigurationError) {
        guard let unknown = allKeys.map(\.stringValue).sorted().first(where: { !known.contains($0) }) else { return }
        throw ConfigurationError("'\(path).\(unknown)': unknown key, expected one of \(known.joined(separator: ", "))")
    }
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
