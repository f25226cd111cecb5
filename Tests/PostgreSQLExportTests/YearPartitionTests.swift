import ExportEngine
import ExportTesting
import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// A table of samples that is partitioned by persons and by years.
@Suite struct YearPartitionTests {
    private let test: ExportedStore
    private let settings: PostgreSQLSettings

    init() throws {
        test = try ExportedStore()
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "y" + test.store.identifier, partitions: 3, years: 2020...2022)
    }

    private func exporter(
        _ years: ClosedRange<Int>? = 2020...2022, people: Int = 3, store: String? = nil
    ) throws -> PostgreSQLExporter {
        var some = settings
        (some.years, some.partitions) = (years, people)
        return PostgreSQLExporter(
            some,
            context: try ExportContext(
                name: "other", store: store ?? test.store.identifier, me: test.store.owner, now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings).run(text.replacing("{}", with: settings.schema))
    }

    private static let people = (0..<9).map { "00000000-0000-4000-8000-00000000000\($0)" }

    /// Readings of nine people, each at these microseconds since 1970.
    private func readings(_ times: [Int64], value: Int = 60) throws -> [GatedSample] {
        let readings = try times.flatMap { time in
            try Self.people.map { person in
                Reading(
                    origin: Origin(person: person, type: .heartRate, source: test.origin.source, namesPerson: true),
                    numeral: try Numeral("\(value)"), unit: try Unit(ucum: "/min"),
                    time: .instants(start: Instant(microseconds: time), end: Instant(microseconds: time), offset: .utc),
                    place: Place(.line, 1))
            }
        }
        return try ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received)
    }

    private static func start(of year: Int) -> Int64 { Int64(Calendar.days(year: year, month: 1, day: 1)) * Calendar.day }

    private func deliver(_ samples: [Sample], _ exporter: PostgreSQLExporter) throws {
        _ = try exporter.deliver(ExportBatch(changes: samples.map { .added(StoredSample(sample: $0, ingest: 0, seq: 0)) }))
    }

    /// The number of rows of each year's partitions, without the empty ones.
    private func counts() throws -> [String: Int] {
        let rows = try sql(
            "SELECT regexp_replace(tableoid::regclass::text, '.*sample(_[012])?_', ''), count(*) FROM {}.sample GROUP BY 1")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1].flatMap { Int($0) } ?? 0) })
    }

    /// A reading is in the partition of the UTC year in which it began. A query for a person and a time reads one partition.
    @Test(arguments: [0, 3]) func eachYearHasAPartition(people: Int) throws {
        let exporter = try exporter(people: people)
        for _ in 0..<2 {
            let findings = try exporter.create()
            #expect(findings.allSatisfy { $0.weight == .good })
            #expect(findings.contains { $0.text == "a partition for each year from 2020 to 2022" })
        }
        let edges = (2019...2024).flatMap { [Self.start(of: $0) - 1, Self.start(of: $0)] }
        let samples = try readings(edges).map(\.sample)
        try deliver(samples, exporter)
        try deliver(samples, exporter)
        #expect(try counts() == ["other": 54, "2020": 18, "2021": 18, "2022": 18])
        let plan = try sql(
            """
            EXPLAIN SELECT * FROM {}.heart_rate WHERE subject = '\(Self.people[1])' AND start_time >= '2021-02-01' AND start_time < '2021-03-01'
            """
        ).compactMap { $0[0] }
        #expect(plan.filter { $0.contains("on sample_") }.count == 1)
        #expect(try exporter.create().allSatisfy { $0.weight == .good })
    }

    /// A larger range adds the missing years, and moves their readings out of the partition for other times.
    @Test(arguments: [0, 3]) func moreYearsAreAddedLater(people: Int) throws {
        _ = try exporter(people: people).create()
        let samples = try readings((2011...2026).map { Self.start(of: $0) + 5 * Calendar.day }).map(\.sample)
        try deliver(samples, exporter(people: people))
        _ = try sql("ALTER TABLE {}.sample ADD COLUMN note text; UPDATE {}.sample SET note = 'n' || uuid")
        let content = "SELECT uuid, subject, start_time, value, hubs, note FROM {}.sample ORDER BY uuid, start_time"
        let before = try sql(content)
        #expect(before.count == 16 * 9)
        let more = try exporter(2013...2024, people: people)
        #expect(
            try more.create().contains {
                $0.text == "a partition for each year from 2013 to 2024, 9 of them new. 81 readings were moved into them"
            })
        #expect(try sql(content) == before)
        var expected = ["other": 36]
        for year in 2013...2024 { expected["\(year)"] = 9 }
        #expect(try counts() == expected)

        // A range that is there already, also a smaller one, changes nothing.
        for years in [2013...2024, 2020...2021] {
            let findings = try exporter(years, people: people).create()
            #expect(findings.contains { $0.component == "years" && $0.weight == .good && !$0.text.contains("new") })
        }
        #expect(try sql(content) == before)

        // Readings that are there are found, and the next ones find their partition.
        try deliver(samples, more)
        #expect(try sql(content) == before)
        let deleted = samples.prefix(30)
        _ = try more.deliver(
            ExportBatch(
                changes: deleted.map { .deleted(StoredDeletion(sample: $0, replacedBy: nil, ingest: 0, seq: 0)) }))
        try deliver(try readings([Self.start(of: 2024)], value: 61).map(\.sample), more)
        #expect(try sql("SELECT count(*), count(DISTINCT uuid) FROM {}.sample") == [["123", "123"]])
        #expect(try counts()["2024"] == 18)
    }

    /// If a year cannot be added, everything stays as it was.
    @Test func aFailureChangesNothing() throws {
        _ = try exporter().create()
        try deliver(try readings([Self.start(of: 2025)]).map(\.sample), exporter())
        _ = try sql("CREATE TABLE {}.sample_2_2025(x integer)")
        #expect(throws: DeliveryError.self) { try exporter(2020...2025).create() }
        #expect(try counts() == ["other": 9])
        try deliver(try readings([Self.start(of: 2026)]).map(\.sample), exporter())
        #expect(try counts() == ["other": 18])
        _ = try sql("DROP TABLE {}.sample_2_2025")
        #expect(try exporter(2020...2025).create().contains { $0.text.contains("9 readings were moved") })
        #expect(try counts() == ["other": 9, "2025": 9])
    }

    /// A table without partitions by year gets none, and the warning says so.
    @Test(arguments: [0, 3]) func aTableWithoutYearsStaysAsItIs(people: Int) throws {
        _ = try exporter(nil, people: people).create()
        #expect(try exporter(people: people).create().contains { $0.weight == .warning && $0.component == "years" })
        try deliver(try readings([Self.start(of: 2020)]).map(\.sample), exporter(people: people))
        #expect(try sql("SELECT count(*) FROM {}.sample") == [["9"]])
    }

    /// The partitions of an administrator count too, such as a decade. One that begins in the middle of a year is named.
    @Test func otherPartitionsOfAnAdministrator() throws {
        _ = try exporter(people: 0).create()
        _ = try sql("CREATE TABLE {}.sample_twenties PARTITION OF {}.sample FOR VALUES FROM ('2023-01-01') TO ('2030-07-01')")
        #expect(try exporter(2020...2029, people: 0).create().contains { $0.component == "years" && !$0.text.contains("new") })
        #expect { try exporter(2020...2030, people: 0).create() } throws: {
            ($0 as? DeliveryError)?.reason.contains("sample_twenties has a part of the year 2030") == true
        }
    }

    /// The statements of docs/how-to/export-databases.md partition an existing table by time. After that, it can have more years.
    @Test func anExistingTableIsPartitionedByHand() throws {
        _ = try exporter(nil, people: 0).create()
        try deliver(try readings([2024, 2025, 2026].map(Self.start)).map(\.sample), exporter(nil, people: 0))
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/how-to/export-databases.md")
        let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
        let recipe = try #require(text.split(separator: "```").first { $0.contains("sample_whole") }).dropFirst(3)
        _ = try sql(String(recipe).replacing("vitalgate.", with: "{}."))
        #expect(try exporter(nil, people: 0).create().allSatisfy { $0.weight == .good })
        _ = try sql("DROP TABLE {}.sample_whole")
        #expect(try counts() == ["other": 18, "2026": 9])
        #expect(try exporter(2025...2027, people: 0).create().contains { $0.text.contains("2 of them new. 9 readings") })
        #expect(try counts() == ["other": 9, "2025": 9, "2026": 9])
        #expect(try sql("SELECT count(*) FROM {}.heart_rate") == [["27"]])
    }

    /// A reading whose clock another hub corrected has the same UUID and another start, here in another year. It stays one row, so
    /// look-ups of UUIDs cannot be restricted to the years of a delivery.
    @Test func aCorrectedClockLeadsToAnotherYear() throws {
        _ = try exporter().create()
        let samples = try readings([Self.start(of: 2021)]).map(\.sample)
        try deliver(samples, exporter(store: "one"))
        let corrected = samples.map { sample in
            var sample = sample
            sample.start = Instant(microseconds: sample.start.microseconds - 3_600_000_000)
            sample.end = sample.start
            return sample
        }
        try deliver(corrected, exporter(store: "two"))
        #expect(try sql("SELECT count(*), count(DISTINCT uuid), min(array_length(hubs, 1)) FROM {}.sample") == [["9", "9", "2"]])
        #expect(try counts() == ["2021": 9])
    }

    /// A check reports that the present year (2027 in the tests) has no partition.
    @Test func theYearOfACheckNeedsAPartition() throws {
        _ = try exporter().create()
        #expect(try exporter().check().contains { $0.weight == .warning && $0.text.hasPrefix("2027 has no partition") })
        _ = try exporter(2020...2027).create()
        #expect(try exporter(2020...2027).check().allSatisfy { $0.weight == .good })
        #expect(try exporter(nil).check().allSatisfy { $0.weight == .good })
    }

    @Test(
        arguments: [
            (#""years": "2015-2030""#, nil), (#""partitions": 16, "years": "2015-2030""#, nil), (#""years": "2020-2020""#, nil),
            (#""years": "2030-2015""#, "years"), (#""years": "2015""#, "years"), (#""years": "15-30""#, "years"),
            (#""years": "2015-2030-2040""#, "years"), (#""years": "1969-2000""#, "years"), (#""years": "2100-2200""#, "years"),
            (#""years": "2000-2100""#, "years"), (#""years": "2000-2099""#, nil),
            (#""partitions": 64, "years": "2015-2030""#, "years"),
            (#""partitions": 64, "years": "2016-2030""#, nil), (#""hypertable": true, "years": "2015-2030""#, "years"),
        ] as [(String, String?)])
    func settingsAreChecked(text: String, key: String?) throws {
        do {
            let settings = try Settings.read(PostgreSQLSettings.self, "{\"database\": \"d\", \"user\": \"u\", \(text)}")
            #expect(key == nil && settings.years != nil)
        } catch let fault as SettingsFault {
            #expect(fault.key == key)
        }
    }
}
