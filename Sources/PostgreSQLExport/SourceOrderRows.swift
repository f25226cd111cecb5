import HealthModel
import Pipeline

/// The users' orders of sources, by which the statistics of days are computed. Each hub has its own, for the people whose readings it has
/// sent.
///
/// Several hubs can have different orders for one person. Then that which was changed last comes first.
struct SourceOrderRows {
    let schema: String

    /// The statement that creates the table. An empty `person` or `type` means all of them.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).source_order(
            hub integer NOT NULL REFERENCES \(schema).hub, subject text COLLATE "C" NOT NULL DEFAULT '',
            type text COLLATE "C" NOT NULL DEFAULT '', names text[] NOT NULL, told timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY(hub, subject, type));
        """
    }

    private static let columns = "unnest($1::text[], $2::text[], $3::text[]) AS o(subject, type, names)"

    /// Replaces the orders of a hub, and marks the days for which they differ from those before. The locks of the hub and of its people are
    /// held.
    func replace(by orders: [SourceOrder], of hub: Int32, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        let values = [
            NewRows.literal(orders.map { $0.person ?? "" }), NewRows.literal(orders.map { $0.type?.id ?? "" }),
            NewRows.literal(orders.map { NewRows.literal($0.names) }),
        ]
        try connection.run(
            """
            WITH o AS MATERIALIZED (SELECT subject, type, names::text[] AS names FROM \(Self.columns)),
            gone AS (DELETE FROM \(schema).source_order s WHERE hub = \(hub)
                AND NOT EXISTS(SELECT 1 FROM o WHERE o.subject = s.subject AND o.type = s.type) RETURNING subject, type),
            new AS (INSERT INTO \(schema).source_order AS s(hub, subject, type, names)
                SELECT DISTINCT ON (subject, type) \(hub), subject, type, names FROM o
                ON CONFLICT(hub, subject, type) DO UPDATE SET names = excluded.names, told = now()
                    WHERE s.names IS DISTINCT FROM excluded.names RETURNING subject, type),
            changed AS (SELECT * FROM gone UNION SELECT * FROM new)
            INSERT INTO \(schema).day_due(subject, date, type) SELECT DISTINCT d.subject, d.date, d.type FROM changed c
                JOIN \(schema).participant p ON p.hub = \(hub) AND c.subject IN ('', p.subject)
                JOIN \(DayRows.known(in: schema)) d ON d.subject = p.subject AND c.type IN ('', d.type)
                ORDER BY 1, 2, 3 \(DayRows.again)
            """, values)
    }

    /// Marks the days of people of whom a hub has sent the first reading, because its orders are now valid for them.
    func mark(_ people: [String], new hub: Int32, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT d.subject, d.date, d.type FROM \(DayRows.known(in: schema)) d
                WHERE d.subject = ANY($1::text[]) AND EXISTS(SELECT 1 FROM \(schema).source_order WHERE hub = \(hub))
                ORDER BY 1, 2, 3 \(DayRows.again)
            """, [NewRows.literal(people)])
    }

    /// Returns the orders for a person, the most specific first.
    func orders(for person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) -> [SourceOrder] {
        let rows = try connection.run(
            """
            SELECT o.subject, o.type, n.name FROM \(schema).source_order o JOIN \(schema).participant p ON p.hub = o.hub AND p.subject = $1,
                unnest(o.names) WITH ORDINALITY AS n(name, place)
            WHERE o.subject IN ('', $1) ORDER BY o.subject DESC, o.type DESC, o.told DESC, o.hub, n.place
            """, [person])
        var orders: [SourceOrder] = []
        for row in rows {
            guard let person = row[0], let type = row[1], let name = row[2] else { continue }
            let order = SourceOrder(
                person: person.isEmpty ? nil : person, type: type.isEmpty ? nil : SampleType(type), names: [name])
            guard type.isEmpty == (order.type == nil) else { continue }
            if let last = orders.indices.last, orders[last].person == order.person, orders[last].type == order.type {
                let isNew = !orders[last].names.contains(name) && orders[last].names.count < SourceOrder.maximumNames
                if isNew { orders[last].names.append(name) }
            } else {
                orders.append(order)
            }
        }
        return orders
    }
}

extension PostgreSQLExporter: SourceOrderingExporter {
    /// Replaces this hub's orders of sources, and has the days computed again for which they matter.
    package func set(_ orders: [SourceOrder]) throws(DeliveryError) {
        let (connection, hub) = try opened()
        var locks = hubLock
        do throws(DeliveryError) {
            let people = try connection.run("SELECT subject FROM \(schema.name).participant WHERE hub = \(hub)")
            for person in people.compactMap({ $0[0] }) { locks.add(person: person) }
            try connection.run(Self.begin(locks))
            let erased = try PersonErasure.erased(of: Set(orders.compactMap(\.person)), in: schema.name, connection)
            try SourceOrderRows(schema: schema.name).replace(
                by: orders.filter { order in order.person.map { !erased.contains($0) } ?? true }, of: hub, connection)
            try connection.run("COMMIT")
        } catch {
            session.recover(from: error)
            throw error
        }
    }
}
