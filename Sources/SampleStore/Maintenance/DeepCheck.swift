import HealthModel

/// The checks in `store check --deep` beyond the samples themselves: repairs, tombstones, the change log, and a
/// conversion for every unit.
struct DeepCheck {
    let connection: Connection

    func problems() throws(StoreError) -> [String] {
        var problems: [String] = []
        for (description, sql) in Self.counts {
            let count = try connection.integer(sql) ?? 0
            if count > 0 { problems.append("\(count) \(description)") }
        }
        problems += try repairs()
        problems += try eaten()
        problems += try cycles()
        problems += try conversions()
        problems += try mergeCandidates()
        // Measurements with pending changes are only consistent once the changes are completed.
        if try PendingChanges(connection: connection).entry() == nil {
            problems += try MeasurementCheck(connection: connection).problems()
        }
        return problems
    }

    /// Counts samples that duplicate another reading in another unit or over another path. Sums count such a reading
    /// twice.
    private func mergeCandidates() throws(StoreError) -> [String] {
        var (count, left) = ([0, 0], [0, 0])
        try StoredRepeats(connection: connection).search { pairs throws(StoreError) in
            for pair in pairs {
                let way = pair.rule == .unit ? 0 : 1
                if pair.isLeft { left[way] += 1 } else { count[way] += 1 }
            }
        }
        var problems: [String] = []
        for (way, words) in ["in another unit", "over another path"].enumerated() {
            if count[way] > 0 {
                problems.append(
                    "\(count[way]) samples are duplicates of a reading stored \(words): see 'vitalgate store merge'")
            }
            if left[way] > 0 {
                problems.append(
                    "\(left[way]) samples are duplicates of a reading stored \(words), but have duplicates themselves: "
                        + "see 'vitalgate store merge'")
            }
        }
        return problems
    }

    /// Queries that count inconsistent rows, with a description of each.
    private static let counts: [(String, String)] = [
        (
            "repaired samples that are neither stored nor deleted",
            """
            SELECT count(*) FROM repaired AS r WHERE NOT EXISTS(SELECT 1 FROM sample AS s
                WHERE s.series = r.series AND s.start = r.start AND s.hash = r.hash)
            AND NOT EXISTS(SELECT 1 FROM deleted AS d WHERE d.series = r.series AND d.start = r.start AND d.hash = r.hash)
            """
        ),
        (
            "repaired samples whose original is missing",
            """
            SELECT count(*) FROM repaired AS r WHERE NOT EXISTS(SELECT 1 FROM sample AS s
                WHERE s.series = r.old_series AND s.start = r.old_start AND s.hash = r.old_hash)
            AND NOT EXISTS(SELECT 1 FROM deleted AS d WHERE d.series = r.old_series AND d.start = r.old_start AND d.hash = r.old_hash)
            AND NOT \(RepairTable.isFromNowhere)
            """
        ),
        (
            "repaired samples that are stored together with their original",
            """
            SELECT count(*) FROM repaired AS r JOIN sample AS new ON new.series = r.series AND new.start = r.start AND new.hash = r.hash
                JOIN sample AS old ON old.series = r.old_series AND old.start = r.old_start AND old.hash = r.old_hash
            WHERE NOT merged
            """
        ),
        (
            "live readings beside a repaired sample of the same reading",
            """
            SELECT count(*) FROM reading_alias AS a JOIN sample AS s ON s.series = a.series AND s.start = a.nominal AND s.hash = a.hash
                JOIN context ON context.id = s.context WHERE skew = 0
            """
        ),
        (
            "samples with local times that their UUID does not lead to",
            """
            SELECT count(*) FROM (SELECT series, start, hash, context FROM sample
                UNION ALL SELECT series, start, hash, context FROM deleted WHERE NOT forgotten) AS s
                JOIN context ON context.id = s.context
                WHERE skew <> 0 AND NOT EXISTS(SELECT 1 FROM place
                    WHERE place.series = s.series AND place.nominal = s.start + skew AND place.hash = s.hash AND place.start = s.start)
            """
        ),
        (
            "stored samples whose UUID is deleted at another time",
            """
            SELECT count(*) FROM place AS p JOIN sample AS s ON s.series = p.series AND s.start = p.nominal AND s.hash = p.hash
                JOIN context ON context.id = s.context WHERE skew = 0 AND p.start <> p.nominal
            """
        ),
        (
            "deleted samples that are missing from the change log",
            """
            SELECT count(*) FROM deleted AS d WHERE NOT forgotten AND NOT EXISTS(SELECT 1 FROM change AS c WHERE c.series = d.series
                AND c.first_seq BETWEEN d.deleted_seq - 8192 AND d.deleted_seq AND c.last_seq >= d.deleted_seq AND c.deletion
                AND d.start BETWEEN c.low AND c.high)
            """
        ),
        (
            "numbers of the change log that are used twice",
            """
            SELECT count(*) - count(DISTINCT seq) FROM (SELECT seq FROM sample UNION ALL SELECT deleted_seq FROM deleted WHERE NOT forgotten)
            """
        ),
        (
            "series with a sample longer than the longest",
            """
            SELECT count(*) FROM series WHERE longest < (SELECT coalesce(max(duration), 0) FROM sample WHERE sample.series = series.id)
            """
        ),
        (
            "series with a total longer than the longest",
            """
            SELECT count(*) FROM series WHERE longest_total < (SELECT coalesce(max(duration), 0) FROM sample
                WHERE sample.series = series.id AND \(TotalPeriod.condition))
            """
        ),
        (
            "identities stored for a repair that is undone or unknown",
            "SELECT count(*) FROM reading_alias WHERE migration NOT IN (SELECT id FROM migration WHERE state = 'applied')"
        ),
    ]

