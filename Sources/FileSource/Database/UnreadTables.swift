import HealthModel
import Pipeline

/// Counts the data in a database that a profile does not read: the rows of unread tables, and the values of unread
/// columns in the tables that it reads.
struct UnreadTables {
    let database: ForeignConnection
    let wanted: ForeignDatabase

    /// The maximum number of columns to count per table.
    private static let columns = 256

    func counted() throws -> Unread {
        var unread = Unread()
        var read: [String: (columns: Set<String>, empties: [String])] = [:]
        var referred: Set<String> = []
        for table in wanted.tables {
            guard let plan = try database.plan(of: table) else { continue }
            var columns = Set(plan.columns.filter { $0.join == nil }.map(\.column))
            for join in plan.joins {
                referred.insert(table.joins[join].table)
                if table.joins[join].from == nil { columns.insert(table.joins[join].column) }
            }
            if let exclusion = plan.exclusion { columns.insert(exclusion.column) }
            read[table.name, default: ([], table.empties)].columns.formUnion(columns)
        }
        for table in try database.tables() where !wanted.isIgnored(table: table) {
            guard let known = read[table] else {
                if !referred.contains(table) { unread.count(table, as: .table, try database.rows(in: table)) }
                continue
            }
            let others = try database.names(of: table).subtracting(known.columns)
                .filter { !wanted.isIgnored(column: $0) }.sorted().prefix(Self.columns)
            guard !others.isEmpty else { continue }
            for (column, count) in zip(others, try database.values(of: Array(others), in: table, without: known.empties)) {
                unread.count("\(table).\(column)", as: .column, count)
            }
        }
        return unread
    }
}
