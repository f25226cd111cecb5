extension Schema {
    /// - `widening`: that a client may read more than before of a person's type: from which start on it might read until then (NULL: nothing), and whether
    ///   it might write. A reader of changes that came further before is told what became readable.
    /// - `granted_object.widening`: with which of them an object was granted; 0 where it came later than a grant that includes what comes.
    static let widenings = """
        CREATE TABLE widening(
            id INTEGER PRIMARY KEY AUTOINCREMENT, client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, read_from INTEGER,
            might_write INTEGER NOT NULL);
        CREATE INDEX widening_by_client ON widening(client);
        ALTER TABLE granted_object ADD COLUMN widening INTEGER NOT NULL DEFAULT 0;
        """
}
