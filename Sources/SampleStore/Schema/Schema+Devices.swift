extension Schema {
    /// An adopted device by address. The columns from `known` on are written in the transaction of the samples. They contain what the device
    /// reported about itself, and how far its stored records were collected.
    ///
    /// - `counter`: the last counter of a device that encrypts its advertisements. NULL before the first one.
    /// - `own_key`: the key for the readings of a device that reports the same identity as another device, NULL for all others.
    static let device = """
        CREATE TABLE device(
            address TEXT PRIMARY KEY, key TEXT NOT NULL, profiles TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL,
            adopted INTEGER NOT NULL, bind_key TEXT, known INTEGER NOT NULL, device_name TEXT, manufacturer TEXT, model TEXT,
            serial TEXT, hardware TEXT, firmware TEXT, software TEXT, udi TEXT, record_number INTEGER, record_fingerprint INTEGER,
            record_count INTEGER, delivered INTEGER NOT NULL, counter INTEGER, own_key TEXT) WITHOUT ROWID;
        """

    /// The device key of a re-paired device (`old`), and the key under which its readings are stored (`new`).
    static let deviceAlias = """
        CREATE TABLE device_alias(old TEXT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID;
        """

    /// A comparison of a device's clock with the hub's clock, as evidence for corrected times. `ahead` is NULL if the clock was right. `boot`
    /// is the boot of the hub's machine while nothing has confirmed its clock, and NULL if the clock was right.
    static let clock = """
        CREATE TABLE clock(
            device TEXT NOT NULL, received INTEGER NOT NULL, shown INTEGER NOT NULL, ahead INTEGER, boot TEXT,
            PRIMARY KEY(device, received)) WITHOUT ROWID;
        """

    /// The name of a person, for display only. Samples refer to the subject.
    static let person = """
        CREATE TABLE person(subject TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
        """

    /// A person who shares a device, and the range of weights in kilograms that identifies the person.
    static let sharedUse = """
        CREATE TABLE shared_use(
            address TEXT NOT NULL, subject TEXT NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            PRIMARY KEY(address, subject)) WITHOUT ROWID;
        """

    /// The person with a user number of a device, and the consent code. `consent` is NULL if the device does not ask for one.
    static let scaleUser = """
        CREATE TABLE scale_user(
            address TEXT NOT NULL, number INTEGER NOT NULL, subject TEXT NOT NULL, consent INTEGER,
            PRIMARY KEY(address, number)) WITHOUT ROWID;
        """

    /// A recorded value of a person's characteristic (``CharacteristicEntry``). Entries of an undone ingest do not count.
    ///
    /// - `value`: NULL if the characteristic was set to unknown.
    /// - `holds_from`: the day from which the value is valid.
    /// - `recorded`: when it was recorded. NULL, like `holds_from`, if an export does not contain its own date.
    /// - `ingest`: the ingest that brought it, NULL if it was set by a command.
    static let characteristic = """
        CREATE TABLE characteristic(
            id INTEGER PRIMARY KEY, subject TEXT NOT NULL, type TEXT NOT NULL, value TEXT, holds_from TEXT, said INTEGER,
            ingest INTEGER);
        CREATE INDEX characteristic_by_subject ON characteristic(subject, type);
        CREATE INDEX characteristic_by_ingest ON characteristic(ingest) WHERE ingest IS NOT NULL;
        """

    /// A person's medication by name, with its annotations (`UserAnnotatedMedication`, as JSON).
    static let medication = """
        CREATE TABLE medication(
            subject TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY(subject, name)) WITHOUT ROWID;
        """
}
