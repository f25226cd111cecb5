import HealthModel

/// Permanently removes everything about a person from the store in one transaction: rows of every table, mentions in
/// other rows, and shared rows that are no longer used (Decisions/0038).
///
/// It has a treatment for each table of the schema. If there is an unknown table, it throws an error, so that a later
/// schema cannot leave personal data behind unnoticed.
struct Erasure {
    let connection: Connection
    /// The person to erase.
    let person: String
    /// The name of the person.
    let name: String?

    /// The texts that identify the person: the UUID, the name, and each word of the name with at least three
    /// characters.
    var words: [String] {
        let name = name ?? ""
        return [person] + [name].filter { !$0.isEmpty }
            + name.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter { $0.count >= 3 }
    }

    /// The treatment of a table's rows.
    enum Treatment: Equatable {
        /// The table contains no personal data.
        case stays
        /// Rows whose `person` is the person are removed.
        case ofPerson
        /// Rows are removed if these columns refer to a series or an erased sample of the person. Each list names the
        /// columns of one place.
        case ofPlaces([[String]])
        /// Rows are removed if one of these columns refers to a series of the person.
        case ofSeries([String])
        /// Rows that are no longer referenced are removed.
        case shared
        /// The table is a view or has its own treatment, for the given reason.
        case own(String)
    }

    private static let key = ["series", "start", "hash"]
    private static let first = ["of_series", "of_start", "of_hash"]

    /// The treatment of every table and view of the schema.
    static let treatments: [String: Treatment] = [
        "sample": .ofPlaces([key]), "deleted": .ofPlaces([key]), "place": .ofPlaces([key]), "record": .ofPlaces([key]),
        "decided": .ofPlaces([key]), "derived": .ofPlaces([key, first]),
        "judgement": .own("removed with the quarantined reading"), "held_count": .own("follows the quarantined readings"),
        "pending": .own("empty: a deletion or an undo is completed first"),
        "link": .ofPlaces([key, first]), "witness_row": .ofPlaces([key]), "granted_object": .ofPlaces([key]),
        "quarantine": .ofPlaces([key]), "change": .ofSeries(["series"]), "decision": .ofSeries(["of_series"]),
        "dismissed": .ofSeries(["series"]), "reading_alias": .ofSeries(["series"]), "series": .ofPerson,
        // In the series of others, only single tombstones are removed, and summaries do not count those.
        "summary": .ofSeries(["series"]), "summarized": .ofSeries(["series"]),
        "context": .shared, "origin": .shared, "metadata": .shared, "body": .shared,
        "characteristic": .ofPerson, "person": .ofPerson, "medication": .ofPerson, "annotation": .ofPerson,
        "goal": .ofPerson,
        "alert": .ofPerson, "alert_event": .ofPerson, "alert_delivery": .ofPerson, "alert_receiver": .stays,
        "granted": .ofPerson, "asked": .ofPerson,
        "widening": .ofPerson,
        "write_back": .ofPlaces([key]), "write_back_phone": .own("phones of the person start again"),
        "read_by": .ofPerson, "page_code": .ofPerson, "page_session": .ofPerson, "shared_use": .ofPerson,
        "scale_user": .ofPerson,
        "epoch": .stays, "client": .stays, "token": .stays,
        "witness": .own("a view of witness_row and decision"),
        "setting": .own(
            "the store gets a new own person, counts are computed again, and the person's orders of sources and cards are removed"
        ),
        "device": .own("devices of only this person are removed"), "device_alias": .own("keys of the person's devices"),
        "clock": .own("clocks of the person's devices"),
        "repaired": .own("samples of other people stay, without their original"),
        "migration": .own("repairs of only this person's samples are removed, and others lose the person's part"),
        "ingest": .own("entries of only this person's samples are removed, and others lose the person's part"),
        "refused": .own("removed with its ledger entry, or loses its text"), "skipped": .own("removed with its ledger entry"),
        "set_aside": .own("the person's samples that a target rejected"),
        "target": .own("messages and filters that name the person"),
        "saved_answer": .own("answers to clients that could read or write the person's samples"),
        "lost": .own("the person's entries are removed, and readers must start again"),
    ]

    /// Checks that every table of the store has a treatment.
    ///
    /// - Throws: ``StoreError`` of the kind `newer` if the store has an unknown table.
    func checkTables() throws(StoreError) {
        for name in try connection.tableNames() where Self.treatments[name] == nil {
            throw StoreError(.newer, "the store has a table '\(name)' that this version cannot erase from: update this program")
        }
    }

