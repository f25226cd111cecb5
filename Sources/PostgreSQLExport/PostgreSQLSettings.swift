import Pipeline

/// The address and credentials of a database.
package struct PostgreSQLSettings: ExporterSettings {
    /// `host`, `port`, `database`, `user`, `password`, `schema`, `tls`, `certificateAuthority`, `hypertable`,
    /// `partitions`, `years`.
    package static let settings = Key.settings

    /// The security of the connection.
    package enum TLS: String, Sendable, CaseIterable {
        /// Encrypted, and the server's certificate and name are verified.
        case verifyFull = "verify-full"
        /// Encrypted without verification, which protects only against eavesdropping.
        case require
        /// Not encrypted, for a socket or the local machine.
        case disable
    }

    /// A name, an address, or the folder of a socket. A primary and its standbys are several of them, separated by commas.
    package var host: String
    /// The port of every host. The default is 5432.
    package var port: Int
    /// The name of an existing database.
    package var database: String
    /// The user name.
    package var user: String
    /// The password, or `nil` if the server needs none.
    package var password: Secret?
    /// The schema of our tables.
    package var schema: String
    /// The default is ``TLS/verifyFull``, except on the local machine.
    package var tls: TLS
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?
    /// Whether the table of samples is a TimescaleDB hypertable.
    package var isHypertable: Bool
    /// The number of partitions of the table of samples when it is created, or 0 for a table without.
    package var partitions: Int
    /// The years whose readings get a partition of their own, or `nil` for none.
    package var years: ClosedRange<Int>?

    /// The maximum number of partitions, with those by year. PostgreSQL locks all of them when it creates them.
    private static let maximumPartitions = 1024
    private static let maximumYears = 100
    private static let knownYears = 1970...2199

    /// Creates settings. The defaults are for a database on this machine.
    package init(
        host: String = "/var/run/postgresql", port: Int = 5432, database: String, user: String, password: Secret? = nil,
        schema: String = "vitalgate", tls: TLS? = nil, certificateAuthority: String? = nil, isHypertable: Bool = false,
        partitions: Int = 0, years: ClosedRange<Int>? = nil
    ) {
        (self.host, self.port, self.database, self.user, self.password) = (host, port, database, user, password)
        (self.schema, self.certificateAuthority, self.isHypertable) = (schema, certificateAuthority, isHypertable)
        (self.partitions, self.years) = (partitions, years)
        self.tls = tls ?? (Self.isHere(host) && certificateAuthority == nil ? .disable : .verifyFull)
    }

    /// The parts of ``host``. A session is with the first of them that accepts changes.
    var hosts: [Substring] { host.split(separator: ",", omittingEmptySubsequences: false) }

    /// The maximum number of hosts.
    private static let maximumHosts = 16

    private static func isHere(_ host: String) -> Bool {
        host.split(separator: ",").allSatisfy { $0.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains($0) }
    }

    private enum Key: String, ExporterSettingKey {
        case host, port, database, user, password, schema, tls, certificateAuthority, hypertable, partitions, years

        var form: ExporterSetting.Form {
            switch self {
            case .port, .partitions: .number
            case .password: .secret
            case .hypertable: .boolean
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        var tls: TLS?
        if let name = try members.decodeIfPresent(String.self, forKey: .tls) {
            guard let known = TLS(rawValue: name) else {
                throw SettingsFault("tls", "expected \(TLS.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            tls = known
        }
        self.init(
            host: try members.decodeIfPresent(String.self, forKey: .host) ?? "/var/run/postgresql",
            port: try members.decodeIfPresent(Int.self, forKey: .port) ?? 5432,
            database: try members.decode(String.self, forKey: .database), user: try members.decode(String.self, forKey: .user),
            password: try members.decodeIfPresent(Secret.self, forKey: .password),
            schema: try members.decodeIfPresent(String.self, forKey: .schema) ?? "vitalgate", tls: tls,
            certificateAuthority: try members.decodeIfPresent(String.self, forKey: .certificateAuthority),
            isHypertable: try members.decodeIfPresent(Bool.self, forKey: .hypertable) ?? false,
            partitions: try members.decodeIfPresent(Int.self, forKey: .partitions) ?? 0,
            years: try members.decodeIfPresent(String.self, forKey: .years).map(Self.years))
        guard (0...Self.maximumPartitions).contains(partitions) else {
            throw SettingsFault("partitions", "expected a whole number from 0 to \(Self.maximumPartitions)")
        }
        // Each has one more partition, for other times.
        guard years.map({ max(partitions, 1) * ($0.count + 1) <= Self.maximumPartitions }) != false else {
            throw SettingsFault(
                "years", "expected at most \(Self.maximumPartitions) partitions: those by person, times the years and one")
        }
        guard years == nil || !isHypertable else { throw SettingsFault("years", "a hypertable has its own partitions") }
        guard partitions == 0 || !isHypertable else { throw SettingsFault("partitions", "a hypertable has its own partitions") }
        guard certificateAuthority == nil || self.tls == .verifyFull else {
            throw SettingsFault("certificateAuthority", "tls \"\(self.tls.rawValue)\" does not verify the server")
        }
        guard (1...65_535).contains(port) else { throw SettingsFault("port", "expected a whole number from 1 to 65535") }
        try Self.check(schema: schema)
        guard hosts.count <= Self.maximumHosts, hosts.count == 1 || hosts.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw SettingsFault("host", "expected a name, or up to \(Self.maximumHosts) of them with commas and without spaces")
        }
        for (key, value) in [("host", host), ("database", database), ("user", user)] where value.isEmpty || value.utf8.contains(0)
        {
            throw SettingsFault(key, "expected a name")
        }
    }

    /// Throws if a name cannot be written into a statement as it is.
    static func check(schema: String) throws(SettingsFault) {
        guard (1...63).contains(schema.utf8.count),
            schema.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }),
            !["user", "order", "group", "table", "select", "all", "default"].contains(schema), !schema.hasPrefix("pg_"),
            schema.utf8.first.map({ !(0x30...0x39).contains($0) }) == true
        else { throw SettingsFault("schema", "expected a name of a to z, 0 to 9 and _, at most 63 of them") }
    }

    /// Returns the years of a text such as `2015-2030`.
    private static func years(_ text: String) throws(SettingsFault) -> ClosedRange<Int> {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let first = Int(parts[0]), let last = Int(parts[1]), knownYears.contains(first), knownYears.contains(last),
            first <= last,
            last - first < maximumYears
        else {
            throw SettingsFault(
                "years",
                "expected at most \(maximumYears) years such as \"2015-2030\", from \(knownYears.lowerBound) to \(knownYears.upperBound)"
            )
        }
        return first...last
    }
}
