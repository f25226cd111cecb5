import HealthModel

/// One word on what is so of a person: by a command, or by an export.
public struct CharacteristicEntry: Hashable, Sendable {
    /// The person's UUID.
    public var subject: String
    /// Which characteristic.
    public var type: CharacteristicType
    /// What is so; `nil` where the word was that nothing is known.
    public var value: Characteristic?
    /// The first day on which it is so, `2026-11-20`; `nil` where that is not told.
    public var from: String?
    /// When it was said: by the clock of the hub, or of an export the time when it was made; `nil` where that is not told.
    public var said: Instant?
    /// The import that brought it; `nil` where a person said it.
    public var ingest: Int64?
    /// Whether its import was undone: then it counts no more.
    public var isWithdrawn = false
}

/// What was said of one person's characteristics.
///
/// Each word holds from its day on, over all that was said before it; what was said last counts, whoever said it. So a person's word stands against
/// an export that was made before it, and one that was made later stands against the person's. An export that does not tell when it was made is
/// earlier than any other word.
public struct CharacteristicHistory: Sendable {
    /// As they were said, the first one first.
    public let entries: [CharacteristicEntry]

    init(_ entries: [CharacteristicEntry]) { self.entries = entries }

    /// The word that counts on a day.
    ///
    /// - Parameter date: `2026-11-20`.
    /// - Returns: `nil` where nothing is known, or it was said that nothing is.
    public func entry(of type: CharacteristicType, on date: String) -> CharacteristicEntry? {
        let last = entries.last { $0.type == type && !$0.isWithdrawn && ($0.from ?? "") <= date }
        return last?.value == nil ? nil : last
    }

    /// What is so on a day.
    public func value(of type: CharacteristicType, on date: String) -> Characteristic? { entry(of: type, on: date)?.value }
}

extension SampleStore {
    /// Those of whom anything was ever said.
    public func subjectsWithCharacteristics() throws(StoreError) -> [String] {
        let statement = try connection.statement("SELECT DISTINCT subject FROM characteristic ORDER BY subject")
        defer { statement.reset() }
        var subjects: [String] = []
        while try statement.step() { subjects.append(statement.text(0)) }
        return subjects
    }

    /// What was said of a person.
    public func characteristics(of subject: String) throws(StoreError) -> CharacteristicHistory {
        let statement = try connection.statement(
            """
            SELECT type, value, holds_from, said, ingest,
                coalesce((SELECT state = 'undone' FROM main.ingest WHERE ingest.id = characteristic.ingest), 0)
            FROM characteristic WHERE subject = ? ORDER BY said IS NOT NULL, said, id
            """)
        defer { statement.reset() }
        try statement.bind([.text(subject)])
        var entries: [CharacteristicEntry] = []
        while try statement.step() {
            guard let type = CharacteristicType(rawValue: statement.text(0)) else {
                throw StoreError(.newer, "the store has a characteristic that only a newer Vitalgate knows")
            }
            var value: Characteristic?
            if let text = statement.optionalText(1) {
                value = Characteristic(type, text)
                guard value != nil else { throw StoreError(.corrupt, "a value of \(type.rawValue) is none of its values") }
            }
            entries.append(
                CharacteristicEntry(
                    subject: subject, type: type, value: value, from: statement.optionalText(2),
                    said: statement.optionalInteger(3).map { Instant(microseconds: $0) }, ingest: statement.optionalInteger(4),
                    isWithdrawn: statement.integer(5) != 0))
        }
        return CharacteristicHistory(entries)
    }

