import HealthModel

extension SampleStore.Clients {
    /// Makes a token for a client: 256 random bits in hexadecimal digits. The store keeps only the token's digest, so
    /// the token can be shown only now.
    ///
    /// - Parameters:
    ///   - expires: When the token expires. If `nil`, the token is valid as long as the client.
    ///   - revokingOthers: Whether to revoke the client's earlier tokens.
    public func makeToken(
        for client: Client, expires: Instant? = nil, revokingOthers: Bool = false, at now: Instant
    ) throws -> String {
        let token = Self.randomToken()
        try connection.transaction {
            guard try self.client(named: client.name)?.id == client.id else {
                throw StoreError(.invalid, "there is no such client")
            }
            if revokingOthers { try revokeTokens(of: client, at: now) }
            try connection.run(
                "INSERT INTO token(digest, client, made, expires) VALUES(?, ?, ?, ?)", .blob(Digest.sha256(Array(token.utf8))),
                .integer(client.id), .integer(now.microseconds), .optional(expires?.microseconds))
        }
        return token
    }

    /// Returns 256 random bits in hexadecimal digits.
    static func randomToken() -> String {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Revokes all tokens of a client and returns how many were not revoked before.
    @discardableResult
    public func revokeTokens(of client: Client, at now: Instant) throws -> Int {
        try connection.transaction {
            try connection.run(
                "UPDATE token SET revoked = ? WHERE client = ? AND revoked IS NULL", .integer(now.microseconds),
                .integer(client.id))
            return connection.changes
        }
    }

    /// The digests of the tokens in a store that are not revoked.
    static func digests(in connection: Connection) throws(StoreError) -> Set<[UInt8]> {
        Set(try connection.list("SELECT digest FROM token WHERE revoked IS NULL") { Array($0.blob(0)) })
    }

    /// Removes a token.
    func removeToken(_ digest: [UInt8]) throws(StoreError) {
        try connection.run("DELETE FROM token WHERE digest = ?", .blob(digest))
    }

    /// The number of valid tokens of a client.
    public func validTokens(of client: Client, at now: Instant) throws(StoreError) -> Int {
        let count = try connection.integer(
            "SELECT count(*) FROM token WHERE client = ? AND revoked IS NULL AND (expires IS NULL OR expires > ?)",
            .integer(client.id), .integer(now.microseconds))
        return Int(count ?? 0)
    }

    /// The client of a token, or `nil` if the token is unknown, expired or revoked, or if its client has expired. These
    /// cases cannot be distinguished.
    ///
    /// Every digest is compared completely, so the time reveals nothing about matching bytes.
    public func client(bearing token: String, at now: Instant) throws(StoreError) -> Client? {
        let digest = Digest.sha256(Array(token.utf8.prefix(256)))
        let statement = try connection.statement("SELECT digest, client, expires, revoked, made FROM token")
        defer { statement.reset() }
        var found: Int64?
        while try statement.step() {
            var difference: UInt8 = 0
            for (one, other) in zip(statement.blob(0), digest) { difference |= one ^ other }
            // A clock that was set back to before a token was made must not extend its life.
            let isTimely = statement.optionalInteger(2).map {
                now.microseconds < $0 && now.microseconds >= statement.integer(4) - Self.slack
            }
            let isValid = statement.isNull(3) && isTimely ?? true
            if difference == 0, isValid { found = statement.integer(1) }
        }
        guard let found, let client = try all().first(where: { $0.id == found }) else { return nil }
        guard let expires = client.expires else { return client }
        return now < expires && now.microseconds >= client.added.microseconds - Self.slack ? client : nil
    }

    /// How far a clock may be set back, in microseconds, before expiring tokens are rejected. Clock corrections usually
    /// take seconds.
    private static let slack: Int64 = 600_000_000
}
