extension Schema {
    /// - `scale_user`: who the users are that a device numbers itself, and what they consent with; NULL where the device asks for nothing.
    static let scaleUsers = """
        CREATE TABLE scale_user(
            address TEXT NOT NULL, number INTEGER NOT NULL, subject TEXT NOT NULL, consent INTEGER,
            PRIMARY KEY(address, number)) WITHOUT ROWID;
        """
}
