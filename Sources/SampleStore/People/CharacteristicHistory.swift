import HealthModel

/// One recorded value of a personal characteristic, set by a command or an import.
public struct CharacteristicEntry: Hashable, Sendable {
    /// The person's UUID.
    public var person: String
    /// The type of the characteristic.
    public var type: CharacteristicType
    /// The value, or `nil` if the characteristic was set to unknown.
    public var value: Characteristic?
    /// The first day on which the value is valid, such as `2026-11-20`, or `nil` if unknown.
    public var from: String?
    /// When the value was recorded: the hub's time for a command, or the creation time of an export. `nil` if the export does not contain
    /// it.
    public var recorded: Instant?
    /// The import that brought the value, or `nil` if it was set by a command.
    public var ingest: Int64?
    /// Whether its import was undone, so that the value no longer counts.
    public var isWithdrawn = false
}

/// The history of one person's characteristics.
///
/// Each value is valid from its day on and overrides all values that were recorded before it. The value that was recorded last counts,
/// regardless of its source. A command therefore overrides an export that was made before it, and a later export overrides the command. An
/// export without a creation time counts as earlier than any other entry.
public struct CharacteristicHistory: Sendable {
    /// The entries in the order in which they were recorded, oldest first.
    public let entries: [CharacteristicEntry]

    init(_ entries: [CharacteristicEntry]) { self.entries = entries }

    /// Returns the entry that is valid on a day.
    ///
    /// - Parameter date: The day, such as `2026-11-20`.
    /// - Returns: The entry, or `nil` if the characteristic is unknown or was set to unknown.
    public func entry(of type: CharacteristicType, on date: String) -> CharacteristicEntry? {
        let last = entries.last { $0.type == type && !$0.isWithdrawn && ($0.from ?? "") <= date }
        return last?.value == nil ? nil : last
    }

    /// Returns the value that is valid on a day.
    public func value(of type: CharacteristicType, on date: String) -> Characteristic? { entry(of: type, on: date)?.value }
}

extension SampleStore.People {
    /// Returns the subjects that have any recorded characteristic.
    public func peopleWithCharacteristics() throws(StoreError) -> [String] {
        try connection.list("SELECT DISTINCT subject FROM characteristic ORDER BY subject") { $0.text(0) }
    }

    /// Returns the history of a person's characteristics.
    public func characteristics(of person: String) throws(StoreError) -> CharacteristicHistory {
        let entries = try connection.list(
            """
            SELECT type, value, holds_from, said, ingest,
                \(LedgerTable.isUndone("characteristic.ingest"))
            FROM characteristic WHERE subject = ? ORDER BY said IS NOT NULL, said, id
            """, [.text(person)]
        ) { row throws(StoreError) in
            guard let type = CharacteristicType(rawValue: row.text(0)) else {
                throw StoreError(.newer, "the store has a characteristic from a newer Vitalgate: update this program")
            }
            var value: Characteristic?
            if let text = row.optionalText(1) {
                value = Characteristic(type, text)
                guard value != nil else { throw StoreError(.corrupt, "the store has an invalid value for \(type.rawValue)") }
            }
            return CharacteristicEntry(
                person: person, type: type, value: value, from: row.optionalText(2),
                recorded: row.optionalInteger(3).map { Instant(microseconds: $0) }, ingest: row.optionalInteger(4),
                isWithdrawn: row.integer(5) != 0)
        }
        return CharacteristicHistory(entries)
    }

    /// Records a value that a person sets.
    ///
    /// - Parameters:
    ///   - value: The new value. `nil` and a value that is not set both mean unknown.
    ///   - from: The first day on which it is valid, such as `2026-11-20`.
    ///   - recorded: The current time.
    /// - Throws: ``StoreError`` of the kind `invalid` if the subject is ``Origin/unassigned``.
    public func set(
        _ type: CharacteristicType, to value: Characteristic?, of person: String, from: String, recorded: Instant
    ) throws {
        guard person != Origin.unassigned else {
            throw StoreError(.invalid, "\(Origin.unassigned) readings have no characteristics")
        }
        guard Characteristic(.dateOfBirth, from) != nil else {
            throw StoreError(.invalid, "the day must have the form YYYY-MM-DD")
        }
        guard value == nil || value?.type == type else { throw StoreError(.invalid, "the value is not one of \(type.rawValue)") }
        try connection.transaction { try add(type, value, person: person, from: from, recorded: recorded, ingest: nil) }
    }

