import FleetExport
import Pipeline
import PostgreSQLExport

/// The settings of a collector: the key `collect` of the configuration.
///
///     collect: {
///         broker: { fleet: "study", servers: ["tls://broker.example:4222"], credentialsFile: "/etc/vitalgate/collector.creds" },
///         database: { host: "db.example", database: "study", user: "collector" },
///     }
package struct CollectorConfiguration: Decodable, Sendable {
    package var broker: FleetSettings
    /// The database that all hubs are written into.
    package var database: PostgreSQLSettings
    /// The number of requests that are handled at the same time.
    package var workers = 2
    /// The file of the broker's users, which the collector writes, or `nil` if it writes none.
    package var brokerUsers: BrokerUsersFile?
    /// The path of the key that signs commands, or `nil`. Only the commands of the center read it, and no collector.
    package var commandSeedFile: String?

    /// The keys that open sealed requests, or `nil` if hubs do not seal their requests.
    package var sealing: SealingFiles?

    /// The roles that `--create` lets read the database.
    package var readers: DatabaseReaders?

    /// A part of the broker's configuration that the collector writes.
    package struct BrokerUsersFile: Decodable, Sendable {
        /// The path of the file.
        package var file: String
        /// The path of the file with the broker's process number, or `nil` if something else makes the broker read the file.
        package var processFile: String?
    }

    /// The files of the keys that open sealed requests.
    package struct SealingFiles: Decodable, Sendable {
        /// The path of the current key, which hubs get when they join.
        package var seedFile: String
        /// The paths of older keys, which some hubs still use.
        package var olderSeedFiles: [String]?
        /// Whether requests without a seal are refused.
        package var required: Bool?
    }

    /// The page with the table of hubs, or `nil` for none.
    package var page: CenterPageConfiguration?

    private static let section = "collect"
    private static let maximumWorkers = 64
    /// The keys of the object `collect.brokerUsers`.
    static let brokerUsersKeys = ["file", "processFile"]
    /// The keys of the object `collect.readers`.
    static let readersKeys = ["analyst", "auditor"]
    /// The keys of the object `collect`.
    static let knownKeys = ["broker", "brokerUsers", "commands", "database", "page", "readers", "sealing", "workers"]
    /// The keys of the object `collect.commands`.
    static let commandsKeys = ["seedFile"]
    /// The keys of the object `collect.sealing`.
    static let sealingKeys = ["olderSeedFiles", "required", "seedFile"]
    private static let maximumOlderKeys = 8

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SettingKey.self)
        try members.check(hasOnly: Self.knownKeys, at: Self.section)
        broker = try Self.settings("broker", in: members)
        database = try Self.settings("database", in: members)
        workers = try members["workers"] ?? workers
        brokerUsers = try Self.brokerUsers(in: members)
        readers = try Self.readers(in: members)
        commandSeedFile = try Self.commandSeedFile(in: members)
        sealing = try Self.sealing(in: members)
        page = try Self.page(in: members)
        guard brokerUsers == nil || broker.key != nil else {
            throw ConfigurationError("'collect.brokerUsers' needs 'nkey' and 'seedFile' in 'collect.broker'")
        }
        guard (1...Self.maximumWorkers).contains(workers) else {
            throw ConfigurationError("'collect.workers': expected a whole number from 1 to \(Self.maximumWorkers)")
        }
    }

    private static func brokerUsers(in members: KeyedDecodingContainer<SettingKey>) throws -> BrokerUsersFile? {
        guard let users: BrokerUsersFile = try members["brokerUsers"] else { return nil }
        try members.check("brokerUsers", hasOnly: brokerUsersKeys, at: section)
        guard users.file.hasPrefix("/"), users.processFile?.hasPrefix("/") != false else {
            throw ConfigurationError("'collect.brokerUsers': the paths must begin with /")
        }
        return users
    }

    private static func readers(in members: KeyedDecodingContainer<SettingKey>) throws -> DatabaseReaders? {
        guard let roles: [String: String] = try members["readers"] else { return nil }
        try members.check("readers", hasOnly: readersKeys, at: section)
        for (key, role) in roles.sorted(by: { $0.key < $1.key }) where !isRole(role) {
            throw ConfigurationError("'collect.readers.\(key)': expected a name of a to z, 0 to 9 and _, at most 63 of them")
        }
        guard roles["analyst"] != roles["auditor"] || roles.isEmpty else {
            throw ConfigurationError("'collect.readers': expected two different roles")
        }
        return DatabaseReaders(analyst: roles["analyst"], auditor: roles["auditor"])
    }

    private static func isRole(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static func page(in members: KeyedDecodingContainer<SettingKey>) throws -> CenterPageConfiguration? {
        let key = SettingKey("page")
        guard members.contains(key) else { return nil }
        try members.check("page", hasOnly: CenterPageConfiguration.knownKeys, at: section)
        return try members.decode(CenterPageConfiguration.self, forKey: key)
    }

    private static func commandSeedFile(in members: KeyedDecodingContainer<SettingKey>) throws -> String? {
        guard let commands: [String: String] = try members["commands"] else { return nil }
        try members.check("commands", hasOnly: commandsKeys, at: section)
        guard let file = commands["seedFile"], file.hasPrefix("/") else {
            throw ConfigurationError("'collect.commands.seedFile': the path is missing, or does not begin with /")
        }
        return file
    }

    private static func sealing(in members: KeyedDecodingContainer<SettingKey>) throws -> SealingFiles? {
        guard let files: SealingFiles = try members["sealing"] else { return nil }
        try members.check("sealing", hasOnly: sealingKeys, at: section)
        guard ([files.seedFile] + (files.olderSeedFiles ?? [])).allSatisfy({ $0.hasPrefix("/") }) else {
            throw ConfigurationError("'collect.sealing': the paths must begin with /")
        }
        guard files.olderSeedFiles?.count ?? 0 <= maximumOlderKeys else {
            throw ConfigurationError("'collect.sealing.olderSeedFiles': expected at most \(maximumOlderKeys) paths")
        }
        return files
    }

    private static func settings<Settings: ExporterSettings>(
        _ name: String, in members: KeyedDecodingContainer<SettingKey>
    ) throws -> Settings {
        try members.check(name, hasOnly: Settings.keys, at: section)
        do {
            return try members.decode(Settings.self, forKey: SettingKey(name))
        } catch let fault as SettingsFault {
            throw ConfigurationError("'collect.\(name).\(fault.key)': \(fault.words)")
        }
    }
}
