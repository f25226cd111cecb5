extension Schema {
    /// - `page_code`: the digest of a code that opens the page once, within some minutes.
    /// - `page_session`: the digest of the secret of one signed-in browser, and the subject of the person whose data it shows.
    static let page = """
        CREATE TABLE page_code(digest BLOB PRIMARY KEY, subject TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE page_session(
            id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL, subject TEXT NOT NULL, made INTEGER NOT NULL,
            expires INTEGER NOT NULL);
        """
}
