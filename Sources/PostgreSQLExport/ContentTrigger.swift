import Pipeline

/// Triggers that forget the hash of a row if another program changes its content, so that a comparison finds the row. The hubs, the time of
/// receipt, and the version of a record are not part of the hash.
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
                AS $f$ BEGIN
                    OLD.hubs := NEW.hubs; OLD.represents := NEW.represents; OLD.received := NEW.received;
                    OLD.record_version := NEW.record_version;
                    IF OLD *<> NEW THEN NEW.print := 0; END IF;
                    RETURN NEW;
                END $f$
            """)
        let partitions = try connection.run(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'r' AND (c.oid = $1::regclass OR c.oid IN (SELECT relid FROM pg_partition_tree($1))) AND NOT EXISTS(
                SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'forget_print')
            """, ["\(schema).sample"]
        ).compactMap { $0[0] }
        for table in partitions { try create(on: table, connection) }
        for table in ObjectTable.all {
            let name = "\(schema).\(table.name)"
            let isThere = try !connection.run(
                "SELECT 1 FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = 'forget_print'", [name]
            ).isEmpty
            if !isThere { try create(on: name, connection) }
        }
    }

    /// The trigger names only its own column, so that an administrator can change the type of any other.
    private func create(on table: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            CREATE TRIGGER forget_print BEFORE UPDATE ON \(table) FOR EACH ROW WHEN (OLD.print = NEW.print)
                EXECUTE FUNCTION \(schema).forget_print()
            """)
    }
}
