import FleetProtocol
import NATSKit
import Pipeline

/// The brokers that a hub or a collector connects to, and the fleet it belongs to.
package struct FleetSettings: ExporterSettings {
    /// `servers`, `fleet`, `user`, `password`, `nkey`, `seedFile`, `credentialsFile`, `certificateAuthority`,
    /// `commandKey`, `sealingKey`.
    package static let settings = Key.settings

    /// The brokers' URLs.
    package var servers: [String]
    package var subject: FleetSubject
    /// The user name, for a broker that knows passwords.
    package var user: String?
    /// The password of ``user``.
    package var password: Secret?
    /// The public NKey.
    package var key: String?
    /// The path of the file with the seed of ``key``.
    package var seedFile: String?
    /// The path of a `.creds` file.
    package var credentialsFile: String?
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?
    /// The public key that signs the center's commands. Without it, the hub runs none.
    package var commandKey: String?
    /// The public key of the collectors for which requests are sealed, or `nil` to send them without a seal.
    package var sealingKey: String?
    /// Whether the hub runs the commands of the center.
    package var runsCommands: Bool { commandKey != nil }

    /// Settings without credentials.
    package init(servers: [String], subject: FleetSubject) { (self.servers, self.subject) = (servers, subject) }

    /// The maximum number of servers.
    private static let maximumServers = 32

    private enum Key: String, ExporterSettingKey {
        case servers, fleet, user, password, nkey, seedFile, credentialsFile, certificateAuthority, commandKey, sealingKey

        var form: ExporterSetting.Form {
            switch self {
            case .servers: .list
            case .password: .secret
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        servers = try members.decode([String].self, forKey: .servers)
        guard (1...Self.maximumServers).contains(servers.count), servers.allSatisfy({ NATSSettings.isValid(server: $0) }) else {
            throw SettingsFault("servers", "expected URLs such as [\"tls://broker.example:4222\"], without user and password")
        }
        guard let subject = FleetSubject(fleet: try members.decode(String.self, forKey: .fleet)) else {
            throw SettingsFault("fleet", "expected a name of letters, digits, - and _, at most 64 of them")
        }
        self.subject = subject
        user = try members.decodeIfPresent(String.self, forKey: .user)
        password = try members.decodeIfPresent(Secret.self, forKey: .password)
        key = try members.decodeIfPresent(String.self, forKey: .nkey)
        seedFile = try members.decodeIfPresent(String.self, forKey: .seedFile)
        credentialsFile = try members.decodeIfPresent(String.self, forKey: .credentialsFile)
        certificateAuthority = try members.decodeIfPresent(String.self, forKey: .certificateAuthority)
        commandKey = try members.decodeIfPresent(String.self, forKey: .commandKey)
        guard commandKey.map({ NKey.publicKey($0) != nil }) != false else {
            throw SettingsFault("commandKey", "expected the center's public key, which 'vitalgate fleet join' adds")
        }
        sealingKey = try members.decodeIfPresent(String.self, forKey: .sealingKey)
        guard sealingKey.map({ SealingKey.publicKey($0) != nil }) != false else {
            throw SettingsFault("sealingKey", "expected the public key of 'vitalgate fleet key --sealing', which begins with X")
        }
        guard (user == nil) == (password == nil) else { throw SettingsFault("password", "'user' and 'password' belong together") }
        guard (key == nil) == (seedFile == nil) else { throw SettingsFault("seedFile", "'nkey' and 'seedFile' belong together") }
        guard [user, key, credentialsFile].filter({ $0 != nil }).count <= 1 else {
            throw SettingsFault("nkey", "choose one of 'user', 'nkey', and 'credentialsFile'")
        }
    }

    /// The seal for the requests of a hub, or `nil` if they have none.
    ///
    /// - Throws: ``DeliveryError`` if a key cannot be read.
    func sealer(of store: String) throws(DeliveryError) -> RequestSealer? {
        guard let sealingKey else { return nil }
        var own: NKey?
        if let seedFile {
            own = NKey(seedText: try Secret.file(seedFile).read())
            guard own != nil else { throw DeliveryError(.unfit, "\(seedFile) does not contain the seed of a user's NKey") }
        }
        guard let sealer = RequestSealer(collectorsKey: sealingKey, key: own, store: store, fleet: subject) else {
            throw DeliveryError(.unfit, "the requests cannot be sealed: 'sealingKey' is not valid")
        }
        return sealer
    }

    /// The settings for a connection.
    ///
    /// - Throws: ``DeliveryError`` if a secret cannot be read.
    package func broker(name: String) throws(DeliveryError) -> NATSSettings {
        var credentials = NATSSettings.Credentials.none
        if let user, let password { credentials = .password(user: user, password: try password.read()) }
        if let key, let seedFile {
            // Also checks that not everyone can read it.
            _ = try Secret.file(seedFile).read()
            credentials = .key(public: key, seedFile: seedFile)
        }
        if let credentialsFile {
            _ = try Secret.file(credentialsFile).read()
            credentials = .file(credentialsFile)
        }
        return NATSSettings(servers: servers, credentials: credentials, certificateAuthority: certificateAuthority, name: name)
    }
}
