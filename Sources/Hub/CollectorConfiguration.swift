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
        let members = try decoder.members(hasOnly: Self.knownKeys)
        broker = try Self.settings("broker", in: members)
        database = try Self.settings("database", in: members)
        workers = try members.number("workers", in: 1...Self.maximumWorkers) ?? workers
        if try members.members("brokerUsers", hasOnly: Self.brokerUsersKeys) != nil {
            brokerUsers = try members["brokerUsers"]
            guard brokerUsers?.file.hasPrefix("/") == true, brokerUsers?.processFile?.hasPrefix("/") != false else {
                throw members.fault("brokerUsers", "the paths must begin with /")
            }
        }
        readers = try members.members("readers", hasOnly: Self.readersKeys).map(Self.readers)
        if let commands = try members.members("commands", hasOnly: Self.commandsKeys) {
            commandSeedFile = try commands["seedFile"]
            guard commandSeedFile?.hasPrefix("/") == true else {
                throw commands.fault("seedFile", "the path is missing, or does not begin with /")
            }
        }
        if try members.members("sealing", hasOnly: Self.sealingKeys) != nil { sealing = try Self.sealing(in: members) }
        page = try members["page"]
        guard brokerUsers == nil || broker.key != nil else {
            throw ConfigurationError("'collect.brokerUsers' needs 'nkey' and 'seedFile' in 'collect.broker'")
        }
    }

    private static func readers(_ members: KeyedDecodingContainer<SettingKey>) throws -> DatabaseReaders {
        let (analyst, auditor): (String?, String?) = (try members["analyst"], try members["auditor"])
        for (key, role) in [("analyst", analyst), ("auditor", auditor)] {
            if let role, !isRole(role) {
                throw members.fault(key, "expected a name of a to z, 0 to 9 and _, at most 63 of them")
            }
        }
        guard analyst != auditor || analyst == nil else { throw members.fault("expected two different roles") }
        return DatabaseReaders(analyst: analyst, auditor: auditor)
    }

    private static func isRole(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }

    private static func sealing(in members: KeyedDecodingContainer<SettingKey>) throws -> SealingFiles? {
        guard let files: SealingFiles = try members["sealing"] else { return nil }
        guard ([files.seedFile] + (files.olderSeedFiles ?? [])).allSatisfy({ $0.hasPrefix("/") }) else {
            throw members.fault("sealing", "the paths must begin with /")
        }
        guard files.olderSeedFiles?.count ?? 0 <= maximumOlderKeys else {
            throw members.fault("sealing.olderSeedFiles", "expected at most \(maximumOlderKeys) paths")
        }
        return files
    }

    private static func settings<Settings: ExporterSettings>(
        _ name: String, in members: KeyedDecodingContainer<SettingKey>
    ) throws -> Settings {
        _ = try members.members(name, hasOnly: Settings.keys)
        return try members.settings(name) { try members.decode(Settings.self, forKey: SettingKey(name)) }
    }
}