    /// Removes everything. Used inside a transaction.
    ///
    /// - Parameter ingest: The entry of the ledger.
    /// - Returns: The number of samples and tombstones that were removed.
    func run(by ingest: Int64) throws -> Int {
        try checkTables()
        let ledger = ErasedLedger(connection: connection, person: person, words: words)
        let repairs = ErasedRepairs(connection: connection, words: words)
        let orders = try ErasedSourceOrders(connection, person: person, words: words)
        try mark(repairs)
        let balance = try ledger.balance()
        try repairs.note()
        try ledger.note()
        try warnReaders()
        try removeSetAside(repairs)
        try removeAnswers()
        try connection.writeBack.restartPhones(of: person)
        try forgetDevices()
        try repairs.detach()
        try promoteVersions(by: ingest)
        let count = try count("SELECT count(*) FROM pruned")
        // Sever what stays from its erased first report.
        try remove(
            "witness_row",
            """
            EXISTS(SELECT 1 FROM decision CROSS JOIN gone ON gone.series = of_series AND gone.start = witness_row.of_start
                AND gone.hash = witness_row.of_hash WHERE decision.id = witness_row.decision)
            """)
        for (table, treatment) in Self.treatments.sorted(by: { $0.key < $1.key }) {
            switch treatment {
            case .ofPlaces(let keys):
                for columns in keys {
                    try remove(table, "(\(columns.joined(separator: ", "))) IN (SELECT series, start, hash FROM gone)")
                    try remove(table, "\(columns[0]) IN (SELECT id FROM gone_series)")
                }
            case .ofSeries(let columns): for column in columns { try remove(table, "\(column) IN (SELECT id FROM gone_series)") }
            case .ofPerson: try connection.run("DELETE FROM \(table) WHERE subject = ?", .text(person))
            case .stays, .shared, .own: break
            }
        }
        // Sessions of the person that show another person's data.
        try connection.run("DELETE FROM page_session WHERE opener = ?", .text(person))
        try connection.quarantine.removeOrphans()
        try Epochs.forget(viewer: person, connection)
        try repairs.finish()
        try ledger.finish(balance: balance)
        try removeShared()
        try orders.finish()
        try connection.settings.remove(SampleStore.People.todayLayoutSetting(of: person))
        return count
    }

    /// Settles the records of which a version is removed, so that the next one becomes the sample.
    private func promoteVersions(by ingest: Int64) throws(StoreError) {
        let others = try connection.records.otherVersionsOfErased()
        guard !others.isEmpty else { return }
        try connection.records.removeErased()
        let deletion = Deletion(connection: connection, ingest: ingest)
        try LiveSampleUpdate(deletion).update(others)
        try deletion.updateDerived()
        try connection.ledger.add(deleted: deletion.deleted, restored: deletion.restored, to: ingest)
    }

    private func count(_ sql: String) throws(StoreError) -> Int { Int(try connection.integer(sql) ?? 0) }

    private func remove(_ table: String, _ condition: String) throws(StoreError) {
        try connection.run("DELETE FROM main.\(table) WHERE \(condition)")
    }

    /// Marks the rows to remove: whole series, single rows of others (`deleted`), and the change number of each (`pruned`,
    /// as needed by ``Restriction/noteLost(_:)``).
    private func mark(_ repairs: ErasedRepairs) throws(StoreError) {
        try connection.execute(
            """
            DROP TABLE IF EXISTS temp.gone; DROP TABLE IF EXISTS temp.gone_series; DROP TABLE IF EXISTS temp.pruned;
            CREATE TEMP TABLE gone(series INTEGER, start INTEGER, hash BLOB, PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
            CREATE TEMP TABLE gone_series(id INTEGER PRIMARY KEY);
            CREATE TEMP TABLE pruned(
                series INTEGER, start INTEGER, hash BLOB, number INTEGER, PRIMARY KEY(series, start, hash)) WITHOUT ROWID
            """)
        try connection.run("INSERT INTO gone_series SELECT id FROM series WHERE subject = ?", .text(person))
        repeat { try repairs.markOfOthers() } while try markOtherReports() > 0
        // Values that were computed from the person's data reveal something about the person, whoever owns them, also after repairs.
        try connection.run(
            """
            WITH RECURSIVE form(series, start, hash) AS (
                SELECT series, start, hash FROM derived WHERE of_series IN (SELECT id FROM gone_series)
                    OR (of_series, of_start, of_hash) IN (SELECT series, start, hash FROM gone)
                UNION \(RepairTable.nextForms))
            INSERT OR IGNORE INTO gone SELECT series, start, hash FROM form
            """)
        for (table, number) in [("sample", "seq"), ("deleted", "deleted_seq")] {
            try connection.run(
                """
                INSERT OR REPLACE INTO pruned SELECT series, start, hash, \(number) FROM \(table)
                WHERE series IN (SELECT id FROM gone_series) OR (series, start, hash) IN (SELECT series, start, hash FROM gone)
                """)
        }
    }

