import HealthModel

extension SampleStore {
    /// Verifies the structure of the file, the sums of the ledger, and the UUID of every sample, which is recomputed
    /// from its fields.
    ///
    /// - Parameters:
    ///   - deep: Whether to also check repairs, tombstones and the change log, entry by entry.
    ///   - progress: Called from time to time with the number of samples verified so far.
    ///   - note: Called with findings that are not damage but may be useful.
    /// - Returns: The problems, as sentences. The list is empty if there are none.
    public func check(
        deep: Bool = false, progress: (Int) -> Void = { _ in }, note: (String) -> Void = { _ in }
    ) throws(StoreError) -> [String] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var problems: [String] = []
        let integrity = try Statement(connection, "PRAGMA integrity_check(20)")
        while try integrity.step() {
            try Self.rejectFailure(of: integrity.text(0))
            if integrity.text(0) != "ok" { problems.append("database: \(integrity.text(0))") }
        }
        // Further checks of a damaged file would only repeat the problem.
        guard problems.isEmpty else { return problems }
        do throws(StoreError) {
            return try checkContent(deep: deep, progress, note)
        } catch {
            // A damaged byte in the table definitions makes SQLite read different names.
            guard error.kind == .defect else { throw error }
            return ["database: unexpected table definitions (\(error.message))"]
        }
    }

    /// Throws an error if SQLite could not read a page, which it reports as text. The medium failed, and the file may be right.
    private static func rejectFailure(of text: String) throws(StoreError) {
        let prefix = "unable to get the page. error code="
        guard let sampleKey = text.firstRange(of: prefix) else { return }
        guard let code = Int32(text[sampleKey.upperBound...].prefix { $0.isNumber }) else { return }
        let error = StoreError(code: code, message: "disk I/O error", sql: nil)
        if error.kind == .inputOutput { throw error }
    }

    /// Checks the content, which SQLite itself cannot verify.
    private func checkContent(
        deep: Bool, _ progress: (Int) -> Void, _ note: (String) -> Void
    ) throws(StoreError) -> [String] {
        // Stop here, because further checks of rows with the wrong kind would only repeat the problem.
        let unknownKinds = deep ? try checkKinds() : []
        guard unknownKinds.isEmpty else { return unknownKinds }
        var problems = try checkLedger()
        if try erasure.isUnfinished {
            problems.append(
                "an erasure was interrupted, and the file still contains erased data: run 'vitalgate people erase' to complete it"
            )
        }
        problems += try checkLinks()
        problems += try people.checkCharacteristics()
        problems += try people.checkMedications()
        var checked = 0
        for series in try samples.series(matching: SampleQuery()) {
            for table in SampleTable.Rows.allCases {
                do throws(StoreError) {
                    problems += try checkIdentities(of: series, in: table, &checked, progress)
                } catch {
                    guard error.kind == .corrupt else { throw error }
                    problems.append("\(series.type.id) (series \(series.id), \(table.rawValue)): \(error.message)")
                }
            }
        }
        if deep {
            problems += try DeepCheck(connection: connection).problems()
            problems += try wrongSummaries().map { "the sums of series \($0) are wrong" }
            let bodies = BodyCheck(connection: connection)
            try bodies.run()
            problems += bodies.problems
            for words in bodies.notes { note(words) }
        }
        return problems
    }

    /// Checks that each series has the kind of its type. Unknown types and kinds, from a newer version, are skipped.
    private func checkKinds() throws(StoreError) -> [String] {
        var problems: [String] = []
        for (series, name, number) in try connection.series.kinds() {
            guard let kind = SampleKind(rawValue: number), let type = SampleType(name), type.isKnown, type.kind != kind else {
                continue
            }
            problems.append(
                "\(type.id) (series \(series)): its kind is \(kind.name) instead of \(type.kind.name)")
        }
        return problems
    }

    /// Checks that the samples counted by each ledger entry exist, live or deleted.
    private func checkLedger() throws(StoreError) -> [String] {
        var problems: [String] = []
        // The change log is read once, not once for each entry: a hub of many years has thousands of entries.
        var counts: [Int64: Int64] = [:]
        let changes = try Statement(
            connection,
            """
            SELECT ingest,
                (SELECT count(*) FROM sample WHERE sample.series = change.series AND start BETWEEN low AND high
                    AND seq BETWEEN first_seq AND last_seq)
                + (SELECT count(*) FROM deleted WHERE deleted.series = change.series AND start BETWEEN low AND high
                    AND seq BETWEEN first_seq AND last_seq)
            FROM change WHERE NOT deletion
            """)
        while try changes.step() { counts[changes.integer(0), default: 0] += changes.integer(1) }
        for (id, stored) in try connection.ledger.stored() {
            let found = counts[id] ?? 0
            // A sample that was deleted and restored belongs to the restoration, so fewer may be found.
            if found > stored { problems.append("ledger entry \(id): \(stored) stored according to the ledger, \(found) found") }
        }
        for (id, refused, reasons) in try connection.ledger.wrongRefusals() {
            problems.append("ledger entry \(id): \(refused) refused, \(reasons) reasons stored")
        }
        let total = try connection.ledger.storedSum()
        let accepted = try connection.settings.integer("accepted") ?? 0
        let (live, dead) = (try table.count(.live), try table.count(.tombstones))
        let forgotten = try connection.settings.integer("forgotten") ?? 0
        let counted = total + accepted - forgotten
        if counted != live + dead {
            problems.append("the ledger counts \(counted) samples, but the store has \(live + dead)")
        }
        return problems
    }

    private func checkLinks() throws(StoreError) -> [String] {
        var problems: [String] = []
        for (description, sql) in [
            ("samples without a series", "SELECT count(*) FROM sample WHERE series NOT IN (SELECT id FROM series)"),
            ("samples without a context", "SELECT count(*) FROM sample WHERE context NOT IN (SELECT id FROM context)"),
            (
                "samples both live and deleted",
                "SELECT count(*) FROM sample JOIN deleted USING(series, start, hash) WHERE NOT forgotten"
            ),
            (
                "samples whose metadata is missing",
                "SELECT count(*) FROM sample WHERE metadata IS NOT NULL AND metadata NOT IN (SELECT id FROM metadata)"
            ),
            (
                "duplicates without an original",
                """
                SELECT count(*) FROM witness AS w WHERE NOT withdrawn AND NOT stands_in
                    AND NOT EXISTS(SELECT 1 FROM sample WHERE series = of_series AND start = of_start AND hash = of_hash)
                    AND NOT EXISTS(SELECT 1 FROM deleted WHERE series = of_series AND start = of_start AND hash = of_hash)
                    AND NOT (rule = 'version' AND EXISTS(SELECT 1 FROM witness_row AS higher
                        WHERE (higher.series, higher.start, higher.hash) = (w.of_series, w.of_start, w.of_hash)))
                """
            ),
            ("duplicates without a decision", "SELECT count(*) FROM witness_row WHERE decision NOT IN (SELECT id FROM decision)"),
            (
                "samples that are stored together with their duplicate",
                """
                SELECT count(*) FROM witness WHERE stands_in AND NOT parted AND rule <> 'version'
                    AND EXISTS(SELECT 1 FROM sample WHERE series = of_series AND start = of_start AND hash = of_hash)
                """
            ),
            (
                "samples numbered after the last change",
                "SELECT count(*) FROM sample WHERE seq > \(SettingTable.value("seq"))"
            ),
        ] {
            let count = try connection.integer(sql) ?? 0
            if count > 0 { problems.append("\(count) \(description)") }
        }
        return problems
    }

    private func checkIdentities(
        of series: SeriesDescription, in table: SampleTable.Rows, _ checked: inout Int, _ progress: (Int) -> Void
    ) throws(StoreError) -> [String] {
        let key = SeriesKey(person: series.person, type: series.type, source: series.source, device: series.device)
        let decoder = SampleDecoder(connection: connection)
        // Forgotten samples no longer have their record id.
        let rows = try self.table.scan(
            .whole, of: series.id, among: table, table == .tombstones ? .remembered : .all, order: .startAndHash,
            isRetained: false)
        var wrong = 0
        var unequal = 0
        while try rows.next() {
            let sample = try rows.stored(decoder).sample
            if try !isIdentity(of: sample, key: key, series: series.id) { wrong += 1 }
            if let conversion = try? series.type.conversion(from: sample.unit), conversion.convert(sample.numeral) != sample.value
            {
                unequal += 1
            }
            checked += 1
            if checked % 10_000 == 0 { progress(checked) }
        }
        let name = "\(series.type.id) (series \(series.id), \(table.rawValue))"
        return (wrong > 0 ? ["\(name): \(wrong) samples whose UUID does not match their fields"] : [])
            + (unequal > 0 ? ["\(name): \(unequal) samples whose value does not match their numeral"] : [])
    }

    /// Whether the UUID matches the fields. The nominal end is not stored. It is derived from the nominal start and the
    /// duration, unless the clock changed in between.
    private func isIdentity(of sample: Sample, key: SeriesKey, series: Int64) throws(StoreError) -> Bool {
        if sample.identityOrdinal() != nil { return true }
        if let isRepaired = try isRepaired(sample, key: key, series: series) { return isRepaired }
        if try isRecord(sample, key: key, series: series) { return true }
        guard sample.end != sample.start, sample.zone != nil else { return false }
        // Clocks change by half an hour, one hour or two, and in Samoa they once changed by a day.
        return [3600, 1800, 7200, 86_400].lazy.flatMap { [$0 * 1_000_000, $0 * -1_000_000] }
            .contains { sample.identityOrdinal(shift: $0) != nil }
    }

    private func isRecord(_ sample: Sample, key: SeriesKey, series: Int64) throws(StoreError) -> Bool {
        let sampleKey = SampleKey(series: series, start: sample.start.microseconds, of: sample.identity)
        return try connection.records.records(at: sampleKey).contains { record in
            SampleIdentity(
                series: key, start: sample.nominalStart, record: record, numeral: sample.numeral, unit: sample.unit)
                == sample.identity
        }
    }

    /// Whether the UUID of a repaired sample matches its original and the repair, or `nil` if the sample was not
    /// repaired.
    private func isRepaired(_ sample: Sample, key: SeriesKey, series: Int64) throws(StoreError) -> Bool? {
        let sampleKey = SampleKey(series: series, start: sample.start.microseconds, of: sample.identity)
        if try connection.repairs.isFromNowhere(sampleKey) { return true }
        guard let origin = try connection.repairs.origin(of: sampleKey) else { return nil }
        let repair = try connection.repairs.text(of: origin.repairID)
        let received = try table.identity(at: origin.key, among: [.tombstones, .live])
        guard let repair, let received else { return false }
        return SampleIdentity(
            series: key, start: sample.start.microseconds, repaired: received, by: repair)
            == sample.identity
    }
}
