extension Schema {
    /// - `client`: a program that uses the API. A number is never reused, so no client gets access to samples that an earlier client wrote.
    /// - `token`: the digest of a token that a client authenticates with.
    /// - `granted`: a client's permissions by person and type. `read_from` is the start of the earliest readable samples, NULL if none are
    ///   readable. For types that are granted object by object, samples after change number `after` are all readable. If `after` is NULL,
    ///   only those of `granted_object` are.
    /// - `asked`: the access a client requested, and when a person answered. The answer itself is not stored here.
    /// - `read_by`: how many objects of a type a client read on each day.
    static let authorization = """
        CREATE TABLE client(
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, purpose TEXT NOT NULL, policy TEXT, added INTEGER NOT NULL,
            expires INTEGER);
        CREATE TABLE token(
            digest BLOB PRIMARY KEY, client INTEGER NOT NULL, made INTEGER NOT NULL, expires INTEGER, revoked INTEGER) WITHOUT ROWID;
        CREATE TABLE granted(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, read_from INTEGER, after INTEGER,
            may_write INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY(client, subject, type)) WITHOUT ROWID;
        CREATE TABLE granted_object(
            client INTEGER NOT NULL, series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY(client, series, start, hash)) WITHOUT ROWID;
        CREATE TABLE asked(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, access TEXT NOT NULL, asked INTEGER, answered INTEGER,
            PRIMARY KEY(client, subject, type, access)) WITHOUT ROWID;
        CREATE TABLE read_by(
            client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, day TEXT NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(client, subject, type, day)) WITHOUT ROWID;
        """
}
