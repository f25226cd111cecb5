/// Rows that are wanted of another program's database: of one table, and of others that it refers to.
///
///     ForeignTable(name: "heart_rate_record_series_table", columns: [.init("rate", is: "beats_per_minute"), .init("time", is: "epoch_millis")])
public struct ForeignTable: Hashable, Sendable {
    /// A column that is wanted.
    public struct Column: Hashable, Sendable {
        /// Under which it is handed on.
        public var name: String
        /// As the database calls it.
        public var column: String
        /// Which of ``ForeignTable/joins`` it belongs to; `nil` for the table itself.
        public var join: Int?
        /// Whether the rows are worth nothing without it.
        public var isRequired: Bool
        /// Whether it has octets, which are handed on as hexadecimal digits.
        public var isOctets: Bool

        /// A column by its names.
        public init(_ name: String, is column: String, join: Int? = nil, isRequired: Bool = true, isOctets: Bool = false) {
            (self.name, self.column, self.join) = (name, column, join)
            (self.isRequired, self.isOctets) = (isRequired, isOctets)
        }
    }

    /// Another table, and the columns of both that are equal.
    public struct Join: Hashable, Sendable {
        /// The other table.
        public var table: String
        /// Which of the joins in front of it has ``column``; `nil` for the table itself.
        public var from: Int?
        /// Of the table that refers to it.
        public var column: String
        /// Of the other table.
        public var key: String

        /// Another table by its name.
        public init(table: String, from: Int? = nil, column: String, key: String) {
            (self.table, self.from, self.column, self.key) = (table, from, column, key)
        }
    }

    /// Rows that are read elsewhere: those to which a row of another table refers.
    public struct Exclusion: Hashable, Sendable {
        /// The other table.
        public var table: String
        /// Of the table itself.
        public var column: String
        /// Of the other table.
        public var key: String
        /// A column of the other table, and which of its values count; any row counts where there is none.
        public var condition: Condition?

        /// A column that has one of some values.
        public struct Condition: Hashable, Sendable {
            /// As the database calls it.
            public var column: String
            /// As texts.
            public var values: [String]

            /// A column and its values.
            public init(column: String, values: [String]) { (self.column, self.values) = (column, values) }
        }

        /// The rows of another table.
        public init(table: String, column: String, key: String, condition: Condition? = nil) {
            (self.table, self.column, self.key, self.condition) = (table, column, key, condition)
        }
    }

    /// As the database calls it.
    public var name: String
    /// What each row has, in this order.
    public var columns: [Column]
    /// Tables that rows refer to.
    public var joins: [Join] = []
    /// Rows that are left out.
    public var exclusion: Exclusion?
    /// Of ``columns``, those that rows come sorted by; in the order in which they lie there where there are none.
    public var order: [String] = []
    /// Of ``columns``, the one that says whose the row is.
    public var person: String?
    /// Texts that stand for no value.
    public var empties: [String] = []

    /// Rows of a table.
    public init(name: String, columns: [Column], joins: [Join] = [], person: String? = nil) {
        (self.name, self.columns, self.joins, self.person) = (name, columns, joins, person)
    }
}

/// A database that another program wrote: what is wanted of it, and what has no readings.
public struct ForeignDatabase: Hashable, Sendable {
    /// What is wanted.
    public var tables: [ForeignTable]
    /// Names of tables with settings, keys and the like; `*` at one end stands for any text.
    public var ignoredTables: [String]
    /// Names of columns, of whatever table, that tell nothing by themselves.
    public var ignoredColumns: [String]

    /// Tables of a database.
    public init(tables: [ForeignTable], ignoredTables: [String] = [], ignoredColumns: [String] = []) {
        (self.tables, self.ignoredTables, self.ignoredColumns) = (tables, ignoredTables, ignoredColumns)
    }

    /// Whether a table has no readings.
    public func isIgnored(table: String) -> Bool { ignoredTables.contains { Self.fits(table, $0) } }

    /// Whether a column tells nothing by itself.
    public func isIgnored(column: String) -> Bool { ignoredColumns.contains { Self.fits(column, $0) } }

    private static func fits(_ name: String, _ pattern: String) -> Bool {
        if pattern.hasSuffix("*") { return name.hasPrefix(pattern.dropLast()) }
        return pattern.hasPrefix("*") ? name.hasSuffix(pattern.dropFirst()) : name == pattern
    }
}
