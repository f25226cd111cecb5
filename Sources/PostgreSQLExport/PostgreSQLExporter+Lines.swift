import Pipeline

/// Reads rows back as lines for `import`. Quantities and categories are complete. The contents of other kinds are in separate
/// columns and cannot be read back.
extension PostgreSQLExporter: ReadableExporter {
    /// The expressions that the rows of both tables share.
    private var shared: String {
        func time(_ column: String) -> String {
            "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
        }
        let zone = """
            CASE WHEN zone_offset IS NOT NULL THEN CASE WHEN zone_offset < 0 THEN '-' ELSE '+' END
                || to_char(abs(zone_offset) / 3600, 'FM00') || ':' || to_char(abs(zone_offset) / 60 % 60, 'FM00')
                || CASE WHEN zone_offset % 60 <> 0 THEN ':' || to_char(abs(zone_offset) % 60, 'FM00') ELSE '' END END
            """
        return """
            'uuid', uuid, 'type', type, 'start', \(time("start_time")), 'end', \(time("end_time")), 'zone', \(zone),
            'subject', subject, 'source', json_build_object('id', source_id, 'name', source_name, 'version', source_version),
            'device', CASE WHEN device_key IS NOT NULL THEN json_build_object('key', device_key, 'name', device_name,
                'manufacturer', device_manufacturer, 'model', device_model, 'serial', device_serial) END,
            'time', json_build_object('origin', time_origin, 'received', \(time("received"))), 'group', group_id, 'metadata', metadata,
            'identity', coalesce(identity, '{}') || jsonb_strip_nulls(jsonb_build_object('subject', subject, 'record',
                CASE WHEN record_id IS NOT NULL THEN jsonb_build_object('id', record_id, 'version', record_version) END))
            """
    }

    /// Passes on the target's contents as NDJSON lines. Returns the number of samples that cannot be read back, by reason.
    package func lines(_ body: ([UInt8]) throws -> Void) throws -> [String: Int] {
        let (connection, hub) = try opened()
        session.end()
        let mine = "WHERE hubs @> ARRAY[\(hub)]"
        try connection.run(
            """
            BEGIN; DECLARE held NO SCROLL CURSOR FOR
            SELECT json_build_object('kind', 'quantity', 'original', json_build_object('value', numeral, 'unit', numeral_unit), \(shared))
                FROM (SELECT * FROM \(schema.name).sample \(mine) UNION ALL
                    SELECT r.* FROM \(schema.name).superseded k, jsonb_populate_record(NULL::\(schema.name).sample, k.content) r
                    WHERE k.hub = \(hub) AND k.place = 'sample') s
            UNION ALL
            SELECT json_build_object('kind', 'category', 'value', value, 'case', value_name, \(shared)) FROM \(schema.name).category \(mine)
            """)
        while true {
            let rows = try connection.run("FETCH 1000 FROM held")
            guard !rows.isEmpty else { break }
            var bytes: [UInt8] = []
            for line in rows.compactMap({ $0[0] }) {
                bytes += line.utf8
                bytes.append(0x0A)
            }
            try body(bytes)
        }
        var left: [String: Int] = [:]
        for table in ObjectTable.all where table.kind != .category {
            let count =
                try connection.run("SELECT count(*) FROM \(schema.name).\(table.name) \(mine)")[0][0].flatMap { Int($0) } ?? 0
            if count > 0 { left[table.kind.name] = count }
        }
        try connection.run("COMMIT")
        return left
    }
}
