import HealthModel

extension SampleStore.Clients {
    /// Removes the access to this store that was removed in a later state of it: clients, tokens, permissions, and sessions of the page.
    ///
    /// - Parameter path: The file of the later state, also with a newer schema.
    /// - Returns: Whether there was any.
    public func removeAccess(missingIn path: String) throws -> Bool {
        let later = try Connection(path: path, writable: false)
        let clients = try Self.ids(in: later)
        let tokens = try Self.digests(in: connection).subtracting(try Self.digests(in: later))
        let sessions = try SampleStore.PageSessions.digests(in: connection)
            .subtracting(try SampleStore.PageSessions.digests(in: later))
        return try connection.transaction {
            var hasChanged = !tokens.isEmpty || !sessions.isEmpty
            for client in try all() {
                if !clients.contains(client.id) {
                    try remove(client)
                    hasChanged = true
                } else if try connection.grants.limit(client.id, to: GrantTable(connection: later)) {
                    hasChanged = true
                }
            }
            for digest in tokens { try removeToken(digest) }
            for digest in sessions { try store.pageSessions.remove(digest) }
            return hasChanged
        }
    }
}