    /// Marks the other reports of measurements that were assigned to the person: the first one, and those that were compared with it. A live
    /// sample of another person stays.
    ///
    /// - Returns: The number of marked rows.
    private func markOtherReports() throws(StoreError) -> Int {
        let duplicates =
            "witness_row AS w CROSS JOIN decision AS d ON d.id = w.decision AND d.rule <> '\(DuplicateRule.version.rawValue)'"
        try connection.run(
            """
            INSERT OR IGNORE INTO gone SELECT d.of_series, w.of_start, w.of_hash FROM \(duplicates)
            WHERE (w.series, w.start, w.hash) IN (SELECT series, start, hash FROM gone) AND d.of_series NOT IN (SELECT id FROM gone_series)
                AND NOT EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (d.of_series, w.of_start, w.of_hash))
            """)
        let firstChanges = connection.changes
        try connection.run(
            """
            INSERT OR IGNORE INTO gone SELECT w.series, w.start, w.hash FROM \(duplicates)
            WHERE (d.of_series, w.of_start, w.of_hash) IN (SELECT series, start, hash FROM gone)
                AND w.series NOT IN (SELECT id FROM gone_series)
                AND NOT EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (w.series, w.start, w.hash))
            """)
        return firstChanges + connection.changes
    }

    /// Invalidates the anchors of all readers that could read any of the data. They must start again and drop data that
    /// they no longer receive. Other readers do not notice the erasure.
    private func warnReaders() throws(StoreError) {
        let table = connection.samples
        guard try connection.integer("SELECT 1 FROM pruned LIMIT 1") != nil else { return }
        let number = try table.lastNumber() + 1
        try table.setLast(number: number)
        try connection.run("UPDATE pruned SET number = ?", .integer(number))
        try Restriction.noteLost(connection)
        try connection.settings.raise("pruned", to: number)
    }

    /// Removes the samples of the person that targets set aside, with the targets' messages about them.
    private func removeSetAside(_ repairs: ErasedRepairs) throws(StoreError) {
        for uuid in try connection.setAsideSamples() {
            for key in try connection.samples.keys(of: uuid) where try repairs.isDeleted(key) {
                try connection.removeSetAside(uuid)
            }
        }
        try connection.blankTargets(words: words)
    }

    /// Removes saved answers. Their request digests could be guessed, because a weight has few possible values.
    private func removeAnswers() throws(StoreError) {
        try connection.run(
            """
            DELETE FROM saved_answer WHERE client IN (SELECT client FROM granted WHERE subject = ?1)
                OR '\(ClientSource.prefix)' || client IN (SELECT source FROM series WHERE subject = ?1)
            """, .text(person))
    }

    /// Removes the person's devices. A device that others share becomes unassigned until it gets a new owner.
    private func forgetDevices() throws(StoreError) {
        try connection.execute(
            "DROP TABLE IF EXISTS temp.gone_key; CREATE TEMP TABLE gone_key(key TEXT PRIMARY KEY) WITHOUT ROWID")
        try connection.run(
            """
            INSERT OR IGNORE INTO gone_key SELECT device FROM series WHERE subject = ?1
            UNION SELECT key FROM device WHERE subject = ?1 UNION SELECT own_key FROM device WHERE subject = ?1 AND own_key IS NOT NULL
            UNION SELECT address FROM device WHERE subject = ?1
            """, .text(person))
        let others = "SELECT address FROM shared_use WHERE subject <> ?1 UNION SELECT address FROM scale_user WHERE subject <> ?1"
        try connection.run(
            "UPDATE device SET subject = '\(Origin.unassigned)' WHERE subject = ?1 AND address IN (\(others))", .text(person))
        try connection.run("DELETE FROM device WHERE subject = ?1", .text(person))
        // Alerts of other people about devices that are gone.
        let alerts = "SELECT id FROM alert WHERE device IS NOT NULL AND device NOT IN (SELECT address FROM device)"
        try connection.run(
            "DELETE FROM alert_delivery WHERE event IN (SELECT id FROM alert_event WHERE alert IN (\(alerts)))")
        try connection.run("DELETE FROM alert_event WHERE alert IN (\(alerts))")
        try connection.run("DELETE FROM alert WHERE id IN (\(alerts))")
        for word in words {
            try connection.run(
                "UPDATE device SET name = coalesce(model, address) WHERE instr(lower(name), lower(?)) > 0", .text(word))
        }
        let remaining = """
            SELECT device FROM series WHERE subject <> ?1 UNION SELECT key FROM device
            UNION SELECT own_key FROM device WHERE own_key IS NOT NULL UNION SELECT address FROM device
            """
        try connection.run("DELETE FROM gone_key WHERE key IN (\(remaining))", .text(person))
        try connection.run("DELETE FROM clock WHERE device IN (SELECT key FROM gone_key)")
        try connection.run(
            "DELETE FROM device_alias WHERE old IN (SELECT key FROM gone_key) OR new IN (SELECT key FROM gone_key)")
    }

    /// Removes shared rows that are no longer used, including those left by earlier prunings.
    private func removeShared() throws(StoreError) {
        for (column, table) in [("context", "context"), ("metadata", "metadata")] {
            let used = ["sample", "deleted", "witness_row", "quarantine"].map {
                "SELECT \(column) FROM \($0) WHERE \(column) IS NOT NULL"
            }
            try remove(table, "id NOT IN (\(used.joined(separator: " UNION ")))")
        }
        try remove("origin", "id NOT IN (SELECT origin FROM context)")
        try remove("body", "id NOT IN (SELECT body FROM context WHERE body IS NOT NULL)")
    }
}