    /// Checks that the map of replaced samples and the ledger entry match the counts of each applied repair.
    private func repairs() throws(StoreError) -> [String] {
        let statement = try Statement(
            connection,
            """
            SELECT migration.id, repaired + merged, (SELECT count(*) FROM repaired AS r WHERE r.migration = migration.id),
                ingest.deleted, ingest.stored + ingest.restored, repaired,
                matched - repaired - merged - already_right - ambiguous - impossible, joined
            FROM migration LEFT JOIN ingest ON ingest.id = migration.ingest WHERE migration.state = 'applied'
            """)
        var problems: [String] = []
        while try statement.step() {
            let (id, recorded, found) = (statement.integer(0), statement.integer(1), statement.integer(2))
            // Forms of reports that represented their measurements later are recorded and stored in addition.
            let following = found - recorded
            if following < 0 { problems.append("repair \(id): \(recorded) samples replaced, but \(found) recorded") }
            if statement.integer(3) != recorded + statement.integer(7)
                // Other versions of a record that the repair moved may have come forward.
                || statement.integer(4) < statement.integer(5) + max(following, 0)
            {
                problems.append("repair \(id): its counts differ from its ledger entry")
            }
            let rest = statement.integer(6)
            if rest != 0 { problems.append("repair \(id): no outcome is recorded for \(rest) of its samples") }
        }
        return problems
    }

    /// Finds readings that were merged into other readings of the same repair. A merged reading must have its
    /// counterpart outside the repair.
    private func eaten() throws(StoreError) -> [String] {
        try connection.list(
            """
            SELECT m.id, count(*) FROM migration AS m JOIN repaired AS r ON r.migration = m.id
                JOIN deleted AS d ON d.series = r.series AND d.start = r.start AND d.hash = r.hash AND d.ingest = m.ingest
            WHERE m.state = 'applied' AND r.merged GROUP BY m.id
            """
        ) { row in
            let (id, count) = (row.integer(0), row.integer(1))
            return "repair \(id): \(count) readings were removed in favor of others from the same repair and are missing: "
                + "run 'vitalgate repair undo \(id)' to restore them"
        }
    }

    /// Checks that every repaired sample leads back to one that was received.
    private func cycles() throws(StoreError) -> [String] {
        let statement = try Statement(connection, "SELECT series, start, hash FROM repaired")
        let replacements = connection.repairs
        var endless = 0
        while try statement.step() {
            var key = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            var length = 0
            while length < RepairTable.maximumChainLength, let origin = try replacements.origin(of: key) {
                key = origin.key
                length += 1
            }
            if length == RepairTable.maximumChainLength { endless += 1 }
        }
        return endless > 0 ? ["\(endless) repaired samples have no received original"] : []
    }

    /// Checks that every received unit can be converted to the unit of its type.
    private func conversions() throws(StoreError) -> [String] {
        let statement = try Statement(
            connection,
            """
            SELECT series.type, context.unit, context.molar_mass, count(*) FROM sample JOIN series ON series.id = sample.series
                JOIN context ON context.id = sample.context GROUP BY 1, 2, 3
            """)
        var problems: [String] = []
        while try statement.step() {
            let (type, code) = (statement.text(0), statement.text(1))
            var unit = try? HealthModel.Unit(ucum: code)
            if !statement.isNull(2) { unit = unit?.with(molarMass: statement.real(2)) }
            guard let unit, (try? SampleType(type)?.conversion(from: unit)) != nil else {
                problems.append(
                    "\(type): \(statement.integer(3)) samples in \(code), which cannot be converted to the unit of the type")
                continue
            }
        }
        return problems
    }
}
