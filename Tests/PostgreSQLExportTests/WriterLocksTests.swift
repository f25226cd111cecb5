import Dispatch
import ExportTesting
import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Synchronization
import Testing

@testable import PostgreSQLExport

/// Hubs that write at the same time: their rows of one person agree, and hubs of different people do not wait.
@Suite struct WriterLocksTests {
    private let settings: PostgreSQLSettings
    private let people = (0..<3).map { "00000000-0000-4000-8000-00000000000\($0)" }

    init() throws {
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "w" + UUIDText.random().replacing("-", with: ""))
    }

    private func exporter(of store: String) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings,
            context: try ExportContext(name: "other", store: store, me: people[0], now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings).run(text.replacing("{}", with: settings.schema))
    }

    /// A heart rate. Only one that is dated by its receipt has a device.
    private func change(
        _ value: Int, of person: Int, at milliseconds: Int64, isByReceipt: Bool = false, record: RecordIdentifier? = nil
    ) throws -> SampleChange {
        let start = Instant(microseconds: 1_790_000_000_000_000 + milliseconds * 1000)
        let reading = Reading(
            origin: Origin(
                person: people[person], type: .heartRate, source: SourceRevision(id: isByReceipt ? "ble" : "file", name: "x"),
                device: isByReceipt ? Device(key: "strap") : nil),
            numeral: try Numeral("\(value)"), unit: try Unit(ucum: "/min"),
            time: .instants(start: start, end: start, offset: .utc), record: record, place: Place(.line, 1))
        var sample = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first
        ).sample
        if isByReceipt { sample.timeOrigin = .receipt }
        return .added(StoredSample(sample: sample, ingest: 0, seq: 0))
    }

    @Test func locksAreInOneOrder() {
        var locks = WriterLocks(schema: settings.schema)
        locks.add(store: "a")
        for person in people { locks.add(person: person) }
        locks.add(person: people[0])
        let numbers = ([("hub", "a")] + people.map { ("person", $0) }).map { WriterLocks.number($0.0, $0.1) }.sorted()
        let list = numbers.map { "\($0)" }.joined(separator: ", ")
        #expect(
            locks.statement == "SELECT number FROM \(settings.schema).lock WHERE number IN (\(list)) ORDER BY number FOR UPDATE")
        for number in 0..<100 { locks.add(person: "\(number)") }
        #expect(locks.statement == "LOCK TABLE \(settings.schema).lock IN EXCLUSIVE MODE")
    }

    /// Any role that may connect can take an advisory lock, for as long as it likes.
    @Test func anAdvisoryLockStopsNothing() throws {
        _ = try exporter(of: "a").create()
        let other = try PostgreSQLConnection(settings)
        try other.run("SELECT pg_advisory_lock(hashtext('\(settings.schema)'))")
        let connection = try PostgreSQLConnection(settings)
        try connection.run("SET lock_timeout = 100")
        _ = try DatabaseSchema(name: settings.schema).create(connection)
        _ = try exporter(of: "a").deliver(ExportBatch(changes: [try change(60, of: 0, at: 0)]))
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["1"]])
    }

    /// While one transaction writes for a person, a delivery for another one ends, and one for the same person or hub waits.
    @Test func onlyTheSamePersonOrHubWaits() throws {
        _ = try exporter(of: "a").create()
        for store in ["a", "b"] { _ = try exporter(of: store).deliver(ExportBatch(changes: [try change(60, of: 2, at: 0)])) }
        let open = try PostgreSQLConnection(settings)
        var locks = WriterLocks(schema: settings.schema)
        locks.add(store: "a")
        locks.add(person: people[0])
        try open.run("BEGIN; \(locks.statement)")
        _ = try exporter(of: "b").deliver(ExportBatch(changes: [try change(61, of: 1, at: 0)]))
        #expect(try sql("SELECT count(*) FROM {}.sample WHERE value = 61") == [["1"]])

        let ended = Atomic(0)
        let group = DispatchGroup()
        for (store, person) in [("a", 1), ("b", 0)] {
            let (exporter, change) = (UnsafeTransfer(try exporter(of: store)), try change(62, of: person, at: 0))
            DispatchQueue.global().async(group: group) {
                _ = try? exporter.value.deliver(ExportBatch(changes: [change]))
                ended.add(1, ordering: .sequentiallyConsistent)
            }
        }
        // Both wait, for as long as the transaction is open.
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}.lock WHERE number%'
            """
        while try sql(waiting) != [["2"]], ended.load(ordering: .sequentiallyConsistent) == 0 { usleep(10_000) }
        #expect(ended.load(ordering: .sequentiallyConsistent) == 0)
        try open.run("COMMIT")
        group.wait()
        #expect(try sql("SELECT count(*) FROM {}.sample WHERE value = 62") == [["2"]])
    }

    /// Three hubs deliver at once, change by change: readings that all have, and advertisements that each has dated by its own receipt. Each
    /// is one row, with all hubs that have it.
    @Test func aReadingOfSeveralHubsIsOneRow() throws {
        _ = try exporter(of: "a").create()
        let failures = Mutex<[String]>([])
        let arrived = Atomic(0)
        let group = DispatchGroup()
        for number in 0..<3 {
            var changes: [SampleChange] = []
            for index in 0..<40 {
                changes.append(try change(60 + index % 3, of: index % 2, at: Int64(index) * 1000))
                let time = 1_000_000_000 + Int64(index) * 60_000 + Int64(number) * 70
                changes.append(try change(60 + index % 3, of: index % 2, at: time, isByReceipt: true))
            }
            let (exporter, all) = (UnsafeTransfer(try exporter(of: "\(number)")), changes)
            DispatchQueue.global().async(group: group) {
                for (index, change) in all.enumerated() {
                    // Each change begins when all hubs have come to it.
                    arrived.add(1, ordering: .sequentiallyConsistent)
                    while arrived.load(ordering: .sequentiallyConsistent) < 3 * (index + 1) { usleep(10) }
                    do {
                        _ = try exporter.value.deliver(ExportBatch(changes: [change]))
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        group.wait()
        #expect(failures.withLock { $0 } == [])
        let rows = try sql(
            "SELECT time_origin, count(*), count(DISTINCT uuid), sum(cardinality(hubs)) FROM {}.sample GROUP BY 1 ORDER BY 1")
        #expect(rows == [["device", "40", "40", "120"], ["receipt", "40", "40", "40"]])
        #expect(try sql("SELECT count(*) FROM {}.superseded") == [["80"]])
    }

    /// A time or a record leads to the rows that new ones are compared with, also before PostgreSQL has counted any rows. All readings, or all
    /// of a person, would be too many.
    @Test(arguments: [(0, false), (0, true), (4, false)]) func noStatementReadsAllRows(partitions: Int, isLarge: Bool) throws {
        var settings = settings
        settings.partitions = partitions
        let exporter = PostgreSQLExporter(
            settings, context: try ExportContext(name: "other", store: "a", me: people[0], now: { ExportedStore.received }))
        _ = try exporter.create()
        let changes = try (0..<2000).map { number in
            try change(60, of: number % 3, at: Int64(number) * 1000, record: RecordIdentifier(id: "\(number)", version: 1))
        }
        _ = try exporter.deliver(ExportBatch(changes: changes))
        let connection = try exporter.connection()
        // PostgreSQL takes the table for that of a large center, which it has counted.
        if isLarge {
            try connection.run(
                """
                ANALYZE \(settings.schema).sample;
                UPDATE pg_class SET reltuples = 100000000 WHERE oid = '\(settings.schema).sample'::regclass
                """)
        }
        try connection.run("BEGIN; \(PostgreSQLExporter.planning)")
        let byPerson = partitions > 0
        var statements =
            RecordRows.claims(into: [.sample], in: settings.schema, hub: 1, byPerson: byPerson)
            + ReceiptRows.joins(in: settings.schema, hub: 1, isSame: exporter.isSame)
        // These may read all rows of a table that is as small as theirs.
        if isLarge {
            statements +=
                ["incoming", "gone"].map { exporter.days.marking(rowsIn: $0, byPerson: byPerson) }
                + [exporter.days.markingTouched(byPerson: byPerson)]
                + ConflictRows.statements(.sample, in: settings.schema, hub: 1, byPerson: byPerson, variants: (true, false))
                + exporter.withdrawal(of: [.sample], 1, hasReports: true)
        }
        for statement in statements {
            let plan = try connection.run("EXPLAIN \(statement)").compactMap { $0[0] }
            let whole = Self.wholeScans(of: plan)
            #expect(whole.isEmpty, "\(plan.joined(separator: "\n"))")
            let usesRecords = plan.contains { $0.contains("using record_pkey") }
            #expect(!usesRecords || plan.contains { $0.contains("(subject = i.subject) AND (type = i.type)") }, "\(plan)")
            // In a partition of a few rows, all indexes are alike.
            let isOther = plan.contains { $0.contains("sample_type") || $0.contains("sample_time") }
            #expect(!isOther, "\(plan.joined(separator: "\n"))")
        }
    }

    /// The lines of a plan that read an index from one end to the other, because it has no condition.
    private static func wholeScans(of plan: [String]) -> [String] {
        plan.indices.filter { index in
            let isIndex = plan[index].contains("Scan using") || plan[index].contains("Bitmap Index Scan")
            let isLarge = ["on sample", "on record", "sample_", "record_"].contains { plan[index].contains($0) }
            return isIndex && isLarge && !plan[(index + 1)...].prefix(1).contains { $0.contains("Index Cond:") }
        }.map { plan[$0] }
    }

    /// A hub sends its first readings again, before PostgreSQL has counted them.
    @Test(arguments: [0, 4]) func uncountedRowsAreFoundByTheIndex(partitions: Int) throws {
        var settings = settings
        settings.partitions = partitions
        let exporter = PostgreSQLExporter(
            settings, context: try ExportContext(name: "other", store: "a", me: people[0], now: { ExportedStore.received }))
        _ = try exporter.create()
        let connection = try exporter.connection()
        try connection.run(
            """
            INSERT INTO \(settings.schema).sample(start_time, uuid, end_time, value, type, subject, hubs, unit, numeral, numeral_unit, source_id,
                source_name, time_origin, received)
            SELECT 'epoch'::timestamptz + n * interval '1 s', md5(n::text)::uuid, now(), 60, 'heartRate', '\(people[0])', '{1}', '/min', '60',
                '/min', 'x', 'x', 'device', now() FROM generate_series(1, 30000) AS n
            """)
        try connection.run("BEGIN; \(PostgreSQLExporter.planning)")
        let byPerson = partitions > 0
        let contents = PostgreSQLExporter.Contents(
            otherHubs: true, others: true, deletions: true, superseded: true, erased: false, newPeople: false)
        let statements =
            exporter.moving([.quantity], 1, contents, rewriting: true)
            + ConflictRows.statements(.sample, in: settings.schema, hub: 1, byPerson: byPerson, variants: (true, false))
        for statement in statements {
            let plan = try connection.run("EXPLAIN \(statement)").compactMap { $0[0] }
            #expect(Self.wholeScans(of: plan).isEmpty, "\(plan.joined(separator: "\n"))")
        }
    }
}

/// Passes an object to the only thread that uses it from then on.
private struct UnsafeTransfer<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
