import Dispatch
import ExportTesting
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The statistics of days while several programs deliver, compute, and erase. The readings are made up for Vitalgate.
@Suite struct DayRowsTests {
    private let settings: PostgreSQLSettings
    private let person = "aaaaaaaa-0000-4000-8000-000000000001"
    /// A Monday, in seconds since 1970.
    private static let monday: Int64 = 1_789_948_800
    private static let day: Int64 = 86_400

    init() throws {
        settings = PostgreSQLSettings(
            host: try PostgreSQLServer.shared.get().folder, database: "postgres", user: "vitalgate",
            schema: "d" + UUIDText.random().replacing("-", with: ""))
        _ = try exporter().create()
    }

    private var rows: DayRows { DayRows(schema: settings.schema) }

    private func exporter() throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings, context: try ExportContext(name: "other", store: "a", me: person, now: { ExportedStore.received }))
    }

    private func sql(_ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings).run(text.replacing("{}", with: settings.schema))
    }

    private func steps(_ count: Int, _ source: String, at seconds: Int64, for duration: Int64) throws -> SampleChange {
        let reading = Reading(
            origin: Origin(person: person, type: .stepCount, source: SourceRevision(id: source, name: source)),
            numeral: try Numeral("\(count)"), unit: try Unit(ucum: "{count}"),
            time: .instants(start: Instant(seconds: seconds), end: Instant(seconds: seconds + duration), offset: .utc),
            place: Place(.line, 1))
        let sample = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received).first)
        return .added(StoredSample(sample: sample.sample, ingest: 0, seq: 0))
    }

    /// The total of a week, and a walk on its Thursday that is more than half of it, so that the total counts on no day.
    private func total() throws -> SampleChange { try steps(1000, "export", at: Self.monday, for: 7 * Self.day) }
    private func walk() throws -> SampleChange {
        try steps(900, "export", at: Self.monday + 3 * Self.day + 43_200, for: 600)
    }

    private func computeAll() throws {
        let connection = try PostgreSQLConnection(settings)
        while try rows.refresh(connection, { try SampleStatistics() }) {}
    }

    private func sums() throws -> [[String?]] {
        try sql("SELECT source_id, round(sum(sum)::numeric, 6)::float8 FROM {}.day GROUP BY 1 ORDER BY 1")
    }

    /// Waits until a number of sessions wait for locks of this test's tables.
    private func awaitWaiting(_ count: Int) throws {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}.%'"
        while try sql(waiting) != [["\(count)"]] { usleep(10_000) }
    }

    /// In a busy center, a day waits until its first mark is some seconds old. Later marks do not delay it.
    @Test func aDayWaitsWhileHubsSend() throws {
        _ = try exporter().deliver(ExportBatch(changes: [try walk()]))
        let connection = try PostgreSQLConnection(settings)
        #expect(try !rows.refresh(connection, { try SampleStatistics() }, after: 60))
        #expect(try sums().isEmpty)
        _ = try sql("UPDATE {}.day_due SET made = made - interval '61 seconds'")
        let later = try steps(10, "export", at: Self.monday + 3 * Self.day + 50_000, for: 60)
        _ = try exporter().deliver(ExportBatch(changes: [later]))
        #expect(try rows.refresh(connection, { try SampleStatistics() }, after: 60))
        #expect(try sums().map(\.last) == ["910", "910"])
    }

    /// One program has read a week before a reading arrives, and writes it after another one has read the reading. The mark of the reading's
    /// day shows that the whole week has changed, because the total of the week counts on all of its days or on none.
    @Test func outdatedComputationLeavesWholeWeekDue() throws {
        _ = try exporter().deliver(ExportBatch(changes: [total()]))
        let first = Self.monday / Self.day - 3
        let (hasRead, mayWrite, hasWritten) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let (rows, settings, person) = (rows, settings, person)
        DispatchQueue.global().async {
            do {
                try rows.compute(person, from: first, PostgreSQLConnection(settings)) {
                    hasRead.signal()
                    mayWrite.wait()
                    return try SampleStatistics()
                }
            } catch {
                Issue.record("\(error)")
                hasRead.signal()
            }
            hasWritten.signal()
        }
        hasRead.wait()
        _ = try exporter().deliver(ExportBatch(changes: [walk()]))
        try rows.compute(person, from: first, PostgreSQLConnection(settings)) {
            mayWrite.signal()
            hasWritten.wait()
            return try SampleStatistics()
        }
        try computeAll()
        #expect(try sums() == [["", "900"], ["export", "900"]])
    }

    /// The total counts on all days of the week, and on none after the walk, also if the computations do not meet.
    @Test func totalCountsOnAllDaysOrNone() throws {
        _ = try exporter().deliver(ExportBatch(changes: [total()]))
        try computeAll()
        #expect(try sums() == [["", "1000"], ["export", "1000"]])
        _ = try exporter().deliver(ExportBatch(changes: [walk()]))
        try computeAll()
        #expect(try sums() == [["", "900"], ["export", "900"]])
    }

    /// A person is erased while statistics of the person are written.
    @Test func erasureRemovesDaysInWriting() throws {
        _ = try exporter().deliver(ExportBatch(changes: [walk()]))
        let open = try PostgreSQLConnection(settings)
        // The marks can be read and locked, and not removed.
        try open.run("BEGIN; LOCK TABLE \(settings.schema).day_due IN SHARE MODE")
        let group = DispatchGroup()
        let (rows, settings, person) = (rows, settings, person)
        func inBackground(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Void) {
            DispatchQueue.global().async(group: group) {
                do { try body(try PostgreSQLConnection(settings)) } catch { Issue.record("\(error)") }
            }
        }
        inBackground { _ = try rows.refresh($0) { try SampleStatistics() } }
        try awaitWaiting(1)
        inBackground { connection in
            try connection.run("BEGIN")
            try PersonErasure(schema: settings.schema).run(of: person, connection)
            try connection.run("COMMIT")
        }
        try awaitWaiting(2)
        try open.run("COMMIT")
        group.wait()
        for table in DayRows.tables + ["sample"] { #expect(try sql("SELECT 1 FROM {}.\(table)").isEmpty, "\(table)") }
    }

    /// A session has noted a person and the longest duration before another session erased them.
    @Test func erasedPersonIsNotedAgain() throws {
        let known = try exporter()
        _ = try known.deliver(ExportBatch(changes: [total()]))
        try exporter().erase(person: person)
        _ = try known.deliver(ExportBatch(changes: [total()]))
        #expect(try sql("SELECT subject FROM {}.participant") == [[person]])
        try computeAll()
        #expect(try sums() == [["", "1000"], ["export", "1000"]])
    }
}
