import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Schema version 1 never changes, and an older store is upgraded by later steps.
@Suite struct SchemaTests {
    private static let creation = SampleStore.Creation(person: TestStore.person, time: 0)

    /// A later version's steps, which add a column and fill it.
    private static let later =
        Schema.steps + [
            Schema.Step(name: "made up", sql: "ALTER TABLE series ADD COLUMN samples INTEGER NOT NULL DEFAULT 0;"),
            Schema.Step(
                name: "made up, too",
                sql: "UPDATE series SET samples = (SELECT count(*) FROM sample WHERE sample.series = series.id);"),
        ]

    /// An empty file for a store.
    private static func file(in folder: TemporaryFolder) throws -> String {
        let path = folder.file("store.db")
        try #require(creat(path, 0o600) >= 0)
        return path
    }

    /// The hash of the tables, indexes, and views of version 1, without white space, and of the first rows.
    ///
    /// If this test fails, version 1 was changed in place. Stores of release 0.1.0 would not get the change. Undo it, and add a step to
    /// `Schema.steps` instead.
    @Test func versionOneIsNeverChanged() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(path: try Self.file(in: folder), writable: true)
        try SampleStore.upgrade(connection, creation: Self.creation, steps: [Schema.steps[0]])
        var lines: [String] = []
        for query in [
            "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY type, name",
            "SELECT name || ' ' || value FROM setting WHERE name <> 'store' ORDER BY name",
            "SELECT 'epoch ' || first_seq FROM epoch",
        ] {
            let statement = try Statement(connection, query)
            while try statement.step() {
                let words = statement.text(0).split(whereSeparator: \.isWhitespace).joined(separator: " ")
                lines.append(words.replacing("( ", with: "(").replacing(" )", with: ")"))
            }
        }
        let text = lines.joined(separator: "\n")
        #expect(StableHash.hash(text) == 0x1C89_6145_375B_FAC4, "\(text)")
        #expect(try connection.integer("PRAGMA user_version") == 1)
        #expect(try connection.integer("PRAGMA application_id") == 0x5647_4154)
        #expect(try connection.integer("PRAGMA auto_vacuum") == 0)
    }

    @Test func stepsHaveNames() {
        #expect(Set(Schema.steps.map(\.name)).count == Schema.steps.count)
    }

    /// If a process is killed while it creates a store, the file stays empty, and the next process creates the store.
    @Test func aStoreIsCreatedAsAWhole() throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(in: folder)
        for count in 1...Self.later.count {
            let connection = try Connection(path: path, writable: true)
            let steps = Self.later[..<count] + [Schema.Step(name: "fails", sql: "CREATE TABLE sample(id)")]
            #expect(throws: StoreError.self) {
                try SampleStore.upgrade(connection, creation: Self.creation, steps: Array(steps))
            }
            #expect(try connection.integer("PRAGMA user_version") == 0)
            #expect(try connection.integer("SELECT count(*) FROM sqlite_master") == 0)
        }
        #expect(try SampleStore(path: path, access: .write, creation: Self.creation).summary().schema == Schema.steps.count)
        #expect(try SampleStore(path: path, access: .read).summary().samples == 0)
    }

    /// A later version upgrades the store when it writes. Its data stays, and an older program refuses it from then on.
    @Test func anOlderStoreIsUpgraded() throws {
        let test = try TestStore()
        try test.keep(try (0..<3).map { try SampleMaker()("\(60 + $0)", at: Double($0)) })
        let lines = try test.lines()
        try test.close()

        let reader = try Connection(path: test.path, writable: false)
        let error = thrown(StoreError.self) {
            try SampleStore.prepare(reader, access: .read, creation: nil, steps: Self.later)
        }
        #expect(error?.message.contains("older schema") == true)

        // A step that fails changes nothing, and the steps before it stay.
        let writer = try Connection(path: test.path, writable: true)
        let failing = Self.later.dropLast() + [Schema.Step(name: "fails", sql: "DELETE FROM sample; CREATE TABLE sample(id)")]
        #expect(throws: StoreError.self) {
            try SampleStore.prepare(writer, access: .write, creation: nil, steps: Array(failing))
        }
        #expect(try writer.integer("PRAGMA user_version") == Int64(Self.later.count - 1))
        #expect(try writer.integer("SELECT count(*) FROM sample") == 3)

        try SampleStore.prepare(writer, access: .write, creation: nil, steps: Self.later)
        #expect(try writer.integer("PRAGMA user_version") == Int64(Self.later.count))
        #expect(try writer.integer("SELECT samples FROM series") == 3)
        try SampleStore.prepare(reader, access: .read, creation: nil, steps: Self.later)

        for access in [SampleStore.Access.read, .write] {
            let refusal = thrown(StoreError.self) { _ = try SampleStore(path: test.path, access: access) }
            #expect(refusal?.kind == .newer)
            #expect(refusal?.message.contains("schema \(Self.later.count)") == true)
        }
        try writer.execute("ALTER TABLE series DROP COLUMN samples; PRAGMA user_version = \(Schema.steps.count)")
        try test.open()
        #expect(try test.lines() == lines)
        try test.close()
    }

    /// Before step 3, the purpose of a client showed whether it is a phone.
    @Test func phonesOfOlderStoresStayPhones() throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(in: folder)
        let connection = try Connection(path: path, writable: true)
        try SampleStore.upgrade(connection, creation: Self.creation, steps: Array(Schema.steps[..<2]))
        for (name, purpose) in [("pixel", "Posts of HC Webhook"), ("iPhone", "Posts of Health Auto Export"), ("x", "Charts")] {
            try connection.run(
                "INSERT INTO client(name, purpose, added) VALUES(?, ?, 0)", .text(name), .text(purpose))
        }
        let clients = try SampleStore(path: path, access: .write).clients.all()
        #expect(clients.map(\.app) == ["health-auto-export", "hc-webhook", nil])
    }

    @Test func devicesAreAdoptedForgottenAndMerged() throws {
        try TestStore.with { test in
            let store = try test.store
            var strap = AdoptedDevice(
                address: "bluetooth:C0:01:02:03:04:01", key: "bluetooth:C0:01:02:03:04:01", profiles: ["sig-heart-rate"],
                name: "Strap",
                person: store.owner, adopted: 1)
            try store.devices.save(strap)
            strap.device = Device(key: "Maker/Strap/123", manufacturer: "Maker", model: "Strap", serial: "123")
            strap.key = "Maker/Strap/123"
            strap.lastRecord = AdoptedDevice.LastRecord(number: 65_535, fingerprint: .min, count: 500)
            try store.devices.save(strap)
            #expect(try store.devices.adopted() == [strap])

            try store.devices.merge(device: "c", into: "b")
            try store.devices.merge(device: "b", into: "a")
            #expect(try store.devices.aliases() == ["c": "a", "b": "a"])
            #expect(thrown(StoreError.self) { try store.devices.merge(device: "a", into: "c") }?.kind == .invalid)
            #expect(thrown(StoreError.self) { try store.devices.merge(device: "a", into: "a") }?.kind == .invalid)

            try store.devices.forget(device: strap.address)
            #expect(try store.devices.adopted().isEmpty)
            #expect(thrown(StoreError.self) { try store.devices.forget(device: strap.address) }?.kind == .invalid)
        }
    }
}
