/// Rows that are wanted of another program's database: of one table, or of one and a second that it refers to.
///
///     ForeignTable(name: "heart_rate_record_series_table", columns: [.init("rate", is: "beats_per_minute"), .init("time", is: "epoch_millis")])
public struct ForeignTable: Hashable, Sendable {
    /// A column that is wanted.
    public struct Column: Hashable, Sendable {
        /// Under which it is handed on.
        public var name: String
        /// As the database calls it.
        public var column: String
        /// Whether it is the second table's.
        public var isOfJoined: Bool
        /// Whether the rows are worth nothing without it.
        public var isRequired: Bool

        /// A column by its names.
        public init(_ name: String, is column: String, isOfJoined: Bool = false, isRequired: Bool = true) {
            (self.name, self.column, self.isOfJoined, self.isRequired) = (name, column, isOfJoined, isRequired)
        }
    }

    /// The second table, and the columns of both that are equal.
    public struct Join: Hashable, Sendable {
        /// The second table.
        public var table: String
        /// Of the first table.
        public var column: String
        /// Of the second table.
        public var key: String

        /// A second table by its name.
        public init(table: String, column: String, key: String) {
            (self.table, self.column, self.key) = (table, column, key)
        }
    }

    /// As the database calls it.
    public var name: String
    /// What each row has, in this order.
    public var columns: [Column]
    /// A table that rows refer to.
    public var join: Join?
    /// Of `columns`, the one that says whose the row is.
    public var person: String?

    /// Rows of a table.
    public init(name: String, columns: [Column], join: Join? = nil, person: String? = nil) {
        (self.name, self.columns, self.join, self.person) = (name, columns, join, person)
    }
}
