import Pipeline
import PostgreSQLExport

/// The tables of a fleet, as numbered steps. Steps are only ever added. They are in the schema of the readings, which exists before.
///
/// - `fleet_hub`: the enrolled hubs, and the last report of each.
/// - `fleet_code`: codes with which a hub can join, by their public keys.
/// - `fleet_order`: the desired state of each hub, as numbered commands with their results.
struct FleetSchema {
    let name: String

    /// The number that locks changes of these tables: "VGFL".
    private static let lock = 0x5647_464C

    private var steps: [String] {
        [
            """
            CREATE TABLE \(name).fleet_hub(
                id serial PRIMARY KEY, name text NOT NULL UNIQUE, store text NOT NULL UNIQUE, key text NOT NULL UNIQUE,
                enrolled timestamptz NOT NULL DEFAULT now(), revoked timestamptz, reported timestamptz, version text,
                last_change bigint, waiting bigint, quarantined bigint, last_order bigint NOT NULL DEFAULT 0, lowest_battery integer,
                silent_devices bigint, machine text, machine_id text, stopped boolean NOT NULL DEFAULT false,
                sealed boolean NOT NULL DEFAULT false,
                epoch integer NOT NULL DEFAULT 0, restored timestamptz, other_machine text, other_seen timestamptz);
            CREATE TABLE \(name).fleet_code(
                key text PRIMARY KEY, name text NOT NULL, made timestamptz NOT NULL DEFAULT now(), expires timestamptz NOT NULL,
                used timestamptz, used_by text, command_key text, proof text, sealing_key text, sealing_proof text,
                replaces integer REFERENCES \(name).fleet_hub);
            CREATE TABLE \(name).fleet_order(
                hub integer NOT NULL REFERENCES \(name).fleet_hub, number bigint NOT NULL, kind text NOT NULL,
                arguments text[] NOT NULL, made timestamptz NOT NULL DEFAULT now(), finished timestamptz, code integer,
                output text, signature text, refused boolean NOT NULL DEFAULT false, PRIMARY KEY(hub, number))
            """
        ]
    }

    private static let tables = [
        "fleet_version": "The steps by which the tables of the fleet were made.",
        "fleet_hub": "The hubs of the fleet, with the last report of each. Change it with 'vitalgate fleet'.",
        "fleet_code": "Codes with which one hub each can join the fleet. The code itself is not here.",
        "fleet_order": "Commands for hubs. A hub carries them out in the order of their numbers.",
    ]

    /// The comments on columns, by table.
    private static let columns = [
        "fleet_version": ["number": "Its number.", "made": "When the step was done."],
        "fleet_hub": [
            "id": "Its number.", "name": "Its name.", "store": "The identifier of its store, as in the table hub.",
            "key": "Its public NKey. The hub keeps the seed.", "enrolled": "When it joined the fleet.",
            "revoked": "Since when it is shut out, or NULL.", "reported": "The time of its last report.",
            "version": "The version of its software.", "last_change": "The number of the last change in its store.",
            "waiting": "The number of changes that waited for delivery.",
            "quarantined": "The number of its readings in quarantine.",
            "last_order": "The number of the last order that it has carried out.",
            "lowest_battery": "The lowest battery level of its devices in percent, or NULL.",
            "silent_devices": "The number of its devices without a reading for a day, or NULL.",
            "machine": "The name of its machine and the path of its store.",
            "machine_id": "The identifier of its machine and path.",
            "stopped": "Whether its delivery has stopped until a user acts.", "sealed": "Whether its last report was sealed.",
            "epoch": "How often its store or this database was restored from a backup.",
            "restored": "When the hub noticed the last restoration.",
            "other_machine":
                "The machine that has reported from a copy of its store, or the copy that has tried to join, or NULL.",
            "other_seen": "When that machine has last reported.",
        ],
        "fleet_code": [
            "key": "The public key of the code.", "name": "The name that the hub gets.", "made": "When the code was made.",
            "expires": "Until when it is valid.", "used": "When a hub used it, or NULL.",
            "used_by": "The public NKey of the hub that used it.",
            "command_key": "The public key that signs commands, or NULL.",
            "proof": "The proof that command_key comes from the person who made the code.",
            "sealing_key": "The public key for which the hub seals its requests, or NULL.",
            "replaces": "The hub whose store gets a new key with it, or NULL for a code of a new hub.",
            "sealing_proof": "The proof that sealing_key comes from the person who made the code.",
        ],
        "fleet_order": [
            "hub": "The hub, by its number in the table fleet_hub.", "number": "Its number, counted for each hub.",
            "kind": "The command, such as adopt.", "arguments": "The arguments of the command.",
            "made": "When it was given.", "finished": "When its result arrived, or NULL.",
            "code": "The exit status of the command on the hub, 0 if it succeeded.",
            "output": "Counts that the command has printed, as JSON.",
            "signature": "The signature of the hub, number, kind and arguments, in base 32.",
            "refused": "Whether the hub has refused it because the signature is not valid.",
        ],
    ]

    /// Creates the tables, or updates those of an older version.
    ///
    /// - Returns: whether anything was created.
    func create(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(\(Self.lock))")
        do throws(DeliveryError) {
            try connection.run(
                """
                CREATE TABLE IF NOT EXISTS \(name).fleet_version(
                    number integer PRIMARY KEY, made timestamptz NOT NULL DEFAULT now())
                """)
            let found = try version(connection)
            for number in found..<max(found, steps.count) {
                try connection.run(steps[number] + ";INSERT INTO \(name).fleet_version(number) VALUES(\(number + 1))")
            }
            try connection.run(comments.joined(separator: ";"))
            try connection.run("COMMIT")
            return found < steps.count
        } catch {
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }

    /// - Throws: ``DeliveryError`` unless the tables have this version.
    func check(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        let isThere = try connection.run("SELECT to_regclass($1)", ["\(name).fleet_version"])[0][0] != nil
        let found = isThere ? try version(connection) : 0
        guard found >= steps.count else {
            throw DeliveryError(
                .unfit, "the schema '\(name)' has no tables of a fleet, or older ones: run '\(Collector.creation)' to create them"
            )
        }
        guard found == steps.count else {
            throw DeliveryError(.unfit, "the tables of the fleet were created by a newer Vitalgate: update this one")
        }
    }

    private func version(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Int {
        try connection.run("SELECT coalesce(max(number), 0) FROM \(name).fleet_version").first?.first?.flatMap { Int($0) } ?? 0
    }

    private var comments: [String] {
        let tables = Self.tables.sorted { $0.key < $1.key }
        return tables.map { "COMMENT ON TABLE \(name).\($0.key) IS '\(Self.escaped($0.value))'" }
            + tables.flatMap { table in
                (Self.columns[table.key] ?? [:]).sorted { $0.key < $1.key }.map {
                    "COMMENT ON COLUMN \(name).\(table.key).\($0.key) IS '\(Self.escaped($0.value))'"
                }
            }
    }

    private static func escaped(_ text: String) -> String { text.replacing("'", with: "''") }
}
