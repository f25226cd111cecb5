import Pipeline

/// Where an InfluxDB is, and how it is entered: of version 1 by `database`, of version 2 by `bucket`.
public struct InfluxSettings: ExporterSettings {
    /// `url`, then `database`, `retentionPolicy`, `user`, `password` or `org`, `bucket`, `token`; `certificateAuthority`.
    public static let keys = [
        "url", "database", "retentionPolicy", "user", "password", "org", "bucket", "token", "certificateAuthority",
    ]

    /// What is written to.
    public enum Place: Hashable, Sendable {
        /// Of version 1, with its default policy where none is named.
        case database(String, retentionPolicy: String?)
        /// Of version 2, by name, and of an organisation.
        case bucket(String, org: String)
    }

    /// Who we are there.
    public enum Entry: Hashable, Sendable {
        /// It lets everybody in.
        case nobody
        /// Of version 1, with a password.
        case user(String, Secret)
        /// Of version 2.
        case token(Secret)
    }

    /// Without a path, such as `http://localhost:8086`.
    public var url: String
    /// What is written to.
    public var place: Place
    /// Who we are there.
    public var entry: Entry
    /// A file of certificates that the server's may be signed by; the system's without it.
    public var certificateAuthority: String?

    /// A server, a place in it, and who we are.
    public init(url: String, place: Place, entry: Entry = .nobody, certificateAuthority: String? = nil) {
        (self.url, self.place, self.entry, self.certificateAuthority) = (url, place, entry, certificateAuthority)
    }

    private enum Key: String, CodingKey {
        case url, database, retentionPolicy, user, password, org, bucket, token, certificateAuthority
    }

    /// - Throws: ``SettingsFault`` where a value does not fit.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        var url = try members.decode(String.self, forKey: .url)
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.utf8.contains(where: { $0 <= 0x20 }) else {
            throw SettingsFault("url", "an address begins with http:// or https://")
        }
        while url.hasSuffix("/") { url.removeLast() }
        let place: Place
        switch (try text(.database), try text(.bucket)) {
        case (let database?, nil): place = .database(database, retentionPolicy: try text(.retentionPolicy))
        case (nil, let bucket?):
            guard let org = try text(.org) else { throw SettingsFault("org", "a bucket is of an organisation") }
            place = .bucket(bucket, org: org)
        case (nil, nil): throw SettingsFault("database", "expected a database (version 1), or bucket and org (version 2)")
        case (_?, _?): throw SettingsFault("bucket", "a server has databases (version 1) or buckets (version 2)")
        }
        var entry = Entry.nobody
        if let token = try members.decodeIfPresent(Secret.self, forKey: .token) { entry = .token(token) }
        if let user = try text(.user) {
            guard let password = try members.decodeIfPresent(Secret.self, forKey: .password) else {
                throw SettingsFault("password", "expected beside 'user'")
            }
            entry = .user(user, password)
        }
        self.init(url: url, place: place, entry: entry, certificateAuthority: try text(.certificateAuthority))
    }
}
