import FleetExport
import Pipeline
import PostgreSQLExport

/// The settings of a collector: the key `collect` of the configuration.
///
///     collect: {
///         fleet: "study", servers: ["tls://broker.example:4222"], credentialsFile: "/etc/vitalgate/collector.creds",
///         database: { host: "db.example", database: "study", user: "collector" },
///     }
public struct CollectorConfiguration: Decodable, Sendable {
    /// The brokers and the fleet.
    public var fleet: FleetSettings
    /// The database that all hubs are written into.
    public var database: PostgreSQLSettings
    /// The number of requests that are handled at the same time.
    public var workers = 2

    private static let mostWorkers = 64
    /// The keys of the object `collect`.
    static let knownKeys = FleetSettings.keys + ["database", "workers"]

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SettingKey.self)
        if let unknown = members.allKeys.first(where: { !Self.knownKeys.contains($0.stringValue) }) {
            throw ConfigurationError(
                "'collect.\(unknown.stringValue)': unknown key, expected one of \(Self.knownKeys.joined(separator: ", "))")
        }
        do {
            fleet = try FleetSettings(from: decoder)
        } catch let fault as SettingsFault {
            throw ConfigurationError("'collect.\(fault.key)': \(fault.words)")
        }
        do {
            let key = SettingKey("database")
            let names = try members.nestedContainer(keyedBy: SettingKey.self, forKey: key).allKeys.map(\.stringValue)
            if let unknown = names.first(where: { !PostgreSQLSettings.keys.contains($0) }) {
                throw ConfigurationError(
                    "'collect.database.\(unknown)': unknown key, expected one of \(PostgreSQLSettings.keys.joined(separator: ", "))"
                )
            }
            database = try members.decode(PostgreSQLSettings.self, forKey: key)
        } catch let fault as SettingsFault {
            throw ConfigurationError("'collect.database.\(fault.key)': \(fault.words)")
        }
        workers = try members.decodeIfPresent(Int.self, forKey: SettingKey("workers")) ?? workers
        guard (1...Self.mostWorkers).contains(workers) else {
            throw ConfigurationError("'collect.workers': expected a whole number from 1 to \(Self.mostWorkers)")
        }
    }
}
