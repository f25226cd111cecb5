/// The rows to read from one table of another program's database, and from tables that it refers to.
///
///     ForeignTable(name: "heart_rate_record_series_table", columns: [.init("rate", is: "beats_per_minute"), .init("time", is: "epoch_millis")])
public struct ForeignTable: Hashable, Sendable {
    /// A column to read.
    public struct Column: Hashable, Sendable {
        /// The name under which its values are passed on.
        public var name: String
        /// The name in the database.
        public var column: String
        /// The index in ``ForeignTable/joins`` of the table that has it, or `nil` for the table itself.
        public var join: Int?
        /// Whether rows without this column are useless.
        public var isRequired: Bool
        /// Whether it contains bytes, which are passed on as hexadecimal digits.
        public var isBinary: Bool

        /// A column by its names.
        public init(_ name: String, is column: String, join: Int? = nil, isRequired: Bool = true, isBinary: Bool = false) {
            (self.name, self.column, self.join) = (name, column, join)
            (self.isRequired, self.isBinary) = (isRequired, isBinary)
        }
    }

    /// Another table, and the columns of both that must be equal. If it has a ``period``, at most one of its rows is joined: the one that
    /// lasted at least half of the row's own time, such as the exercise during which a distance was covered.
    public struct Join: Hashable, Sendable {
        /// The other table.
        public var table: String
        /// The index of the earlier join whose table has ``column``, or `nil` for the table itself.
        public var from: Int?
        /// The column in the referring table.
        public var column: String
        /// The column in the other table.
        public var key: String
        /// The columns with start and end, which both tables have.
        public var period: Period?

        /// The columns with the start and the end of a row.
        public struct Period: Hashable, Sendable {
            /// The column with the start.
            public var start: String
            /// The column with the end.
            public var end: String

            /// A period by its columns.
            public init(start: String, end: String) { (self.start, self.end) = (start, end) }
        }

        /// A join with another table.
        public init(table: String, from: Int? = nil, column: String, key: String, period: Period? = nil) {
            (self.table, self.from, self.column, self.key, self.period) = (table, from, column, key, period)
        }
    }

    /// Rows to skip because they are read elsewhere, identified by references from another table.
    public struct Exclusion: Hashable, Sendable {
        /// The other table.
        public var table: String
        /// The column in the table itself.
        public var column: String
        /// The column in the other table.
        public var key: String
        /// A condition on the rows of the other table. Without one, all rows count.
        public var condition: Condition?

        /// A condition that a column has one of several values.
        public struct Condition: Hashable, Sendable {
            /// The column's name in the database.
            public var column: String
            /// The accepted values, as text.
            public var values: [String]

            /// A condition on a column.
            public init(column: String, values: [String]) { (self.column, self.values) = (column, values) }
        }

        /// An exclusion by the rows of another table.
        public init(table: String, column: String, key: String, condition: Condition? = nil) {
            (self.table, self.column, self.key, self.condition) = (table, column, key, condition)
        }
    }

    /// The table's name in the database.
    public var name: String
    /// The columns of each row, in this order.
    public var columns: [Column]
    /// The tables that rows refer to.
    public var joins: [Join] = []
    /// The rows to leave out.
    public var exclusion: Exclusion?
    /// The names of ``columns`` to sort by. If empty, rows keep the database's order.
    public var order: [String] = []
    /// The name in ``columns`` of the column that identifies the person.
    public var person: String?
    /// Texts that mean a missing value.
    public var empties: [String] = []

    /// A table with its columns.
    public init(name: String, columns: [Column], joins: [Join] = [], person: String? = nil) {
        (self.name, self.columns, self.joins, self.person) = (name, columns, joins, person)
    }
}

/// A database that another program wrote: the tables to read, and the tables and columns to ignore.
public struct ForeignDatabase: Hashable, Sendable {
    /// The tables to read.
    public var tables: [ForeignTable]
    /// The names of tables with settings, keys and the like. A `*` at one end matches any text.
    public var ignoredTables: [String]
    /// The names of columns, in any table, that have no meaning by themselves.
    public var ignoredColumns: [String]

    /// The tables of a database.
    public init(tables: [ForeignTable], ignoredTables: [String] = [], ignoredColumns: [String] = []) {
        (self.tables, self.ignoredTables, self.ignoredColumns) = (tables, ignoredTables, ignoredColumns)
    }

    /// Whether a table is known to contain no readings.
    public func isIgnored(table: String) -> Bool { ignoredTables.contains { Self.fits(table, $0) } }

    /// Whether a column is known to have no meaning by itself.
    public func isIgnored(column: String) -> Bool { ignoredColumns.contains { Self.fits(column, $0) } }

    private static func fits(_ name: String, _ pattern: String) -> Bool {
        if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
        return pattern.hasPrefix("*") ? name.hasSuffix(pattern.dropFirst()) : name == pattern
    }
}
