extension Schema {
    /// - `person`: names, for people only; samples have the subject.
    /// - `shared_use`: who shares a device, and the weights, in kilograms, by which each of them is told.
    static let persons = """
        CREATE TABLE person(subject TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
        CREATE TABLE shared_use(
            address TEXT NOT NULL, subject TEXT NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
            PRIMARY KEY(address, subject)) WITHOUT ROWID;
        """
}
