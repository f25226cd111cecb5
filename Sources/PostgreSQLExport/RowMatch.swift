/// The conditions by which a statement finds the rows of the table of samples that belong to rows of another table.
///
/// If the table of samples is partitioned, the person leads to the partition. A partition on another server gets the UUIDs as a value, and finds
/// them by its index. Otherwise it would send all of its rows, and lock them if they could change. Then deliveries for different people would
/// wait for each other, and PostgreSQL does not notice a circle that goes over two servers.
enum RowMatch {
    /// Returns the condition for two rows of the same UUID and person.
    ///
    /// - Parameters:
    ///   - row: The row of the table of samples.
    ///   - other: The other row.
    ///   - column: The column of the other row with the UUID.
    ///   - values: A SELECT of all UUIDs, or `nil` for those of the table that is called as the other row.
    static func isSame(
        _ row: String, _ other: String, column: String = "uuid", values: String? = nil, byPerson: Bool
    ) -> String {
        let isSame = "\(row).uuid = \(other).\(column)"
        guard byPerson else { return isSame }
        let values = values ?? "SELECT \(column) FROM \(other)"
        return "\(isSame) AND \(row).subject = \(other).subject AND \(row).uuid = ANY(ARRAY(\(values)))"
    }

    /// Returns the beginning of a statement that joins a temporary table with the table of samples.
    ///
    /// The planner sees the price of a scan that is switched off in each plan with a temporary table. Beside it a scan of all samples looks
    /// cheap. `MATERIALIZED` keeps this price out of the choice.
    static func with(_ temporary: String) -> String { "WITH \(temporary) AS MATERIALIZED (SELECT * FROM \(temporary))" }
}
