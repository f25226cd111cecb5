import HealthModel

/// A person's note on a day, with tags.
public struct Annotation: Hashable, Sendable {
    /// The number of the note.
    public let id: Int64
    /// The date, such as `2026-11-20`.
    public var day: String
    /// The tags.
    public var tags: [String]
    /// The text. It may be empty if there are tags.
    public var note: String
}

/// The table `annotation`: notes on days.
extension SampleStore.People {
    /// The maximum length of a note and of a tag in bytes, and the maximum numbers of tags of a note and of notes of a day.
    public static let annotationBounds = (note: 2000, tag: 50, tags: 10, perDay: 50)

    /// Returns a person's notes between two dates, both included, by date.
    public func annotations(of person: String, from first: String, through last: String) throws(StoreError) -> [Annotation] {
        try connection.list(
            "SELECT id, day, tags, note FROM annotation WHERE subject = ? AND day BETWEEN ? AND ? ORDER BY day, id LIMIT 10000",
            [.text(person), .text(first), .text(last)]
        ) { row in
            Annotation(
                id: row.integer(0), day: row.text(1), tags: row.text(2).split(separator: "\n").map(String.init), note: row.text(3)
            )
        }
    }

    /// Adds a note of a person.
    ///
    /// - Parameters:
    ///   - day: The date, such as `2026-11-20`.
    ///   - tags: The tags. Repeated ones count once.
    /// - Throws: ``StoreError`` of the kind `invalid` if it is empty, too long, or not on a day.
    public func annotate(_ person: String, day: String, tags: [String], note: String) throws {
        let bounds = Self.annotationBounds
        var distinct: [String] = []
        for tag in tags where !tag.isEmpty && !distinct.contains(tag) { distinct.append(tag) }
        guard day.utf8.count == 10, Instant(iso8601: day, zone: TimeZoneRules(fixed: .utc)) != nil else {
            throw StoreError(.invalid, "the day of a note is a date such as 2026-11-20")
        }
        guard !distinct.isEmpty || !note.isEmpty, note.utf8.count <= bounds.note, distinct.count <= bounds.tags,
            distinct.allSatisfy({ $0.utf8.count <= bounds.tag && $0.isFitName }), !note.utf8.contains(0)
        else {
            throw StoreError(
                .invalid,
                "a note has up to \(bounds.note) bytes and \(bounds.tags) tags of up to \(bounds.tag) bytes, and is not empty")
        }
        try connection.transaction {
            let count = try connection.integer(
                "SELECT count(*) FROM annotation WHERE subject = ? AND day = ?", .text(person), .text(day))
            guard count ?? 0 < bounds.perDay else {
                throw StoreError(.invalid, "a day has at most \(bounds.perDay) notes")
            }
            try connection.run(
                "INSERT INTO annotation(subject, day, tags, note) VALUES(?, ?, ?, ?)", .text(person), .text(day),
                .text(distinct.joined(separator: "\n")), .text(note))
        }
    }

    /// Removes a person's note.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeAnnotation(_ id: Int64, of person: String) throws(StoreError) -> Bool {
        try connection.run("DELETE FROM annotation WHERE id = ? AND subject = ?", .integer(id), .text(person))
        return connection.changes > 0
    }
}
