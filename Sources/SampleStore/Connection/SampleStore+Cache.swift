extension SampleStore {
    /// Limits SQLite's page cache of this connection, which is 4,000 kB by default. Reading in the order of the change log needs little.
    public func limitCache(kilobytes: Int) throws(StoreError) {
        try connection.execute("PRAGMA cache_size = -\(max(1, kilobytes))")
    }
}
