extension Schema {
    /// - `saved_answer`: what became of what a client sent under a key of its own, by digests of the key and of what was sent: a letter for each
    ///   object. The same request again has the same answer.
    static let savedAnswers = """
        CREATE TABLE saved_answer(
            client INTEGER NOT NULL, key BLOB NOT NULL, request BLOB NOT NULL, outcomes TEXT NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY(client, key)) WITHOUT ROWID;
        """
}
