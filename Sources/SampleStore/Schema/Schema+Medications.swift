extension Schema {
    /// - `medication`: each person's medications by name, with their annotations (`UserAnnotatedMedication`, as JSON).
    static let medications = """
        CREATE TABLE medication(
            subject TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY(subject, name)) WITHOUT ROWID;
        """
}