    /// Takes a person's word.
    ///
    /// - Parameters:
    ///   - value: `nil` that nothing is known of it; so does one that is not set.
    ///   - from: the first day on which it is so, `2026-11-20`.
    ///   - said: when the person says so.
    /// - Throws: ``StoreError`` of the kind `invalid` where the readings of the subject are nobody's.
    public func set(
        _ type: CharacteristicType, to value: Characteristic?, of subject: String, from: String, said: Instant
    ) throws {
        guard subject != Origin.unassigned else {
            throw StoreError(.invalid, "what is \(Origin.unassigned) is no person's, and has no characteristics")
        }
        guard Characteristic(.dateOfBirth, from) != nil else {
            throw StoreError(.invalid, "the day is not written as YYYY-MM-DD")
        }
        guard value == nil || value?.type == type else { throw StoreError(.invalid, "the value is not one of \(type.rawValue)") }
        try connection.transaction { try add(type, value, subject: subject, from: from, said: said, ingest: nil) }
    }

    private func add(
        _ type: CharacteristicType, _ value: Characteristic?, subject: String, from: String?, said: Instant?, ingest: Int64?
    ) throws(StoreError) {
        let text = value?.isSet == true ? value?.value : nil
        try connection.run(
            "INSERT INTO characteristic(subject, type, value, holds_from, said, ingest) VALUES(?, ?, ?, ?, ?, ?)",
            .text(subject), .text(type.rawValue), .optional(text), .optional(from), .optional(said?.microseconds),
            .optional(ingest))
    }

    /// Takes what an export tells of a person. What is not set says nothing, and what the same export told before is not taken again, also where
    /// it was undone since.
    ///
    /// - Parameters:
    ///   - told: each type once.
    ///   - date: the day when the export was made; `nil` where it does not tell.
    ///   - said: when it was made.
    ///   - today: the day on which it is looked what changed.
    /// - Returns: which types have another value now, and which keep theirs, since it was said later.
    public func take(
        _ told: [Characteristic], of subject: String, date: String?, said: Instant?, today: String, ingest: Int64
    ) throws -> (set: [CharacteristicType], kept: [CharacteristicType]) {
        guard subject != Origin.unassigned else { return ([], []) }
        return try connection.transaction {
            let before = try characteristics(of: subject)
            for value in told where value.isSet {
                let known = try connection.integer(
                    """
                    SELECT 1 FROM characteristic WHERE subject = ? AND type = ? AND value = ? AND said IS ? AND ingest IS NOT NULL
                    """, .text(subject), .text(value.type.rawValue), .text(value.value), .optional(said?.microseconds))
                guard known == nil else { continue }
                try add(value.type, value, subject: subject, from: date, said: said, ingest: ingest)
            }
            let after = try characteristics(of: subject)
            var (set, kept): ([CharacteristicType], [CharacteristicType]) = ([], [])
            for value in told where value.isSet {
                let now = after.value(of: value.type, on: today)
                if now != before.value(of: value.type, on: today) {
                    set.append(value.type)
                } else if now != value {
                    kept.append(value.type)
                }
            }
            return (set, kept)
        }
    }

    /// Whether an ingest changed what counts: it brought some, or took back an ingest that did.
    public func touchesCharacteristics(_ ingest: Int64) throws(StoreError) -> Bool {
        try hasCharacteristics(broughtBy: LedgerStates(connection: connection).chain(from: ingest).last ?? ingest)
    }

    /// Whether an ingest brought any.
    func hasCharacteristics(broughtBy ingest: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT 1 FROM characteristic WHERE ingest = ? LIMIT 1", .integer(ingest)) != nil
    }

    /// What is wrong with them; values are told to nobody.
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
            // A person's word has its time.
            if statement.isNull(4), from == nil || statement.isNull(3) { undated += 1 }
        }
        let orphans =
            try connection.integer("SELECT count(*) FROM characteristic WHERE ingest NOT IN (SELECT id FROM ingest)") ?? 0
        return (unknown > 0 ? ["\(unknown) characteristics that are none of HealthKit's, or have a value that is none"] : [])
            + (undated > 0 ? ["\(undated) characteristics without the day from which they hold"] : [])
            + (orphans > 0 ? ["\(orphans) characteristics of an ingest that the ledger does not have"] : [])
    }
}
