extension Schema {
    /// - `widening`: an extension of a client's read permission for a type of a person. It contains the start from which the client could
    ///   read before (NULL: nothing), and whether it could write. A reader of changes that is already past the extension gets the samples
    ///   that became readable.
    /// - `granted_object.widening`: the widening with which an object was granted. It is 0 if the object arrived after a grant that
    ///   includes later objects.
    static let widenings = """
        CREATE TABLE widening(
            id INTEGER PRIMARY KEY AUTOINCREMENT, client INTEGER NOT NULL, subject TEXT NOT NULL, type TEXT NOT NULL, read_from INTEGER,
            might_write INTEGER NOT NULL);
        CREATE INDEX widening_by_client ON widening(client);
        ALTER TABLE granted_object ADD COLUMN widening INTEGER NOT NULL DEFAULT 0;
        """
}
