extension Schema {
    /// - `person`: the names of people, for display only. Samples refer to the subject.
    /// - `shared_use`: the people who share a device, and the range of weights in kilograms that identifies each of them.
    static let persons = """
        CREATE TABLE person(subject TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
        CREATE TABLE shared_use(
            address TEXT NOT NULL, subject TEXT NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            PRIMARY KEY(address, subject)) WITHOUT ROWID;
        """
}
