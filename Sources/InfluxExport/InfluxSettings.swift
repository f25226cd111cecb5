import Pipeline

/// The address and credentials of InfluxDB: version 1 with `database`, version 2 with `bucket`.
package struct InfluxSettings: ExporterSettings {
    /// `url`, then `database`, `retentionPolicy`, `user`, `password` or `org`, `bucket`, `token`; `certificateAuthority`.
    package static let settings = Key.settings

    package enum Place: Hashable, Sendable {
        /// A version 1 database. `nil` means its default policy.
        case database(String, retentionPolicy: String?)
        /// A version 2 bucket, by name and organisation.
        case bucket(String, org: String)
    }

    package enum Entry: Hashable, Sendable {
        case anonymous
        /// A version 1 user with a password.
        case user(String, Secret)
        /// A version 2 token.
        case token(Secret)
    }

    /// The URL without a path, such as `http://localhost:8086`.
    package var url: String
    package var place: Place
    package var entry: Entry
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?

    /// Creates settings from a server, a destination and credentials.
    package init(url: String, place: Place, entry: Entry = .anonymous, certificateAuthority: String? = nil) {
        (self.url, self.place, self.entry, self.certificateAuthority) = (url, place, entry, certificateAuthority)
    }

    private enum Key: String, ExporterSettingKey {
        case url, database, retentionPolicy, user, password, org, bucket, token, certificateAuthority

        var form: ExporterSetting.Form {
            switch self {
            case .password, .token: .secret
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String? { try members.decodeIfPresent(String.self, forKey: key) }
        var url = try members.decode(String.self, forKey: .url)
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.utf8.contains(where: { $0 <= 0x20 }) else {
            throw SettingsFault("url", "the address must begin with http:// or https://")
        }
        // A query can contain a password as well.
        guard !url.contains("?") else {
            throw SettingsFault(
                "url", "an address without a query: use the keys 'database' or 'bucket', 'user' and 'password', or 'token'")
        }
        // The address is in logs, in reports and in the mark at the target.
        guard !url.contains("@") else {
            throw SettingsFault("url", "an address without user and password: use the keys 'user' and 'password', or 'token'")
        }
        while url.hasSuffix("/") { url.removeLast() }
        let place: Place
        switch (try text(.database), try text(.bucket)) {
        case (let database?, nil): place = .database(database, retentionPolicy: try text(.retentionPolicy))
        case (nil, let bucket?):
            guard let org = try text(.org) else { throw SettingsFault("org", "a bucket needs 'org'") }
            place = .bucket(bucket, org: org)
        case (nil, nil): throw SettingsFault("database", "expected a database (version 1), or bucket and org (version 2)")
        case (_?, _?): throw SettingsFault("bucket", "a server has databases (version 1) or buckets (version 2)")
        }
        var entry = Entry.anonymous
        if let token = try members.decodeIfPresent(Secret.self, forKey: .token) { entry = .token(token) }
        if let user = try text(.user) {
            guard let password = try members.decodeIfPresent(Secret.self, forKey: .password) else {
                throw SettingsFault("password", "expected together with 'user'")
            }
            entry = .user(user, password)
        }
        self.init(url: url, place: place, entry: entry, certificateAuthority: try text(.certificateAuthority))
    }
}
