import HealthModel

/// A table with reports of hubs, and the form in which new rows arrive for it.
struct ReportTable {
    /// The table's name.
    let name: String
    /// The columns that are written, without ``hubs`` and `represents`.
    let columns: [String]
    /// The temporary table of new rows.
    let temporary: String
    /// A SELECT of the new rows in the temporary table, in the form of the table.
    let incoming: String

    /// Whether the table can be partitioned by person.
    var isPartitioned: Bool { name == Self.sample.name }

    /// The table of quantities.
    static let sample = ReportTable(
        name: "sample", columns: CopyRows.columns, temporary: "incoming",
        incoming: "SELECT \(CopyRows.columns.joined(separator: ", ")) FROM incoming")

    /// The table of another kind.
    init(_ table: ObjectTable) {
        self.init(name: table.name, columns: table.names, temporary: "incoming_object", incoming: table.incoming)
    }

    private init(name: String, columns: [String], temporary: String, incoming: String) {
        (self.name, self.columns, self.temporary, self.incoming) = (name, columns, temporary, incoming)
    }

    /// The tables of some kinds of samples.
    static func tables(of kinds: Set<SampleKind>) -> [ReportTable] {
        (kinds.contains(.quantity) ? [sample] : [])
            + ObjectTable.all.filter { kinds.contains($0.kind) }.map { ReportTable($0) }
    }
}
