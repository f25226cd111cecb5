extension Schema {
    /// - `device`: the devices a person adopted, by how they are reached; from `known` on what they said of themselves, and how far their
    ///   stored records were collected, in the transaction of the samples.
    /// - `device_alias`: a device key that a re-paired device came to have, and the one its readings go by.
    static let devices = """
        CREATE TABLE device(
            address TEXT PRIMARY KEY, key TEXT NOT NULL, profiles TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL,
            adopted INTEGER NOT NULL, bind_key TEXT, known INTEGER NOT NULL, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT, record_number INTEGER, record_fingerprint INTEGER,
            record_count INTEGER, delivered INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE device_alias(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
        """
}
