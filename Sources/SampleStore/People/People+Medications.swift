import HealthModel

extension SampleStore.People {
    /// The maximum length of a name or nickname in bytes.
    public static let maximumMedicationNameLength = 500

    /// Returns a person's medications, ordered by name.
    /// - Throws: ``StoreError`` of the kind `corrupt` if one cannot be decoded.
    public func medications(of person: String) throws(StoreError) -> [UserAnnotatedMedication] {
        try connection.list("SELECT body FROM medication WHERE subject = ? ORDER BY name", [.text(person)]) {
            row throws(StoreError) in try Self.medication(Array(row.blob(0)))
        }
    }

    /// Returns the person's medication with this name, or `nil` if there is none.
    public func medication(_ name: String, of person: String) throws(StoreError) -> UserAnnotatedMedication? {
        try medications(of: person).first { $0.name == name }
    }

    /// Stores a medication. It replaces one with the same name and person.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the name is empty or too long, or the subject is ``Origin/unassigned``.
    public func save(_ medication: UserAnnotatedMedication, of person: String) throws {
        guard person != Origin.unassigned else {
            throw StoreError(.invalid, "\(Origin.unassigned) readings have no medication list")
        }
        let maximumLength = Self.maximumMedicationNameLength
        guard !medication.name.isEmpty, medication.name.utf8.count <= maximumLength,
            (medication.nickname ?? "").utf8.count <= maximumLength,
            medication.name.isFitName, medication.nickname?.isFitName ?? true
        else {
            throw StoreError(
                .invalid,
                "the name of a medication has 1 to \(maximumLength) bytes and its nickname at most as many, without line breaks or NUL"
            )
        }
        let body = try SampleBody(encoding: medication)
        try connection.run(
            """
            INSERT INTO medication(subject, name, body) VALUES(?, ?, ?)
            ON CONFLICT(subject, name) DO UPDATE SET body = excluded.body
            """, .text(person), .text(medication.name), .blob(body.bytes))
    }

    /// Removes a medication. Its doses stay.
    /// - Returns: Whether the person had it.
    @discardableResult
    public func removeMedication(_ name: String, of person: String) throws(StoreError) -> Bool {
        try connection.run("DELETE FROM medication WHERE subject = ? AND name = ?", .text(person), .text(name))
        return connection.changes > 0
    }

    /// Returns descriptions of invalid medications. They contain no names.
    func checkMedications() throws(StoreError) -> [String] {
        let count = try connection.list("SELECT name, body FROM medication") { row in
            (try? Self.medication(Array(row.blob(1))))?.name == row.text(0)
        }.count { !$0 }
        return count > 0 ? ["\(count) medications that cannot be read"] : []
    }

    private static func medication(_ bytes: [UInt8]) throws(StoreError) -> UserAnnotatedMedication {
        do {
            return try SampleBody(bytes: bytes).decoded(as: UserAnnotatedMedication.self)
        } catch {
            throw StoreError(.corrupt, "a medication cannot be read")
        }
    }
}
