extension Schema {
    /// - `device`: the adopted devices by address. The columns from `known` on contain what the devices reported about themselves, and how
    ///   far their stored records were collected. They are written in the transaction of the samples.
    /// - `device_alias`: maps the device key of a re-paired device to the key under which its readings are stored.
    static let devices = """
        CREATE TABLE device(
            address TEXT PRIMARY KEY, key TEXT NOT NULL, profiles TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL,
            adopted INTEGER NOT NULL, bind_key TEXT, known INTEGER NOT NULL, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT, record_number INTEGER, record_fingerprint INTEGER,
            record_count INTEGER, delivered INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE device_alias(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
        """
}
