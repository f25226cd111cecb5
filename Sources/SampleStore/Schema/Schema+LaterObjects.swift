extension Schema {
    /// Objects that arrive after a grant that includes later objects get a row in `granted_object` as well. A reader looks up the granted
    /// objects and does not scan the others. From this step on each object is added to `granted_object` when it is stored.
    static let laterObjects = """
        INSERT OR IGNORE INTO granted_object(client, series, start, hash) SELECT g.client, r.series, r.start, r.hash
            FROM granted AS g JOIN series AS s ON s.subject = g.subject AND s.type = g.type AND s.kind IN (\(Restriction.askedByObject))
            JOIN (SELECT series, start, hash, seq FROM sample UNION ALL SELECT series, start, hash, seq FROM deleted) AS r ON r.series = s.id
            WHERE g.after IS NOT NULL AND r.seq > g.after;
        """
}
