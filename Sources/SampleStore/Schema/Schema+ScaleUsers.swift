extension Schema {
    /// - `scale_user`: the person with each user number of a device, and the consent code. `consent` is NULL if the device does not ask for
    ///   one.
    static let scaleUsers = """
        CREATE TABLE scale_user(
            address TEXT NOT NULL, number INTEGER NOT NULL, subject TEXT NOT NULL, consent INTEGER,
            PRIMARY KEY(address, number)) WITHOUT ROWID;
        """
}
