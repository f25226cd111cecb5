import FleetProtocol
import FoundationEssentials
import Pipeline
import PostgreSQLExport

/// The tables of a fleet (``FleetSchema``).
package struct FleetDatabase {
    let connection: PostgreSQLConnection
    let schema: String

    /// The tables that an open connection leads to.
    init(_ connection: PostgreSQLConnection, schema: String) { (self.connection, self.schema) = (connection, schema) }

    /// Connects and checks the tables.
    ///
    /// - Parameter timeout: The maximum time in milliseconds for a statement.
    package init(_ settings: PostgreSQLSettings, timeout: Int32 = PostgreSQLConnection.timeout) throws(DeliveryError) {
        self.init(try PostgreSQLConnection(settings, timeout: timeout), schema: settings.schema)
        try FleetSchema(name: schema).check(connection)
    }

    /// Creates the tables, or updates those of an older version. The tables of the readings must exist.
    package static func create(_ settings: PostgreSQLSettings) throws(DeliveryError) -> [Finding] {
        let isNew = try FleetSchema(name: settings.schema).create(try PostgreSQLConnection(settings))
        return [Finding(.good, "fleet", isNew ? "created its tables" : "its tables are complete")]
    }

    /// Runs statements in one transaction.
    func transaction<Result>(_ body: () throws(DeliveryError) -> Result) throws(DeliveryError) -> Result {
        try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        do throws(DeliveryError) {
            let result = try body()
            try connection.run("COMMIT")
            return result
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    // MARK: Enrollment

    /// Stores a code with which one hub can join.
    ///
    /// - Parameters:
    ///   - key: The public key of the code.
    ///   - seconds: The validity.
    ///   - commandKey: The public key that signs commands with its proof, or `nil` if the center gives no commands.
    ///   - sealingKey: The public key for sealed requests with its proof, or `nil` if the center opens none.
    package func add(
        codeWith key: String, name: String, seconds: Int, commandKey: (key: String, proof: String)? = nil,
        sealingKey: (key: String, proof: String)? = nil
    ) throws(DeliveryError) {
        try transaction { () throws(DeliveryError) in
            guard
                try connection.run(
                    "SELECT 1 FROM \(schema).fleet_hub WHERE name = $1 AND revoked IS NULL", [name]
                ).isEmpty
            else {
                throw DeliveryError(.refused, "the fleet already has a hub '\(name)': revoke it first, or choose another name")
            }
            try insert(codeWith: key, name: name, replaces: nil, seconds: seconds, commandKey, sealingKey)
        }
    }

    /// Stores a code with which the store of a known hub can join again, with a new key.
    ///
    /// - Parameter hub: The hub, whose name it keeps.
    package func add(
        codeWith key: String, replacing hub: EnrolledHub, seconds: Int, commandKey: (key: String, proof: String)? = nil,
        sealingKey: (key: String, proof: String)? = nil
    ) throws(DeliveryError) {
        try transaction { () throws(DeliveryError) in
            try insert(codeWith: key, name: hub.name, replaces: hub.id, seconds: seconds, commandKey, sealingKey)
        }
    }

    private func insert(
        codeWith key: String, name: String, replaces: Int?, seconds: Int, _ commandKey: (key: String, proof: String)?,
        _ sealingKey: (key: String, proof: String)?
    ) throws(DeliveryError) {
        // Codes are of no use after their time.
        try connection.run("DELETE FROM \(schema).fleet_code WHERE expires < now() - interval '30 days'")
        try connection.run(
            """
            INSERT INTO \(schema).fleet_code(key, name, expires, command_key, proof, sealing_key, sealing_proof, replaces)
            VALUES($1, $2, now() + make_interval(secs => $3::integer), $4, $5, $6, $7, $8::integer)
            """,
            [
                key, name, "\(seconds)", commandKey?.key, commandKey?.proof, sealingKey?.key, sealingKey?.proof,
                replaces.map { "\($0)" },
            ])
    }

    /// Lets a hub join. A hub that repeats its request, because the reply was lost, gets the same answer.
    ///
    /// A code lets an unknown store join. A known store belongs to the hub that has joined with it, and only a code that the operator has made
    /// for this hub gives it another key. The identifier of a store is not secret: it is in each message of the hub, and in each copy of its
    /// store.
    ///
    /// - Parameter code: The public key of the code.
    /// - Throws: ``DeliveryError`` of the kind `refused` if the code is unknown, expired, or used by another hub, or if the store is another
    ///   hub's. Then the reports of that hub name the copy.
    package func join(_ request: JoinRequest, code: String) throws(DeliveryError) -> JoinReply {
        var copied: (hub: Int, name: String)?
        do throws(DeliveryError) {
            return try transaction { () throws(DeliveryError) in
                let used = try connection.run(
                    """
                    UPDATE \(schema).fleet_code SET used = coalesce(used, now()), used_by = $2
                    WHERE key = $1 AND expires > now() AND (used_by IS NULL OR used_by = $2)
                    RETURNING name, command_key, proof, sealing_key, sealing_proof, replaces
                    """, [code, request.key])
                guard let row = used.first, let name = row[0] else {
                    throw DeliveryError(.refused, "the code is unknown, expired or already used: make another one at the center")
                }
                let known = try connection.run(
                    "SELECT id, name, key = $2, revoked IS NOT NULL FROM \(schema).fleet_hub WHERE store = $1 FOR UPDATE",
                    [request.store, request.key]
                ).first
                if let replaced = row[5] {
                    guard known?[0] == replaced else {
                        throw DeliveryError(.refused, "the code is for the store of '\(name)', and this is another store")
                    }
                    try connection.run(
                        """
                        UPDATE \(schema).fleet_hub SET key = $1, enrolled = now(), revoked = NULL, other_machine = NULL, other_seen = NULL
                        WHERE id = \(replaced)
                        """, [request.key])
                } else if let known, let id = known[0].flatMap({ Int($0) }), let place = known[1] {
                    // Only a repetition of the hub's own request changes nothing.
                    guard known[2] == "t", known[3] == "f", place == name else {
                        if known[3] == "f" { copied = (id, name) }
                        throw DeliveryError(
                            .refused,
                            "this store has joined as '\(place)': run 'vitalgate store adopt' on a copied store. If it is the hub "
                                + "itself, make a code with 'vitalgate fleet replace \(place)' at the center")
                    }
                } else {
                    try enter(request, name: name)
                }
                var reply = JoinReply(name: known?[1] ?? name, commandKey: row[1], proof: row[2])
                (reply.sealingKey, reply.sealingProof, reply.hubKey) = (row[3], row[4], request.key)
                return reply
            }
        } catch {
            if let copied {
                _ = try? connection.run(
                    "UPDATE \(schema).fleet_hub SET other_machine = $1, other_seen = now() WHERE id = \(copied.hub)",
                    ["a copy that tried to join as '\(copied.name)'"])
            }
            throw error
        }
    }

    /// Adds a hub with an unknown store.
    private func enter(_ request: JoinRequest, name: String) throws(DeliveryError) {
        let other = try connection.run("SELECT revoked IS NOT NULL FROM \(schema).fleet_hub WHERE name = $1", [name])
        guard other.first?.first != "f" else { throw DeliveryError(.refused, "the fleet already has a hub of this name") }
        // A new hub can have the name of one that was shut out.
        try connection.run(
            "UPDATE \(schema).fleet_hub SET name = name || ' (revoked ' || id || ')' WHERE name = $1", [name])
        try connection.run(
            "INSERT INTO \(schema).fleet_hub(name, store, key) VALUES($1, $2, $3)", [name, request.store, request.key])
    }

    /// Shuts a hub out. The code that it has used is not valid any more, even within its hour.
    ///
    /// - Returns: Whether the fleet has such a hub that is not shut out yet.
    package func revoke(_ hub: EnrolledHub) throws(DeliveryError) -> Bool {
        try transaction { () throws(DeliveryError) in
            try connection.run(
                "UPDATE \(schema).fleet_code SET expires = now() WHERE used_by = $1 AND expires > now()", [hub.key])
            return try !connection.run(
                "UPDATE \(schema).fleet_hub SET revoked = now() WHERE id = \(hub.id) AND revoked IS NULL RETURNING 1"
            ).isEmpty
        }
    }

    /// The keys that the broker lets in: those of hubs with their stores, and those of valid codes.
    package func keys() throws(DeliveryError) -> (hubs: [(key: String, store: String)], codes: [String]) {
        let hubs = try connection.run("SELECT key, store FROM \(schema).fleet_hub WHERE revoked IS NULL ORDER BY id")
        let codes = try connection.run("SELECT key FROM \(schema).fleet_code WHERE expires > now() ORDER BY made, key")
        return (hubs.map { ($0[0] ?? "", $0[1] ?? "") }, codes.compactMap { $0[0] })
    }

    // MARK: Hubs

    /// Returns the hubs in the order of their names.
    package func hubs() throws(DeliveryError) -> [EnrolledHub] {
        try connection.run(
            """
            WITH seen AS (SELECT f.id, greatest(f.reported, max(p.told)) AS time FROM \(schema).fleet_hub f
                LEFT JOIN \(schema).hub h ON h.store = f.store LEFT JOIN \(schema).progress p ON p.hub = h.id GROUP BY f.id)
            SELECT f.id, f.name, f.store, f.key, f.revoked IS NOT NULL, to_char(f.enrolled, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                extract(epoch FROM now() - seen.time)::bigint, to_char(seen.time, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                f.version, f.last_change, f.waiting, f.quarantined, f.last_order,
                (SELECT count(*) FROM \(schema).fleet_order o WHERE o.hub = f.id AND o.finished IS NULL),
                f.lowest_battery, f.silent_devices, f.stopped, f.epoch, to_char(f.restored, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.machine,
                CASE WHEN f.other_seen > now() - interval '1 day' THEN f.other_machine END,
                to_char(f.other_seen, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), f.sealed
            FROM \(schema).fleet_hub f JOIN seen ON seen.id = f.id ORDER BY f.name
            """
        ).map { row in
            func number(_ index: Int) -> Int? { row[index].flatMap { Int($0) } }
            return EnrolledHub(
                id: number(0) ?? 0, name: row[1] ?? "", store: row[2] ?? "", key: row[3] ?? "", isRevoked: row[4] == "t",
                enrolled: row[5] ?? "", silence: number(6), seen: row[7], version: row[8], lastChange: number(9),
                waiting: number(10), quarantined: number(11), lowestBattery: number(14), silentDevices: number(15),
                isStopped: row[16] == "t", epoch: number(17) ?? 0, restored: row[18], machine: row[19], otherMachine: row[20],
                otherSeen: row[20] == nil ? nil : row[21], isSealed: row[22] == "t",
                lastOrder: number(12) ?? 0, openOrders: number(13) ?? 0)
        }
    }

    /// Stores a hub's report and returns its next order. A hub that has not joined with a code gets none.
    func enter(_ report: HubReport, of store: String, isSealed: Bool = false) throws(DeliveryError) -> [FleetOrder] {
        guard try !isOfCopy(report, of: store) else { return [] }
        let found = try connection.run(
            """
            UPDATE \(schema).fleet_hub SET reported = now(), version = $2, last_change = $3::bigint, waiting = $4::bigint,
                quarantined = $5::bigint, last_order = $6::bigint, lowest_battery = $7::integer, silent_devices = $8::bigint,
                machine = $9, machine_id = $10, stopped = $11::boolean, sealed = $13::boolean,
                epoch = epoch + CASE WHEN restored IS DISTINCT FROM to_timestamp($12::float8 / 1000000) THEN 1 ELSE 0 END
                    * CASE WHEN $12 IS NULL THEN 0 ELSE 1 END,
                restored = coalesce(to_timestamp($12::float8 / 1000000), restored) WHERE store = $1 RETURNING id
            """,
            [
                store, report.version, "\(report.lastChange)", "\(report.waiting)", "\(report.quarantined)", "\(report.order)",
                report.lowestBattery.map { "\($0)" }, report.silentDevices.map { "\($0)" },
                report.machine?.name, report.machine?.id, report.isStopped == true ? "t" : "f", report.restored.map { "\($0)" },
                isSealed ? "t" : "f",
            ])
        guard let id = found.first?.first?.flatMap({ Int($0) }) else { return [] }
        if let result = report.result {
            try connection.run(
                """
                UPDATE \(schema).fleet_order SET finished = now(), code = $2::integer, output = $3
                WHERE hub = \(id) AND number = $1::bigint AND finished IS NULL
                """, ["\(report.order)", "\(Int32(clamping: result.code))", result.output])
        }
        if let refused = report.refused {
            try connection.run(
                """
                UPDATE \(schema).fleet_order SET finished = coalesce(finished, now()), refused = true
                WHERE hub = \(id) AND number = $1::bigint
                """, ["\(refused)"])
        }
        return try connection.run(
            """
            SELECT number, kind, array_to_json(arguments), signature FROM \(schema).fleet_order
            WHERE hub = \(id) AND number > $1::bigint AND NOT refused ORDER BY number LIMIT 1
            """, ["\(report.order)"]
        ).map { row in
            let arguments = row[2].flatMap { try? JSONDecoder().decode([String].self, from: Data($0.utf8)) }
            var order = FleetOrder(number: row[0].flatMap { Int64($0) } ?? 0, kind: row[1] ?? "", arguments: arguments ?? [])
            order.signature = row[3]
            return order
        }
    }

    /// Records a report of a machine that is not the one that feeds the database from this store.
    ///
    /// - Returns: whether the report comes from a copy of the store. It does not count as the hub's, and gets no orders.
    private func isOfCopy(_ report: HubReport, of store: String) throws(DeliveryError) -> Bool {
        guard let machine = report.machine, !machine.id.isEmpty else { return false }
        // The marks of the deliveries decide which machine is the hub's. Each claims its mark before it delivers.
        return try !connection.run(
            """
            UPDATE \(schema).fleet_hub f SET other_machine = $3, other_seen = now() FROM \(schema).hub h
            WHERE f.store = $1 AND h.store = f.store
                AND EXISTS(SELECT 1 FROM \(schema).progress p WHERE p.hub = h.id AND p.holder <> '')
                AND NOT EXISTS(SELECT 1 FROM \(schema).progress p WHERE p.hub = h.id AND p.holder = $2) RETURNING 1
            """, [store, machine.id, machine.name]
        ).isEmpty
    }

    // MARK: Orders

    /// Adds an order after all others of a hub.
    ///
    /// - Parameter sign: Signs the order, which has its number.
    /// - Returns: Its number.
    package func add(
        _ kind: FleetOrder.Kind, _ arguments: [String], for hub: EnrolledHub, sign: (inout FleetOrder) -> Void
    ) throws(DeliveryError) -> Int64 {
        guard let json = try? JSONEncoder().encode(arguments) else { throw DeliveryError(.refused, "the arguments are not text") }
        return try transaction { () throws(DeliveryError) in
            // Two at the same time would get the same number.
            let last = try connection.run("SELECT last_order FROM \(schema).fleet_hub WHERE id = \(hub.id) FOR UPDATE")
            let given = try connection.run("SELECT max(number) FROM \(schema).fleet_order WHERE hub = \(hub.id)")
            guard let text = last.first?[0], let done = Int64(text) else { throw DeliveryError(.refused, "the hub is gone") }
            let (number, isTooLarge) = max(done, given.first?[0].flatMap { Int64($0) } ?? 0).addingReportingOverflow(1)
            guard !isTooLarge else { throw DeliveryError(.refused, "the table fleet_order has a row with an impossible number") }
            var order = FleetOrder(number: number, kind: kind.rawValue, arguments: arguments)
            sign(&order)
            try connection.run(
                """
                INSERT INTO \(schema).fleet_order(hub, number, kind, arguments, signature)
                VALUES(\(hub.id), \(number), $1, ARRAY(SELECT json_array_elements_text($2::json)), $3)
                """, [order.kind, String(decoding: json, as: UTF8.self), order.signature])
            return number
        }
    }

    /// Returns the last orders of a hub, the newest first.
    package func orders(of hub: EnrolledHub, limit: Int) throws(DeliveryError) -> [RecordedOrder] {
        try connection.run(
            """
            SELECT number, kind, to_char(made, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), to_char(finished, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), code,
                output, refused FROM \(schema).fleet_order WHERE hub = \(hub.id) ORDER BY number DESC LIMIT \(limit)
            """
        ).map { row in
            RecordedOrder(
                number: row[0].flatMap { Int64($0) } ?? 0, kind: row[1] ?? "", made: row[2] ?? "", finished: row[3],
                code: row[4].flatMap { Int($0) }, output: row[5] ?? "", isRefused: row[6] == "t")
        }
    }
}
