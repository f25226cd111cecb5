import HealthModel

/// A browser session of a person, who sees only their own data.
public struct PageSession: Hashable, Sendable {
    /// The session's number, which is never reused.
    public let id: Int64
    /// The person whose data the session shows.
    public let person: String
    /// When the session began.
    public let made: Instant
    /// When the session ends.
    public let expires: Instant
    /// The person who logged in, if the session shows another person's data.
    public var opener: String?
}

extension SampleStore.PageSessions {
    /// The lifetimes of a code and of a session, in microseconds: ten minutes and thirty days.
    public static let times: (code: Int64, session: Int64) = (10 * 60_000_000, 30 * 86_400_000_000)
    /// The maximum number of concurrent sessions of a person. A further one ends the oldest.
    static let maximumPageSessions = 20

    /// Letters and digits that are not mistaken for one another (Crockford).
    private static let letters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// Makes a code that opens the page once: 80 random bits, written as `K7QF-2M9X-T3WA-P4ZN`. The store keeps only
    /// the code's digest.
    ///
    /// - Parameter person: The person whose page the code opens.
    public func makeCode(for person: String, at now: Instant) throws -> String {
        var random = SystemRandomNumberGenerator()
        let symbols = (0..<16).map { _ in Self.letters[Int.random(in: 0..<32, using: &random)] }
        let code = String(symbols)
        try connection.transaction {
            try connection.run("DELETE FROM page_code WHERE expires <= ?", .integer(now.microseconds))
            try connection.run(
                "INSERT INTO page_code(digest, subject, expires) VALUES(?, ?, ?)", .blob(Digest.sha256(Array(code.utf8))),
                .text(person), .integer(now.microseconds + Self.times.code))
        }
        return stride(from: 0, to: 16, by: 4).map { String(symbols[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Opens the page with a code, which can be used only once.
    ///
    /// - Parameter code: The code. Dashes, spaces and case are ignored.
    /// - Returns: The session and the token that the browser sends from now on, or `nil` if the code is unknown, used
    ///   or expired.
    public func open(with code: String, at now: Instant) throws -> (session: PageSession, token: String)? {
        let digest = Self.digest(ofTyped: code)
        let token = SampleStore.Clients.randomToken()
        return try connection.transaction {
            let person = try connection.text(
                "SELECT subject FROM page_code WHERE digest = ? AND expires > ?", .blob(digest), .integer(now.microseconds))
            guard let person else { return nil }
            try connection.run("DELETE FROM page_code WHERE digest = ?", .blob(digest))
            let expires = Instant(microseconds: now.microseconds + Self.times.session)
            try connection.run(
                "INSERT INTO page_session(digest, subject, made, expires) VALUES(?, ?, ?, ?)",
                .blob(Digest.sha256(Array(token.utf8))), .text(person), .integer(now.microseconds),
                .integer(expires.microseconds))
            let id = connection.lastInsertedRow
            try connection.run("DELETE FROM page_session WHERE expires <= ?", .integer(now.microseconds))
            try connection.run(
                """
                DELETE FROM page_session WHERE subject = ?1 AND id NOT IN
                    (SELECT id FROM page_session WHERE subject = ?1 ORDER BY id DESC LIMIT \(Self.maximumPageSessions))
                """, .text(person))
            return (PageSession(id: id, person: person, made: now, expires: expires), token)
        }
    }

    /// Shows another person's data in a session. The person who logged in stays known and can return.
    ///
    /// - Parameter person: The person to show.
    public func show(_ person: String, in session: PageSession) throws(StoreError) {
        let opener = session.opener ?? session.person
        try connection.run(
            "UPDATE page_session SET subject = ?, opener = ? WHERE id = ?", .text(person),
            .optional(opener == person ? nil : opener), .integer(session.id))
    }

    /// Extends a session that is in use, at most once a day.
    ///
    /// - Returns: Whether the session was extended.
    public func renew(_ session: PageSession, at now: Instant) throws(StoreError) -> Bool {
        guard Self.isDue(session, at: now) else { return false }
        try connection.run(
            "UPDATE page_session SET expires = ? WHERE id = ? AND expires > ?", .integer(now.microseconds + Self.times.session),
            .integer(session.id), .integer(now.microseconds))
        return connection.changes > 0
    }

    /// Whether a session was last extended more than a day ago.
    public static func isDue(_ session: PageSession, at now: Instant) -> Bool {
        session.expires.microseconds - now.microseconds < times.session - 86_400_000_000
    }

    /// Whether a code opens the page now. This only reads, so wrong codes do not block writers.
    public func isCode(_ code: String, at now: Instant) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM page_code WHERE digest = ? AND expires > ?", .blob(Self.digest(ofTyped: code)),
            .integer(now.microseconds)) != nil
    }

    private static func digest(ofTyped code: String) -> [UInt8] {
        let typed = code.utf8.prefix(256).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        return Digest.sha256(Array(String(decoding: typed, as: UTF8.self).uppercased().utf8))
    }

    /// The session of a browser's token, or `nil` if the token is unknown or has expired. The two cases cannot be
    /// distinguished. All digests are compared completely.
    public func session(bearing token: String, at now: Instant) throws(StoreError) -> PageSession? {
        let digest = Digest.sha256(Array(token.utf8.prefix(256)))
        var found: PageSession?
        for (session, other) in try allPageSessions() {
            var difference: UInt8 = 0
            for (one, two) in zip(other, digest) { difference |= one ^ two }
            // A clock that was set back must not extend a session.
            if difference == 0, other.count == digest.count, now < session.expires,
                session.expires.microseconds - now.microseconds <= Self.times.session + Self.times.code
            {
                found = session
            }
        }
        return found
    }

    /// The current sessions, oldest first.
    public func all(at now: Instant) throws(StoreError) -> [PageSession] {
        try allPageSessions().map(\.session).filter { now < $0.expires }
    }

    private func allPageSessions() throws(StoreError) -> [(session: PageSession, digest: [UInt8])] {
        try connection.list("SELECT id, subject, made, expires, digest, opener FROM page_session ORDER BY id") { row in
            let session = PageSession(
                id: row.integer(0), person: row.text(1), made: Instant(microseconds: row.integer(2)),
                expires: Instant(microseconds: row.integer(3)), opener: row.optionalText(5))
            return (session, Array(row.blob(4)))
        }
    }

    /// The digests of the sessions and codes in a store.
    static func digests(in connection: Connection) throws(StoreError) -> Set<[UInt8]> {
        Set(try connection.list("SELECT digest FROM page_session UNION ALL SELECT digest FROM page_code") { Array($0.blob(0)) })
    }

    /// Ends the session or removes the code with a digest.
    func remove(_ digest: [UInt8]) throws(StoreError) {
        try connection.run("DELETE FROM page_session WHERE digest = ?", .blob(digest))
        try connection.run("DELETE FROM page_code WHERE digest = ?", .blob(digest))
    }

    /// Ends all sessions of a person, also those that show another person, and deletes the codes that open the person's page.
    ///
    /// - Returns: The number of sessions.
    @discardableResult
    public func end(of person: String) throws -> Int {
        try connection.transaction {
            try connection.run("DELETE FROM page_code WHERE subject = ?", .text(person))
            try connection.run("DELETE FROM page_session WHERE subject = ?1 OR opener = ?1", .text(person))
            return connection.changes
        }
    }

    /// Ends a session, or all of them if `id` is `nil`, and returns how many ended. Their browsers get no more data.
    @discardableResult
    public func end(_ id: Int64? = nil) throws -> Int {
        try connection.transaction {
            try connection.run("DELETE FROM page_session WHERE id = coalesce(?, id)", .optional(id))
            return connection.changes
        }
    }
}
