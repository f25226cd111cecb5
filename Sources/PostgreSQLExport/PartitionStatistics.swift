import Pipeline

/// Lets PostgreSQL count the rows of new partitions.
///
/// PostgreSQL looks for a UUID among all rows of a person while a partition has no statistics. It first counts the rows after some minutes,
/// and a delivery takes longer until then.
struct PartitionStatistics {
    /// The changes that were delivered since the last look at the partitions.
    private var changes = 0

    /// The number of changes between two looks.
    private static let interval = 5000
    /// The size in bytes of a partition that is counted, about 500 rows.
    private static let least = 131_072
    /// The maximum number of partitions that are counted at once.
    private static let maximum = 16

    /// Counts partitions that have rows and were never counted. The connection must be outside of a transaction.
    mutating func note(_ count: Int, _ connection: PostgreSQLConnection, _ schema: String) throws(DeliveryError) {
        changes += count
        guard changes >= Self.interval else { return }
        changes = 0
        let partitions = try connection.run(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_partition_tree($1) t JOIN pg_class c ON c.oid = t.relid
                JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE t.isleaf AND c.relkind = 'r' AND c.reltuples < 0 AND pg_has_role(c.relowner, 'USAGE')
                AND pg_relation_size(c.oid) >= \(Self.least) LIMIT \(Self.maximum)
            """, ["\(schema).sample"]
        ).compactMap { $0[0] }
        // A partition that is being counted already is left out.
        if !partitions.isEmpty { try connection.run("ANALYZE (SKIP_LOCKED) \(partitions.joined(separator: ", "))") }
    }
}
