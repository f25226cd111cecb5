extension Schema {
    /// - `medication`: each person's medications with what is noted of them (`UserAnnotatedMedication`, as JSON), by name.
    static let medications = """
        CREATE TABLE medication(
            subject TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY(subject, name)) WITHOUT ROWID;
        """
}
