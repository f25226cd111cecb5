extension Schema {
    /// - `client`: a program that asks; a number is never given twice, so that nobody gets what an earlier one wrote.
    /// - `token`: what a client shows to be let in, as the digest of it.
    /// - `granted`: what a client may, by person and type: `read_from` is the start from which on samples may be read, NULL where none may.
    ///   Of types that are asked about object by object, `after` is the change number behind which all may be read, NULL where only those of
    ///   `granted_object` may.
    /// - `asked`: what a client asked for, and when a person answered; not what the answer was.
    /// - `read_by`: on which days a client was given how many objects of a type.
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
