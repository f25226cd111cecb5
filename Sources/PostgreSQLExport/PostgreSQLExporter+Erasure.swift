import HealthModel
import Pipeline

/// Withdraws all reports of this hub about a person, also those that the hub does not know any more.
extension PostgreSQLExporter: ErasingExporter {
    package func erase(person: String) throws(DeliveryError) {
        let (connection, hub) = try opened()
        let name = schema.name
        var locks = hubLock
        locks.add(person: person)
        let tables = ReportTable.tables(of: Set(SampleKind.allCases))
        let reported =
            tables.map { "SELECT uuid, type, subject FROM \(name).\($0.name) WHERE subject = $1 AND hubs @> ARRAY[\(hub)]" }
            + ["SELECT held, '', subject FROM \(name).superseded WHERE subject = $1 AND hub = \(hub)"]
        do throws(DeliveryError) {
            try connection.run(Self.begin(locks))
            try connection.run(
                "INSERT INTO gone(uuid, type, subject) SELECT DISTINCT ON (1) * FROM (\(reported.joined(separator: " UNION ALL "))) r",
                [person])
            try connection.run(withdrawal(of: tables, hub, hasReports: true).joined(separator: ";"))
            // Not even deletions with their types and times stay.
            for table in ["deletion", "participant", "source_order"] {
                try connection.run("DELETE FROM \(name).\(table) WHERE subject = $1 AND hub = \(hub)", [person])
            }
            // A copy has the reports of all hubs together. The next one has those of the others again.
            try StudyCopy(schema: name).remove(person, connection)
            let others = try connection.run("SELECT 1 FROM \(name).participant WHERE subject = $1 LIMIT 1", [person])
            if others.isEmpty {
                for table in DayRows.tables { try connection.run("DELETE FROM \(name).\(table) WHERE subject = $1", [person]) }
            } else {
                try days.markAll(of: person, connection)
            }
            try connection.run("COMMIT")
        } catch {
            session.recover(from: error)
            throw error
        }
    }
}
