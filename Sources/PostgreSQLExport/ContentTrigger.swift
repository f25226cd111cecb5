import Pipeline

/// Triggers that forget the hash of a row if another program changes its content, so that a comparison finds the row.
///
/// Each partition on this server has its own. A trigger of the whole table would make PostgreSQL fetch each row from another server to
/// change it.
struct ContentTrigger {
    let schema: String

    /// Creates them where they are missing.
    func create(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            CREATE OR REPLACE FUNCTION \(schema).forget_print() RETURNS trigger LANGUAGE plpgsql
                AS $f$ BEGIN NEW.print := 0; RETURN NEW; END $f$
            """)
        let partitions = try connection.run(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND (c.oid = $1::regclass OR c.oid IN (SELECT relid FROM pg_partition_tree($1))) AND NOT EXISTS(
                SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'forget_print')
            """, ["\(schema).sample"]
        ).compactMap { $0[0] }
        for table in partitions { try create(on: table, CopyRows.columns, connection) }
        for table in ObjectTable.all {
            let name = "\(schema).\(table.name)"
            let isThere = try !connection.run(
                "SELECT 1 FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = 'forget_print'", [name]
            ).isEmpty
            if !isThere { try create(on: name, table.names, connection) }
        }
    }

    private func create(on table: String, _ columns: [String], _ connection: PostgreSQLConnection) throws(DeliveryError) {
        let content = columns.filter { !["received", "print"].contains($0) }
        func row(_ name: String) -> String { "(" + content.map { "\(name).\($0)" }.joined(separator: ", ") + ")" }
        try connection.run(
            """
            CREATE TRIGGER forget_print BEFORE UPDATE ON \(table) FOR EACH ROW
                WHEN (OLD.print = NEW.print AND \(row("OLD")) IS DISTINCT FROM \(row("NEW"))) EXECUTE FUNCTION \(schema).forget_print()
            """)
    }
}
