extension Schema {
    /// - `page_code`: lets somebody into the page once, for some minutes; as the digest of it.
    /// - `page_session`: somebody who was let in, from one browser, as the digest of what that shows. Its subject is whose data it sees.
    static let page = """
        CREATE TABLE page_code(digest BLOB PRIMARY KEY, subject TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE page_session(
            id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB NOT NULL, subject TEXT NOT NULL, made INTEGER NOT NULL,
            expires INTEGER NOT NULL);
        """
}
