extension Schema {
    /// - `saved_answer`: the outcome of a client's request that had an idempotency key, one letter for each object. It is stored under the
    ///   digests of the key and of the request. The same request gets the same answer again.
    static let savedAnswers = """
        CREATE TABLE saved_answer(
            client INTEGER NOT NULL, key BLOB NOT NULL, request BLOB NOT NULL, outcomes TEXT NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY(client, key)) WITHOUT ROWID;
        """
}
