extension Schema {
    /// The live samples are computed from reports and decisions, so each decision is stored with its entry in the ledger.
    ///
    /// - `decided`: that a person deleted a sample (1) or restored it (2).
    /// - `judgement`: that a quarantined reading was `accepted`, `rejected`, or `released`. `quarantine.state` is computed from these.
    /// - `derived`: the inputs of a computed sample. A sample may have been computed several times, each time as a `basis`. One valid basis
    ///   suffices.
    /// - `decision.merge`: the merge that recognized a reading as a duplicate, or NULL if its import did.
    /// - `record.across`: whether the version replaces lower ones of other devices as well.
    /// - `witness`: the columns `stands_in` (it is a sample now), `withdrawn` (its import is undone), and `parted` (its merge is undone)
    ///   are computed.
    static let measurements = """
        CREATE TABLE decided(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, ingest INTEGER NOT NULL, what INTEGER NOT NULL,
            PRIMARY KEY(series, start, hash, ingest)) WITHOUT ROWID;
        CREATE TABLE judgement(
            held INTEGER NOT NULL, ingest INTEGER NOT NULL, what TEXT NOT NULL, PRIMARY KEY(held, ingest)) WITHOUT ROWID;
        CREATE TABLE derived(
            series INTEGER NOT NULL, start INTEGER NOT NULL, hash BLOB NOT NULL, basis INTEGER NOT NULL, of_series INTEGER NOT NULL,
            of_start INTEGER NOT NULL, of_hash BLOB NOT NULL,
            PRIMARY KEY(series, start, hash, basis, of_series, of_start, of_hash)) WITHOUT ROWID;
        CREATE INDEX derived_by_input ON derived(of_series, of_start, of_hash);
        CREATE INDEX repaired_by_old ON repaired(old_series, old_start, old_hash);
        ALTER TABLE record ADD COLUMN across INTEGER NOT NULL DEFAULT 0;
        \(decidedBefore)
        \(judgedBefore)
        \(acrossBefore)
        \(mergedBefore)
        DROP VIEW witness;
        ALTER TABLE decision DROP COLUMN stands_in;
        ALTER TABLE decision DROP COLUMN withdrawn;
        ALTER TABLE quarantine DROP COLUMN judged;
        ALTER TABLE quarantine DROP COLUMN revoked;
        CREATE VIEW witness AS
            SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest, of_series, of_start, of_hash,
                rule, merge, decision,
                EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (witness_row.series, witness_row.start, witness_row.hash))
                    AS stands_in,
                EXISTS(SELECT 1 FROM ingest AS i WHERE i.id = decision.ingest AND i.state = 'undone') AS withdrawn,
                EXISTS(SELECT 1 FROM ingest AS i WHERE i.id = decision.merge AND i.state = 'undone') AS parted
            FROM witness_row CROSS JOIN decision ON decision.id = witness_row.decision;
        """

    /// A tombstone that no undone import explains was decided by the ingest that deleted it. A sample of an undone import was decided by
    /// the ingest that restored it.
    private static let decidedBefore = """
        INSERT INTO decided SELECT series, start, hash, ingest, 1 FROM deleted WHERE NOT forgotten AND replaced_by IS NULL
            AND (SELECT kind FROM ingest WHERE ingest.id = deleted.ingest) NOT IN ('migrate', 'migrate undo', 'merge')
            AND ((SELECT kind FROM ingest WHERE ingest.id = deleted.ingest) <> 'undo'
                OR (SELECT state FROM ingest WHERE ingest.id =
                    (SELECT change.ingest FROM change WHERE change.series = deleted.series AND first_seq <= deleted.seq
                    ORDER BY first_seq DESC LIMIT 1)) <> 'undone');
        INSERT OR IGNORE INTO decided SELECT s.series, s.start, s.hash, c.cause, 2
            FROM ingest AS i JOIN change AS c ON c.ingest = i.id AND NOT c.deletion AND c.cause <> c.ingest
            JOIN sample AS s ON s.series = c.series AND s.start BETWEEN c.low AND c.high AND s.seq BETWEEN c.first_seq AND c.last_seq
            WHERE i.state = 'undone' AND i.kind <> 'migrate';
        """

    private static let judgedBefore = """
        INSERT INTO judgement SELECT quarantine.id, judged, CASE kind WHEN 'accept' THEN 'accepted' WHEN 'import' THEN 'released'
                WHEN 'live' THEN 'released' WHEN 'save' THEN 'released' WHEN 'release' THEN 'released' ELSE 'rejected' END
            FROM quarantine JOIN ingest ON ingest.id = judged;
        """

    private static let acrossBefore = """
        UPDATE record SET across = 1 WHERE (series, start, hash) IN (
            SELECT s.series, s.start, s.hash FROM ingest AS i JOIN change AS c ON c.ingest = i.id AND NOT c.deletion
                JOIN (SELECT series, start, hash, seq FROM sample UNION ALL SELECT series, start, hash, seq FROM deleted) AS s
                ON s.series = c.series AND s.start BETWEEN c.low AND c.high AND s.seq BETWEEN c.first_seq AND c.last_seq
            WHERE i.kind = 'save');
        """

    private static let mergedBefore = """
        ALTER TABLE decision ADD COLUMN merge INTEGER;
        INSERT INTO setting SELECT 'standIns', 1 WHERE EXISTS(SELECT 1 FROM decision WHERE stands_in);
        CREATE TABLE merged_witness AS
            WITH RECURSIVE chain(id, merge) AS (
                SELECT id, id FROM ingest WHERE kind = 'merge'
                UNION SELECT ingest.id, merge FROM ingest JOIN chain ON ingest.undoes = chain.id)
            SELECT w.series, w.start, w.hash, w.decision, max(chain.merge) AS merge
            FROM witness_row AS w JOIN decision ON decision.id = w.decision
                LEFT JOIN deleted AS d ON (d.series, d.start, d.hash) = (w.series, w.start, w.hash)
                JOIN chain ON chain.id IN (d.ingest, decision.withdrawn)
            GROUP BY w.series, w.start, w.hash;
        INSERT INTO decision(ingest, of_series, rule, merge)
            SELECT DISTINCT d.ingest, d.of_series, d.rule, m.merge FROM merged_witness AS m JOIN decision AS d ON d.id = m.decision;
        UPDATE witness_row SET decision = (SELECT n.id FROM merged_witness AS m JOIN decision AS d ON d.id = m.decision
                JOIN decision AS n ON (n.ingest, n.of_series, n.rule, n.merge) = (d.ingest, d.of_series, d.rule, m.merge)
                WHERE (m.series, m.start, m.hash) = (witness_row.series, witness_row.start, witness_row.hash))
            WHERE (series, start, hash) IN (SELECT series, start, hash FROM merged_witness);
        DROP TABLE merged_witness;
        """
}
