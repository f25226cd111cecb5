import ExportEngine
import ExportTesting
import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// Tests against Debian's PostgreSQL: a target knows which database it filled and how, changes by others are found, and records are there
/// once.
@Suite struct DatabaseMarkTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    private let schema: String

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "m" + test.store.identifier
    }

    private func exporter(
        _ name: String? = nil, of store: SampleStore? = nil, units: [SampleType: Unit] = [:], database: String = "postgres"
    ) throws -> PostgreSQLExporter {
        let store = store ?? test.store
        return PostgreSQLExporter(
            PostgreSQLSettings(host: server.folder, database: database, user: "vitalgate", schema: name ?? schema),
            context: try ExportContext(
                name: "other", store: store.identifier, me: store.owner, units: units, now: { ExportedStore.received }),
            days: { try SampleStatistics() })
    }

    @discardableResult private func sql(_ text: String, database: String = "postgres") throws -> [[String?]] {
        try PostgreSQLConnection(
            PostgreSQLSettings(host: server.folder, database: database, user: "vitalgate", schema: schema)
        ).run(text)
    }

    private func stored(_ schema: String? = nil) throws -> [SampleIdentity: Double] {
        var stored: [SampleIdentity: Double] = [:]
        for row in try sql("SELECT uuid, value FROM \(schema ?? self.schema).sample") {
            stored[try #require(row[0].flatMap { SampleIdentity($0) })] = row[1].flatMap { Double($0) }
        }
        return stored
    }

    private func comparison(_ exporter: PostgreSQLExporter, _ settings: TargetSettings? = nil) -> TargetComparison {
        TargetComparison(
            settings ?? TargetSettings(name: "other"), exporter: exporter, store: test.store, now: { ExportedStore.received })
    }

    // MARK: Another database

    @Test func anotherSchemaUnderTheSameName() throws {
        _ = try exporter().create()
        try test.add(try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) })
        try test.finish(try test.run(exporter()))
        let other = schema + "x"
        _ = try exporter(other).create()
        let run = try test.run(exporter(other))
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("another one with the same name") == true)
        #expect(try stored(other).isEmpty)
        #expect(try comparison(exporter(other)).repair().differences.missing == 50)
        try test.finish(run)
        #expect(try stored(other) == test.contents())
    }

    /// A schema that is dropped and created again, as the message suggests, is not the one that was filled.
    @Test func aDroppedSchema() throws {
        _ = try exporter().create()
        try test.add(try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) })
        try test.finish(try test.run(exporter()))
        try sql("DROP SCHEMA \(schema) CASCADE")
        let run = try test.run(exporter())
        // It may be a restoration in progress. The status shows the reason.
        guard case .wait = try run.step() else {
            Issue.record("a missing schema of a target that has worked is an outage first")
            return
        }
        #expect(run.target.words?.contains("--create") == true)
        _ = try exporter().create()
        #expect(try test.run(exporter()).step() == .stopped)
        #expect(try comparison(exporter()).repair().differences.missing == 50)
        #expect(try stored() == test.contents())
    }

    /// A dump that is put back has the identity of the database, and an earlier mark.
    @Test func detectsRestoredDump() throws {
        _ = try exporter().create()
        let samples = try (0..<50).map { try test.sample(60 + $0 % 3, at: $0) }
        try test.add(samples)
        try test.finish(try test.run(exporter()))
        let tables = ["sample", "progress", "deletion"]
        for table in tables { try sql("CREATE TABLE \(schema).dump_\(table) AS TABLE \(schema).\(table)") }
        try test.add(try (50..<60).map { try test.sample(60, at: $0) })
        try test.delete(samples[7])
        try test.finish(try test.run(exporter()))
        for table in tables {
            try sql("DELETE FROM \(schema).\(table); INSERT INTO \(schema).\(table) SELECT * FROM \(schema).dump_\(table)")
        }
        try test.add([try test.sample(99, at: 70)])
        let run = try test.run(exporter())
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("restored from a backup") == true)
        #expect(try comparison(exporter()).repair().differences == TargetDifferences(equal: 49, missing: 11, surplus: 1))
        try test.finish(run)
        #expect(try stored() == test.contents())
    }

    // MARK: Content

    /// Other units stop the target. Comparing finds the values in the old units, and so does sending everything again.
    @Test(arguments: [false, true]) func otherUnits(byComparing: Bool) throws {
        _ = try exporter().create()
        try test.add(try (0..<20).map { try test.sample(60 + $0, at: $0) })
        try test.finish(try test.run(exporter()))
        let settings = TargetSettings(name: "other", shapeText: "units.heartRate=/s")
        let other = try exporter(units: [.heartRate: Unit(ucum: "/s")])
        #expect(try test.run(other, settings).step() == .stopped)
        if byComparing {
            #expect(try comparison(other, settings).compare() == TargetDifferences(differing: 20))
            #expect(try comparison(other, settings).repair().differences.differing == 20)
        } else {
            try test.store.targets.restart(target: "other", isOrdered: false, filter: "", at: ExportedStore.received)
        }
        try test.finish(try test.run(other, settings))
        #expect(try sql("SELECT DISTINCT unit FROM \(schema).sample") == [["/s"]])
        #expect(abs((try stored().values.max() ?? 0) - 79.0 / 60) < 1e-12)
        #expect(try comparison(other, settings).compare() == TargetDifferences(equal: 20))
    }

    /// Any change by others in a row of any kind is found and overwritten.
    @Test func findsChangedRows() throws {
        _ = try exporter().create()
        try test.add(try (0..<20).map { try test.sample(60 + $0, at: $0) })
        try test.add(try SampleKind.allCases.filter { $0 != .quantity }.map { try test.object($0, 0, at: 0) })
        try test.finish(try test.run(exporter()))
        let all = try test.contents().count
        #expect(try comparison(exporter()).compare() == TargetDifferences(equal: all))
        try sql(
            """
            UPDATE \(schema).sample SET value = 1 WHERE numeral = '63'; UPDATE \(schema).sample SET metadata = '{"a": 1}' WHERE numeral = '64';
            UPDATE \(schema).sample SET received = now() WHERE numeral = '65'; UPDATE \(schema).workout SET duration = 1;
            UPDATE \(schema).document SET title = 'x'; DELETE FROM \(schema).category
            """)
        let categories = all - (try sql("SELECT count(*) FROM \(schema).sample")[0][0].flatMap { Int($0) } ?? 0)
        #expect(categories > 0)
        let differences = try comparison(exporter()).repair().differences
        #expect(differences.differing == 4 && differences.missing == 1 && differences.surplus == 0, "\(differences)")
        #expect(try comparison(exporter()).compare() == TargetDifferences(equal: all))
    }

    // MARK: Columns added by a user

    @Test func acceptsAdditionalColumns() throws {
        _ = try exporter().create()
        try sql("ALTER TABLE \(schema).sample ADD COLUMN site text NOT NULL DEFAULT 'berlin', ADD COLUMN number bigserial")
        try test.add(try (0..<20).map { try test.sample(60 + $0, at: $0) })
        try test.finish(try test.run(exporter()))
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT DISTINCT site FROM \(schema).sample") == [["berlin"]])
        #expect(try exporter().check().allSatisfy { $0.weight == .good })
        try sql("ALTER TABLE \(schema).sample ALTER site DROP DEFAULT")
        try test.add([try test.sample(99, at: 500)])
        let run = try test.run(exporter())
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("the column 'site'") == true)
        #expect(throws: DeliveryError.self) { try exporter().check() }
    }

    /// A check runs the steps of a delivery and leaves no rows.
    @Test(arguments: [
        "ALTER TABLE %.sample DROP COLUMN numeral_unit CASCADE", "ALTER TABLE %.workout DROP COLUMN duration CASCADE",
        "ALTER TABLE %.sample ADD CHECK(source_name = 'x')", "DROP TABLE %.record",
        "ALTER ROLE vitalgate SET default_transaction_read_only = on",
    ]) func aLookFindsIt(damage: String) throws {
        let exporter = try exporter()
        _ = try exporter.create()
        #expect(try exporter.check().allSatisfy { $0.weight == .good })
        for table in ["sample", "hub", "progress", "deletion"] { #expect(try sql("SELECT 1 FROM \(schema).\(table)").isEmpty) }
        guard !damage.contains("ROLE") else {
            let database = "r" + test.store.identifier
            try sql("CREATE DATABASE \(database)")
            _ = try self.exporter(database: database).create()
            try sql("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            #expect(throws: DeliveryError.self) { try self.exporter(database: database).check() }
            return
        }
        try sql(damage.replacing("%", with: schema))
        #expect(throws: DeliveryError.self) { try exporter.check() }
    }

    @Test func refusesOtherEncodings() throws {
        let database = "l" + test.store.identifier
        try sql("CREATE DATABASE \(database) ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        _ = try exporter(database: database).create()
        #expect(throws: DeliveryError.self) { try exporter(database: database).check() }
        try test.add([try test.sample(60, at: 0)])
        let run = try test.run(exporter(database: database))
        #expect(try run.step() == .stopped)
        #expect(run.target.words?.contains("LATIN1") == true)
    }

    // MARK: Copies

    @Test func aCopyOfTheStore() throws {
        _ = try exporter().create()
        let settings = ["one", "two"].map { TargetSettings(name: "other", holder: StoreHolder(id: $0, name: "'\($0)'")) }
        let samples = try (0..<20).map { try test.sample(60 + $0, at: $0) }
        try test.add(samples)
        try test.finish(try test.run(exporter(), settings[0]))
        let path = test.folder.file("copy.db")
        try test.store.backup(to: path)
        let copy = try SampleStore(path: path, access: .write)
        // A sample deleted on the first stays deleted, because the second one is refused.
        _ = try copy.samples.delete([samples[3].sample.identity], description: test.description(.delete))
        let second = try TargetRun(
            settings[1], exporter: exporter(of: copy), reader: SampleStore(path: path, access: .read), store: copy,
            now: { ExportedStore.received })
        #expect(try second.step() == .stopped)
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT name FROM \(schema).hub") == [["'one'"]])
        // With its own name it is another hub.
        _ = try copy.targets.adoptIdentity()
        let adopted = try SampleStore(path: path, access: .write)
        let run = try TargetRun(
            settings[1], exporter: exporter(of: adopted), reader: SampleStore(path: path, access: .read), store: adopted,
            now: { ExportedStore.received })
        try test.finish(run)
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT count(*), max(cardinality(hubs)) FROM \(schema).sample") == [["20", "2"]])
    }

    /// A batch that was sent ahead is written only after the one before.
    @Test func aBatchSentAheadWaitsForTheOneBefore() throws {
        let exporter = try exporter()
        _ = try exporter.create()
        let holder = StoreHolder(id: "here", name: "here")
        _ = try exporter.claim(TargetMark(identity: "", count: 1, anchor: "first", holder: holder))
        func batch(_ second: Int, _ count: Int64, _ anchor: String, after: String?) throws -> ExportBatch {
            let sample = try test.sample(60, at: second).sample
            var batch = ExportBatch(changes: [.added(StoredSample(sample: sample, ingest: 0, seq: 0))])
            batch.mark = TargetMark(identity: "", count: count, anchor: anchor, holder: holder)
            batch.mark?.after = after
            return batch
        }
        let ahead = try batch(2, 3, "third", after: "second")
        #expect(throws: DeliveryError.self) { try exporter.deliver(ahead) }
        // Only a part of the batch before is there.
        _ = try exporter.deliver(try batch(0, 2, "half", after: nil))
        #expect(throws: DeliveryError.self) { try exporter.deliver(ahead) }
        #expect(try sql("SELECT count(*) FROM \(schema).sample") == [["1"]])
        _ = try exporter.deliver(try batch(1, 3, "second", after: nil))
        _ = try exporter.deliver(try batch(2, 4, "third", after: "second"))
        #expect(try sql("SELECT count(*) FROM \(schema).sample") == [["3"]])
    }

    // MARK: Records

    private func version(_ number: Int64, _ value: Int, of store: ExportedStore, at second: Int = 0) throws -> GatedSample {
        try store.sample(value, at: second, record: RecordIdentifier(id: "rec-1", version: number))
    }

    /// Two hubs have two versions of one record: the higher one is there, whichever comes first, and each hub's comparison is content.
    @Test(arguments: [[1, 2], [2, 1], [1, 2, 3], [3, 1, 2]]) func theHighestVersion(order: [Int64]) throws {
        _ = try exporter().create()
        let stores = try order.map { number in
            let store = try ExportedStore()
            try store.add([try version(number, 60 + Int(number), of: store, at: Int(number))])
            try store.finish(try store.run(exporter(of: store.store)))
            return store
        }
        let highest = order.max() ?? 0
        #expect(try stored().values.map { $0 } == [60 + Double(highest)])
        for store in stores {
            let comparison = TargetComparison(
                TargetSettings(name: "other"), exporter: try exporter(of: store.store), store: store.store,
                now: { ExportedStore.received })
            #expect(try comparison.compare() == TargetDifferences(equal: 1))
        }
        // The highest version is withdrawn. The next one comes forward by itself.
        let last = stores[order.firstIndex(of: highest) ?? 0]
        _ = try last.store.samples.delete(try last.contents().keys.map { $0 }, description: last.description(.delete))
        try last.finish(try last.run(exporter(of: last.store)))
        #expect(try stored().values.map { $0 } == [60 + Double(order.filter { $0 != highest }.max() ?? 0)])
    }

    /// A hub that gets the next version itself replaces its own row.
    @Test func theNextVersion() throws {
        _ = try exporter().create()
        try test.add([try version(1, 61, of: test)])
        try test.finish(try test.run(exporter()))
        try test.add([try version(2, 62, of: test, at: 5)])
        try test.finish(try test.run(exporter()))
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT record_version FROM \(schema).sample") == [["2"]])
        #expect(try sql("SELECT 1 FROM \(schema).superseded").isEmpty)
    }

    /// Two hubs have one reading under two versions of its record. The higher one counts, whichever comes first, so a version between them is
    /// not there. Each hub's comparison is content.
    @Test(arguments: [[3, 1], [1, 3]]) func theHighestVersionOfOneReading(versions: [Int64]) throws {
        _ = try exporter().create()
        let reading = try version(1, 61, of: test).sample
        func deliver(_ sample: Sample, from hub: String) throws {
            let settings = PostgreSQLSettings(host: server.folder, database: "postgres", user: "vitalgate", schema: schema)
            let context = try ExportContext(name: "x", store: hub, me: test.store.owner, now: { ExportedStore.received })
            _ = try PostgreSQLExporter(settings, context: context)
                .deliver(ExportBatch(changes: [.added(StoredSample(sample: sample, ingest: 0, seq: 0))]))
        }
        for (number, hub) in zip(versions, ["one", "two"]) {
            var sample = reading
            sample.record?.version = number
            try deliver(sample, from: hub)
        }
        #expect(try sql("SELECT version FROM \(schema).record") == [["3"]])
        #expect(try sql("SELECT record_version, print <> 0 FROM \(schema).sample") == [["3", "t"]])
        try deliver(try version(2, 62, of: test).sample, from: "three")
        #expect(try sql("SELECT value, record_version FROM \(schema).sample") == [["61", "3"]])
        #expect(try sql("SELECT version FROM \(schema).record") == [["3"]])
    }

    /// Each hub has at most one version of a record, of one of two readings, and raises or withdraws it. The highest version that a hub still
    /// has is there, and each hub's report is there once.
    @Test(arguments: 0..<4) func theHighestVersionThatAHubHas(seed: UInt64) throws {
        _ = try exporter().create()
        let readings = [try version(1, 61, of: test).sample, try version(2, 62, of: test, at: 5).sample]
        let hubs = ["one", "two", "three"]
        var (reports, generator) = ([String: (reading: Int, version: Int64)](), SeededGenerator(seed: seed))
        func sample(_ reading: Int, _ version: Int64) -> Sample {
            var sample = readings[reading]
            sample.record?.version = version
            return sample
        }
        for _ in 0..<40 {
            let hub = hubs[Int.random(in: 0..<hubs.count, using: &generator)]
            let last = reports[hub]
            var changes: [SampleChange] = []
            if Int.random(in: 0..<3, using: &generator) > 0 {
                let version = (last?.version ?? 0) + .random(in: 1...3, using: &generator)
                let next = (reading: Int.random(in: 0..<2, using: &generator), version: version)
                changes = [.added(StoredSample(sample: sample(next.reading, next.version), ingest: 0, seq: 0))]
                reports[hub] = next
            } else {
                reports[hub] = nil
            }
            if let last, last.reading != reports[hub]?.reading {
                let old = sample(last.reading, last.version)
                changes.append(.deleted(StoredDeletion(sample: old, replacedBy: nil, ingest: 0, seq: 0)))
            }
            guard !changes.isEmpty else { continue }
            let settings = PostgreSQLSettings(host: server.folder, database: "postgres", user: "vitalgate", schema: schema)
            let context = try ExportContext(name: "x", store: hub, me: test.store.owner, now: { ExportedStore.received })
            _ = try PostgreSQLExporter(settings, context: context).deliver(ExportBatch(changes: changes))
            let highest = reports.values.map(\.version).max().map { ["\($0)"] }
            #expect(try sql("SELECT record_version FROM \(schema).sample") == (highest.map { [$0] } ?? []))
            #expect(try sql("SELECT version FROM \(schema).record") == (highest.map { [$0] } ?? []))
            let stored = try sql(
                """
                SELECT h.store, r.version, r.value FROM \(schema).hub h JOIN (
                    SELECT unnest(hubs) AS hub, record_version AS version, value FROM \(schema).sample UNION ALL
                    SELECT hub, (content->>'record_version')::bigint, (content->>'value')::float8 FROM \(schema).superseded
                ) r ON r.hub = h.id ORDER BY h.store
                """)
            let expected = reports.sorted { $0.key < $1.key }.map { hub, report in
                [hub, "\(report.version)", "\(61 + report.reading)"]
            }
            #expect(stored == expected)
            guard stored == expected else { return }
        }
    }

    // MARK: Receipts

    /// A reading of a device without a clock, as a hub dates it: by when it came.
    private func received(_ value: Int, at milliseconds: Int64, of store: ExportedStore) throws -> GatedSample {
        let start = Instant(microseconds: 1_795_683_000_000_000 + milliseconds * 1000)
        let reading = Reading(
            origin: Origin(
                person: store.origin.person, type: .heartRate, source: SourceRevision(id: "ble.health-thermometer", name: "x"),
                device: Device(key: "bluetooth:C0:01:02:03:04:01")),
            numeral: try Numeral("\(value)"), unit: try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: nil), place: Place(.line, 1))
        var sample = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        sample.sample.timeOrigin = .receipt
        return sample
    }

    /// An advertisement that two hubs receive is one row. If it could be another one, both stay. Each hub's comparison finds no difference.
    @Test(
        arguments: [
            // 80 ms apart, minutes between: the same three readings.
            ([(60, 500), (61, 600_500), (62, 1_200_500)], [(60, 580), (61, 600_580), (62, 1_200_580)], 3),
            // Other digits, or too far apart.
            ([(60, 500)], [(61, 580)], 2), ([(60, 500)], [(60, 3500)], 2),
            // A stream: nothing shows which one was missed.
            ([(60, 0), (60, 1000), (60, 2000)], [(60, 80), (60, 1080)], 5),
            // One that both heard, and one that one of them missed.
            ([(60, 0), (60, 60_000)], [(60, 60_050)], 2),
        ] as [([(Int, Int64)], [(Int, Int64)], Int)])
    func oneAdvertTwoHubs(one: [(Int, Int64)], other: [(Int, Int64)], rows: Int) throws {
        _ = try exporter().create()
        let second = try ExportedStore()
        for (store, readings) in [(test, one), (second, other)] {
            try store.add(try readings.map { try received($0.0, at: $0.1, of: store) })
            try store.finish(try store.run(exporter(of: store.store)))
        }
        #expect(try stored().count == rows)
        for store in [test, second] {
            let comparison = TargetComparison(
                TargetSettings(name: "other"), exporter: try exporter(of: store.store), store: store.store,
                now: { ExportedStore.received })
            #expect(try comparison.compare() == TargetDifferences(equal: store.contents().count))
            // Told everything again, it is the same.
            try store.store.targets.restart(target: "other", isOrdered: false, filter: "", at: ExportedStore.received)
            try store.finish(try store.run(exporter(of: store.store)))
        }
        #expect(try stored().count == rows)
    }

    // MARK: For analysts

    @Test func everythingHasAComment() throws {
        _ = try exporter().create()
        let silent = try sql(
            """
            SELECT relname, attname FROM pg_class LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
            WHERE relnamespace = '\(schema)'::regnamespace AND relkind IN ('r', 'v')
                AND (obj_description(pg_class.oid, 'pg_class') IS NULL OR col_description(attrelid, attnum) IS NULL)
            """)
        #expect(silent.isEmpty, "\(silent.prefix(5))")
        #expect(
            try sql("SELECT display_name, unit, aggregation, loinc FROM \(schema).type WHERE name = 'heartRate'") == [
                ["Heart Rate", "/min", "discreteTemporallyWeighted", "8867-4"]
            ])
        #expect(try sql("SELECT count(*) FROM \(schema).type")[0][0] == "\(SampleType.all.count)")
    }

    /// A cuff's two pressures share a packet and are one row of the view. A correlation's pressures are one row through its objects.
    @Test func bloodPressures() throws {
        _ = try exporter().create()
        func pressure(_ type: SampleType, _ value: Int, _ group: UInt64?, at second: Int64) throws -> GatedSample {
            let start = Instant(seconds: 1_790_000_000 + second)
            let reading = Reading(
                origin: Origin(person: test.origin.person, type: type, source: test.origin.source, device: Device(key: "cuff")),
                numeral: try Numeral("\(value)"), unit: try Unit(ucum: "mm[Hg]"),
                time: .instants(start: start, end: start, offset: ZoneOffset(seconds: 3600)),
                group: group.map { .shared($0) } ?? .none, place: Place(.line, 1)
            )
            return try #require(
                try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        }
        try test.add([
            try pressure(.bloodPressureSystolic, 121, 7, at: 0), try pressure(.bloodPressureDiastolic, 80, 7, at: 0),
            try pressure(.bloodPressureSystolic, 130, 8, at: 60),
        ])
        try test.finish(try test.run(exporter()))
        #expect(
            try sql("SELECT systolic, diastolic, unit, local_time, cardinality(objects) FROM \(schema).blood_pressure") == [
                ["121", "80", "mm[Hg]", "2026-09-21 15:13:20", "2"]
            ])
    }

    @Test func sumsByTheDay() throws {
        _ = try exporter().create()
        let type = try #require(SampleType("stepCount"))
        let samples = try [(100, 0), (200, 3600), (50, 86_400)].map { value, second in
            let start = Instant(seconds: 1_790_000_000 + Int64(second))
            let reading = Reading(
                origin: Origin(person: test.origin.person, type: type, source: test.origin.source),
                numeral: try Numeral("\(value)"),
                unit: type.canonicalUnit,
                time: .instants(start: start, end: Instant(seconds: 1_790_000_060 + Int64(second)), offset: .utc),
                place: Place(.line, 1))
            return try #require(
                try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        }
        try test.add(samples)
        try test.finish(try test.run(exporter()))
        #expect(
            try sql("SELECT date, sum, count FROM \(schema).daily_sum WHERE type = 'stepCount' ORDER BY date") == [
                ["2026-09-21", "300", "2"], ["2026-09-22", "50", "1"],
            ])
    }

    /// Runs the statements of docs/how-to/export-databases.md as written.
    @Test func partitions() throws {
        _ = try exporter().create()
        try test.add(try (0..<20).map { try test.sample(60 + $0, at: $0) })
        try test.finish(try test.run(exporter()))
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/how-to/export-databases.md")
        let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
        let recipe = try #require(text.split(separator: "```").first { $0.contains("PARTITION BY RANGE") })
        try sql(String(recipe.dropFirst(3)).replacing("vitalgate.", with: "\(schema)."))
        _ = try exporter().create()
        #expect(try sql("SELECT count(*) FROM \(schema).heart_rate") == [["20"]])
        try test.add(try (20..<40).map { try test.sample(60 + $0, at: $0) })
        try test.delete(try test.sample(60, at: 0))
        try test.finish(try test.run(exporter()))
        #expect(try stored() == test.contents())
        #expect(try sql("SELECT count(*) FROM \(schema).heart_rate") == [["39"]])
        #expect(try comparison(exporter()).compare() == TargetDifferences(equal: 39))
        #expect(try exporter().check().allSatisfy { $0.weight == .good })
    }

    // MARK: The way back

    @Test func rowsAsLines() throws {
        _ = try exporter().create()
        try test.add(
            try (0..<20).map { try test.sample(60 + $0, at: $0) } + [
                try test.object(.category, 0, at: 0), try test.object(.workout, 0, at: 1),
            ])
        try test.finish(try test.run(exporter()))
        var bytes: [UInt8] = []
        let left = try exporter().lines { bytes += $0 }
        #expect(left == ["workout": 1])
        struct Line: Decodable {
            var uuid: String
            var kind: String
        }
        let lines = try bytes.split(separator: 0x0A).map { try JSONDecoder().decode(Line.self, from: Data($0)) }
        let expected = try test.contents().keys.map(\.description)
        #expect(Set(lines.map(\.uuid)).isSubset(of: expected) && lines.count == expected.count - 1)
    }
}
