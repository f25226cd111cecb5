import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// A store of every earlier schema is brought up to date, and keeps what it holds.
@Suite struct SchemaTests {
    /// A store as the first `version` steps make it, with three samples written as that version wrote them.
    private static func store(version: Int, at path: String) throws {
        try #require(creat(path, 0o600) >= 0)
        let connection = try Connection(path: path, writable: true)
        let creation = SampleStore.Creation(subject: TestStore.subject, time: 0)
        try SampleStore.upgrade(connection, creation: creation, steps: Array(Schema.steps[..<version]))
        try connection.execute(
            """
            INSERT INTO series(id, subject, type, source, device, longest) VALUES(1, '\(TestStore.subject)', 'heartRate', 'test', '', 0);
            INSERT INTO origin(id, source_name) VALUES(1, 'Test');
            INSERT INTO context(id, origin, unit, zone, time_origin, skew) VALUES(1, 1, '/min', 0, 0, 0);
            INSERT INTO ingest(id, kind, received, state, stored) VALUES(1, 'import', 1795156260000000, 'done', 3);
            INSERT INTO change VALUES(1, 1, 3, 0, 1795000000000000, 1795000002000000, 1, 1);
            UPDATE setting SET value = 3 WHERE name = 'seq';
            """)
        for index in 0..<3 {
            let start = 1_795_000_000_000_000 + Int64(index) * 1_000_000
            try connection.run(
                "INSERT INTO sample(series, start, hash, value, context, seq) VALUES(1, ?, ?, ?, 1, ?)", .integer(start),
                .blob(try hash(start: start, value: Int64(60 + index), source: "test")), .real(Double(60 + index)),
                .integer(Int64(index + 1)))
        }
    }

    /// The hash of a heart rate.
    private static func hash(start: Int64, value: Int64, source: String) throws -> [UInt8] {
        let type = try #require(SampleType("heartRate"))
        let key = SeriesKey(subject: TestStore.subject, type: type, source: source, device: "")
        let identity = SampleIdentity(
            series: key, start: start, end: start, numeral: Numeral(coefficient: value), unit: type.canonicalUnit, ordinal: 0)
        return identity.storedHash
    }

    @Test(arguments: 1...Schema.steps.count)
    func everyEarlierSchemaIsBroughtUp(version: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.store(version: version, at: path)

        let store = try SampleStore(path: path, access: .write)
        #expect(try store.summary().schema == Schema.steps.count)
        #expect(try store.summary().samples == 3)
        #expect(try store.check() == [])
        #expect(try store.adoptedDevices() == [])
    }