    private func add(
        _ type: CharacteristicType, _ value: Characteristic?, person: String, from: String?, recorded: Instant?, ingest: Int64?
    ) throws(StoreError) {
        let text = value?.isSet == true ? value?.value : nil
        try connection.run(
            "INSERT INTO characteristic(subject, type, value, holds_from, said, ingest) VALUES(?, ?, ?, ?, ?, ?)",
            .text(person), .text(type.rawValue), .optional(text), .optional(from), .optional(recorded?.microseconds),
            .optional(ingest))
    }

    /// Records the characteristics from an export. Values that are not set are ignored. A value that the same export brought before is not
    /// recorded again, even if that import was undone.
    ///
    /// - Parameters:
    ///   - reported: The values, at most one for each type.
    ///   - date: The day when the export was made, or `nil` if unknown.
    ///   - recorded: The time when the export was made, or `nil` if unknown.
    ///   - today: The day on which the old and new values are compared.
    /// - Returns: The types whose value changed, and the types that keep another value because it was recorded later.
    public func take(
        _ reported: [Characteristic], of person: String, date: String?, recorded: Instant?, today: String, ingest: Int64
    ) throws -> (set: [CharacteristicType], retained: [CharacteristicType]) {
        guard person != Origin.unassigned else { return ([], []) }
        return try connection.transaction {
            let before = try characteristics(of: person)
            for value in reported where value.isSet {
                let known = try connection.integer(
                    """
                    SELECT 1 FROM characteristic WHERE subject = ? AND type = ? AND value = ? AND said IS ? AND ingest IS NOT NULL
                    """, .text(person), .text(value.type.rawValue), .text(value.value), .optional(recorded?.microseconds))
                guard known == nil else { continue }
                try add(value.type, value, person: person, from: date, recorded: recorded, ingest: ingest)
            }
            let after = try characteristics(of: person)
            var (set, retained): ([CharacteristicType], [CharacteristicType]) = ([], [])
            for value in reported where value.isSet {
                let now = after.value(of: value.type, on: today)
                if now != before.value(of: value.type, on: today) {
                    set.append(value.type)
                } else if now != value {
                    retained.append(value.type)
                }
            }
            return (set, retained)
        }
    }

    /// Whether an ingest changed the valid characteristics: it brought some, or it undid an ingest that did.
    public func touchesCharacteristics(_ ingest: Int64) throws(StoreError) -> Bool {
        try hasCharacteristics(ingestedBy: LedgerStates(connection: connection).chain(from: ingest).last ?? ingest)
    }

    /// Whether an ingest brought any characteristics.
    func hasCharacteristics(ingestedBy ingest: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM characteristic WHERE ingest = ? LIMIT 1", .integer(ingest)) != nil
    }

    /// Returns descriptions of invalid characteristics. They contain no values.
    func checkCharacteristics() throws(StoreError) -> [String] {
        let statement = try Statement(connection, "SELECT type, value, holds_from, said, ingest, id FROM characteristic")
        var (unknown, undated) = (0, 0)
        while try statement.step() {
            guard let type = CharacteristicType(rawValue: statement.text(0)) else {
                unknown += 1
                continue
            }
            if let value = statement.optionalText(1),
                Characteristic(type, value)?.value != value || value == Characteristic.notSet
            {
                unknown += 1
            }
            let from = statement.optionalText(2)
            if let from, Characteristic(.dateOfBirth, from) == nil { undated += 1 }
            // An entry without an ingest was set by a command, so it must have a time.
            if statement.isNull(4), from == nil || statement.isNull(3) { undated += 1 }
        }
        let orphans =
            try connection.integer("SELECT count(*) FROM characteristic WHERE ingest NOT IN \(LedgerTable.ids)") ?? 0
        return (unknown > 0 ? ["\(unknown) characteristics with an unknown name or an invalid value"] : [])
            + (undated > 0 ? ["\(undated) characteristics without a start date"] : [])
            + (orphans > 0 ? ["\(orphans) characteristics without their ledger entry"] : [])
    }
}

extension Connection {
    /// Removes the characteristics that an ingest brought.
    ///
    /// - Returns: Their number.
    func removeCharacteristics(ingestedBy ingest: Int64) throws(StoreError) -> Int {
        try run("DELETE FROM characteristic WHERE ingest = ?", .integer(ingest))
        return changes
    }
}