    /// What a process leaves that is killed while it makes a store is an empty file, of which the next one makes a store.
    @Test func aStoreIsMadeWhole() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try #require(creat(path, 0o600) >= 0)
        let creation = SampleStore.Creation(subject: TestStore.subject, time: 0)
        for failing in 1..<Schema.steps.count {
            let connection = try Connection(path: path, writable: true)
            let steps = Schema.steps[..<failing] + [("fails", "CREATE TABLE sample(id)")]
            #expect(throws: StoreError.self) {
                try SampleStore.upgrade(connection, creation: creation, steps: Array(steps))
            }
            #expect(try connection.integer("PRAGMA user_version") == 0)
        }
        #expect(try SampleStore(path: path, access: .write, creation: creation).summary().schema == Schema.steps.count)
        #expect(try SampleStore(path: path, access: .read).summary().samples == 0)
    }

    /// Witnesses that an index of all of them found: beside their firsts, seconds and a minute away.
    @Test(arguments: 4...8) func witnessesOfAnEarlierSchema(version: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.store(version: version, at: path)
        let connection = try Connection(path: path, writable: true)
        try connection.execute(
            """
            INSERT INTO series(id, subject, type, source, device) VALUES(2, '\(TestStore.subject)', 'heartRate', 'other', '');
            UPDATE ingest SET duplicate = 3, witnesses = 3;
            """)
        for index in 0..<3 {
            let start = 1_795_000_000_000_000 + Int64(index) * 1_000_000 + [0, 5_000_000, 60_000_000][index]
            try connection.run(
                """
                INSERT INTO witness(series, start, hash, value, context, ingest, of_series, of_start, of_hash, rule)
                SELECT 2, ?, ?, value, context, 1, series, start, hash, 'stream' FROM sample WHERE seq = ?
                """, .integer(start), .blob(try Self.hash(start: start, value: Int64(60 + index), source: "other")),
                .integer(Int64(index + 1)))
        }

        let store = try SampleStore(path: path, access: .write)
        #expect(try store.check() == [])
        let told = try store.witnesses(of: 1, limit: 9)
        #expect(told.count == 3)
        for (witness, first, _) in told {
            #expect(try store.explain(first)?.witnesses.map(\.other.uuid) == [witness])
        }
    }

    /// What was decided of each witness stays so where it is kept once for many.
    @Test func decisionsOfAnEarlierSchema() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.store(version: 8, at: path)
        let connection = try Connection(path: path, writable: true)
        for (index, (ingest, rule, standsIn, withdrawn)) in [
            (1, "stream", 0, "NULL"), (1, "stream", 0, "NULL"), (1, "stream", 1, "NULL"), (1, "interval", 0, "NULL"),
            (1, "stream", 0, "3"), (1, "stream", 0, "4"), (2, "stream", 0, "NULL"), (2, "stream", 1, "4"),
        ].enumerated() {
            try connection.execute(
                """
                INSERT INTO witness(series, start, hash, value, numeral, context, duration, received, grp, metadata, ingest, of_series,
                    of_start, of_hash, rule, stands_in, withdrawn)
                VALUES(\(index % 3), \(index), x'0\(index)', 60.5, '60.50', 1, 7, NULL, 8, NULL, \(ingest), \(index / 4), \(index + 9),
                    x'1\(index)', '\(rule)', \(standsIn), \(withdrawn))
                """)
        }
        let rows = """
            SELECT group_concat(quote(series) || quote(start) || quote(hash) || quote(value) || quote(numeral) || quote(context)
                || quote(duration) || quote(received) || quote(grp) || quote(metadata) || quote(ingest) || quote(of_series)
                || quote(of_start) || quote(of_hash) || quote(rule) || quote(stands_in) || quote(withdrawn), ' ')
            FROM (SELECT * FROM witness ORDER BY start)
            """
        let before = try #require(try connection.text(rows))

        try SampleStore.upgrade(connection, creation: nil, steps: Array(Schema.steps[..<9]))
        #expect(try connection.text(rows) == before)
        #expect(try connection.integer("SELECT count(*) FROM decision") == 7)
    }

    @Test func readerSaysThatAnOlderSchemaHasToBeBroughtUp() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        try Self.store(version: 1, at: path)
        let error = thrown(StoreError.self) { _ = try SampleStore(path: path, access: .read) }
        #expect(error?.message.contains("older schema") == true)
    }

    @Test func devicesAreAdoptedForgottenAndMerged() throws {
        try TestStore.with { test in
            let store = try test.store
            var strap = AdoptedDevice(
                address: "bluetooth:C0:01:02:03:04:01", key: "bluetooth:C0:01:02:03:04:01", profiles: ["sig-heart-rate"],
                name: "Strap",
                subject: store.subject, adopted: 1)
            try store.save(strap)
            strap.device = Device(key: "Maker/Strap/123", manufacturer: "Maker", model: "Strap", serial: "123")
            strap.key = "Maker/Strap/123"
            strap.lastRecord = AdoptedDevice.LastRecord(number: 65_535, fingerprint: .min, count: 500)
            try store.save(strap)
            #expect(try store.adoptedDevices() == [strap])

            try store.merge(device: "c", into: "b")
            try store.merge(device: "b", into: "a")
            #expect(try store.aliases() == ["c": "a", "b": "a"])
            #expect(thrown(StoreError.self) { try store.merge(device: "a", into: "c") }?.kind == .invalid)
            #expect(thrown(StoreError.self) { try store.merge(device: "a", into: "a") }?.kind == .invalid)

            try store.forget(device: strap.address)
            #expect(try store.adoptedDevices().isEmpty)
            #expect(thrown(StoreError.self) { try store.forget(device: strap.address) }?.kind == .invalid)
        }
    }
}
