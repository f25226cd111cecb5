import ExportTesting
import HealthModel
import Pipeline
import SampleStore
import Testing

@testable import PostgreSQLExport

/// The readings of studies: people with consents, all people of some hubs, and copies.
@Suite struct StudyRowsTests {
    private let test: ExportedStore
    private let server: PostgreSQLServer
    private let schema: String

    private static let anna = "aaaaaaaa-0000-4000-8000-000000000001"
    private static let ben = "aaaaaaaa-0000-4000-8000-000000000002"
    private static let noon: Int64 = 1_790_000_000

    init() throws {
        test = try ExportedStore()
        server = try PostgreSQLServer.shared.get()
        schema = "s" + test.store.identifier
        for role in ["owner", "ana", "ida", "eve"] { _ = try sql("vitalgate", "CREATE ROLE \(role)_{} LOGIN") }
        for role in ["analyst", "auditor"] { _ = try sql("vitalgate", "CREATE ROLE \(role)_{}") }
        _ = try sql(
            "vitalgate",
            """
            GRANT analyst_{} TO ana_{}, ida_{}; GRANT auditor_{} TO eve_{}; CREATE SCHEMA {} AUTHORIZATION owner_{};
            GRANT CREATE ON DATABASE postgres TO owner_{}
            """)
    }

    private func settings(_ user: String, partitions: Int = 0) -> PostgreSQLSettings {
        let name = user == "vitalgate" ? user : "\(user)_\(schema)"
        return PostgreSQLSettings(host: server.folder, database: "postgres", user: name, schema: schema, partitions: partitions)
    }

    private func sql(_ user: String, _ text: String) throws -> [[String?]] {
        try PostgreSQLConnection(settings(user)).run(text.replacing("{}", with: schema))
    }

    private func exporter(_ store: String, partitions: Int = 0) throws -> PostgreSQLExporter {
        PostgreSQLExporter(
            settings("owner", partitions: partitions),
            context: try ExportContext(name: "other", store: store, me: test.store.owner, now: { ExportedStore.received }),
            days: { try SampleStatistics() })
    }

    /// Creates the tables and the rights, and two studies with a reader each.
    private func create(partitions: Int = 0) throws {
        _ = try exporter("ward", partitions: partitions).create()
        _ = try DatabaseReaders(analyst: "analyst_\(schema)", auditor: "auditor_\(schema)").create(settings("owner"))
        _ = try sql(
            "owner",
            """
            INSERT INTO {}.study(name) VALUES('sleep'), ('heart');
            INSERT INTO {}.study_reader VALUES('sleep', 'ana_{}'), ('heart', 'ida_{}')
            """)
    }

    private func sample(_ person: String, day: Int64, zone: Int32? = 0, hour: Int64 = 0) throws -> GatedSample {
        let start = Instant(seconds: Self.noon + day * 86_400 + hour * 3600)
        var sample = try #require(
            try ReadingPath.samples(
                of: [
                    Reading(
                        origin: Origin(person: person, type: .heartRate, source: SourceRevision(id: "s", name: "s")),
                        numeral: try Numeral("60"), unit: try Unit(ucum: "/min"),
                        time: .instants(start: start, end: start, offset: ZoneOffset(seconds: zone ?? 0)), place: Place(.line, 1))
                ], zone: TimeZoneRules(fixed: .utc), received: ExportedStore.received
            ).first)
        if zone == nil { sample.sample.zone = nil }
        return sample
    }

    private func deliver(_ samples: [GatedSample], from store: String) throws {
        let exporter = try exporter(store)
        _ = try exporter.deliver(
            ExportBatch(changes: samples.map { .added(StoredSample(sample: $0.sample, ingest: 0, seq: 0)) }))
        while try exporter.idle() != nil {}
    }

    private func consent(_ study: String, _ person: String, from: String, until: String? = nil) throws {
        _ = try sql(
            "owner",
            """
            INSERT INTO {}.study_participant(study, subject, consent, from_date, until_date)
            VALUES('\(study)', '\(person)', '1', '\(from)', \(until.map { "'\($0)'" } ?? "NULL"))
            """)
    }

    private func withdraw(_ study: String, _ person: String) throws {
        _ = try sql(
            "owner", "UPDATE {}.study_participant SET withdrawn = now() WHERE study = '\(study)' AND subject = '\(person)'")
    }

    /// The people and dates that a role sees in the table of samples and in the view of days.
    private func seen(_ user: String) throws -> [String] {
        let rows = try sql(
            user, "SELECT right(subject, 1) || ' ' || start_time::date FROM {}.sample ORDER BY 1"
        ).compactMap { $0[0] }
        let days = try sql(user, "SELECT right(subject, 1) || ' ' || date FROM {}.person_day ORDER BY 1").compactMap { $0[0] }
        #expect(days == rows)
        return rows
    }

    /// A hub in a ward has patients of two studies. One of them withdraws.
    @Test(arguments: [0, 3]) func patientsOfTwoStudiesShareAHub(partitions: Int) throws {
        try create(partitions: partitions)
        try deliver(try (0..<3).map { try sample(Self.anna, day: $0) }, from: "ward")
        try deliver([sample(Self.anna, day: 3)], from: "home")
        try deliver(try (0..<3).map { try sample(Self.ben, day: $0) }, from: "ward")
        #expect(try seen("ana").isEmpty && seen("ida").isEmpty)
        try consent("sleep", Self.anna, from: "2026-09-22")
        try consent("heart", Self.ben, from: "2026-01-01", until: "2026-09-22")
        #expect(try seen("ana") == ["1 2026-09-22", "1 2026-09-23", "1 2026-09-24"])
        #expect(try seen("ida") == ["2 2026-09-21", "2 2026-09-22"])
        #expect(try sql("ana", "SELECT subject, consent FROM {}.study_participant") == [[Self.anna, "1"]])
        #expect(try sql("ana", "SELECT count(*) FROM {}.hub") == [["0"]])
        #expect(try sql("eve", "SELECT count(*) FROM {}.study_participant") == [["2"]])

        // A second version of the consent, after a pause.
        try consent("heart", Self.ben, from: "2026-09-23")
        #expect(try seen("ida").count == 3)
        try withdraw("sleep", Self.anna)
        #expect(try seen("ana").isEmpty)
        #expect(try sql("ana", "SELECT count(*) FROM {}.study_participant") == [["0"]])
        #expect(try seen("ida").count == 3)
        // Another consent, given later.
        try consent("sleep", Self.anna, from: "2026-09-24")
        #expect(try seen("ana") == ["1 2026-09-24"])
        for text in ["UPDATE {}.study_participant SET withdrawn = NULL", "INSERT INTO {}.study_hub VALUES('sleep', 'ward')"] {
            #expect { try sql("ana", text) } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
        }
        #expect { try consent("sleep", "unassigned", from: "2026-01-01") } throws: { ($0 as? DeliveryError)?.kind == .refused }
    }

    /// Consents are valid for local dates.
    @Test func aConsentIsForLocalDates() throws {
        try create()
        // 14:13 UTC is the next day 10 hours east. Without a zone the day is that of UTC.
        try deliver([sample(Self.anna, day: 0, zone: 36_000), sample(Self.ben, day: 0, zone: nil)], from: "ward")
        try consent("sleep", Self.anna, from: "2026-09-22")
        try consent("sleep", Self.ben, from: "2026-09-22")
        #expect(try sql("ana", "SELECT subject FROM {}.heart_rate") == [[Self.anna]])
        #expect(try sql("ana", "SELECT subject, date FROM {}.person_day") == [[Self.anna, "2026-09-22"]])
    }

    /// All people of a hub take part, except who has withdrawn or has a consent for some dates.
    @Test func consentDecidesForAHubOfTheStudy() throws {
        try create()
        try deliver(try [Self.anna, Self.ben].flatMap { [try sample($0, day: 0), try sample($0, day: 1)] }, from: "ward")
        _ = try sql("owner", "INSERT INTO {}.study_hub VALUES('sleep', 'ward')")
        #expect(try seen("ana").count == 4)
        try consent("sleep", Self.anna, from: "2026-09-22")
        #expect(try seen("ana") == ["1 2026-09-22", "2 2026-09-21", "2 2026-09-22"])
        try withdraw("sleep", Self.anna)
        #expect(try seen("ana") == ["2 2026-09-21", "2 2026-09-22"])
        // Another study is not concerned, except for its readers who also read this one.
        _ = try sql("owner", "INSERT INTO {}.study_hub VALUES('heart', 'ward')")
        #expect(try seen("ida").count == 4)
        _ = try sql("owner", "INSERT INTO {}.study_reader VALUES('heart', 'ana_{}')")
        #expect(try seen("ana") == ["2 2026-09-21", "2 2026-09-22"])
        try consent("heart", Self.anna, from: "2026-09-21", until: "2026-09-21")
        #expect(try seen("ana") == ["1 2026-09-21", "2 2026-09-21", "2 2026-09-22"])
    }

    /// The plan of a query leads to the people of the study by the index, so that it does not count the readings of other people, such as those
    /// who have withdrawn. (Of few rows, the planner would read all.)
    @Test func aPlanLeadsToThePeopleOfTheStudy() throws {
        try create()
        try deliver(
            try (0..<300).map { try sample(Self.anna, day: $0 % 100, hour: $0 / 100) } + [sample(Self.ben, day: 0)], from: "ward")
        _ = try sql("owner", "ANALYZE {}.sample")
        try consent("heart", Self.anna, from: "2026-01-01")
        try consent("sleep", Self.anna, from: "2026-01-01")
        try consent("sleep", Self.ben, from: "2026-01-01")
        try withdraw("sleep", Self.anna)
        let connection = try PostgreSQLConnection(settings("ana"))
        try connection.run("SET enable_seqscan = off")
        let plan = try connection.run(
            "EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT count(*) FROM \(schema).sample"
        ).compactMap { $0[0] }
        #expect(plan.contains { $0.contains("Index Cond") }, "\(plan.joined(separator: "\n"))")
        #expect(!plan.contains { $0.contains("Rows Removed by Filter") }, "\(plan.joined(separator: "\n"))")
    }

    // MARK: Copies

    private func copy(_ study: String, to place: String) throws -> Int {
        let connection = try PostgreSQLConnection(settings("owner"))
        try connection.run("BEGIN")
        do {
            let count = try StudyCopy(schema: schema).make(of: study, in: place, connection)
            try connection.run("COMMIT")
            return count
        } catch {
            try connection.run("ROLLBACK")
            throw error
        }
    }

    /// A copy has the rows and views that a reader of the study sees, and who withdraws or is erased leaves it.
    @Test(arguments: [0, 3]) func aCopyHasTheRowsOfTheStudy(partitions: Int) throws {
        try create(partitions: partitions)
        try deliver(try [Self.anna, Self.ben].flatMap { [try sample($0, day: 0), try sample($0, day: 1)] }, from: "ward")
        try deliver([test.object(.workout, 0, at: 0)], from: "ward")
        _ = try sql("owner", "INSERT INTO {}.study_hub VALUES('sleep', 'ward')")
        try consent("sleep", Self.anna, from: "2026-09-22")
        try consent("heart", Self.ben, from: "2026-09-22")
        // Four rows, and three days.
        #expect(try copy("sleep", to: "\(schema)_sleep") == 7)
        // Again, now without the policies.
        #expect(try copy("sleep", to: "\(schema)_sleep") == 7)
        for view in ["sample", "heart_rate", "person_day", "coverage", "workout", "hub"] {
            let columns = view == "sample" ? "uuid" : view == "coverage" ? "date, subject" : "*"
            let there = try sql(
                "ana", "SELECT \(columns) FROM {}_sleep.\(view) ORDER BY 1, 2".replacing("uuid FROM", with: "uuid, 1 FROM"))
            #expect(
                there
                    == (try sql(
                        "ana", "SELECT \(columns) FROM {}.\(view) ORDER BY 1, 2".replacing("uuid FROM", with: "uuid, 1 FROM"))))
            #expect(!there.isEmpty, "\(view)")
        }
        // Readers of other studies do not read it.
        #expect { try sql("ida", "SELECT 1 FROM {}_sleep.sample") } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
        // Not over something else.
        _ = try sql("owner", "CREATE SCHEMA {}_mine; CREATE TABLE {}_mine.sample(x integer)")
        for place in ["\(schema)_mine", "\(schema)_sleep", schema, "public", "x; DROP TABLE y", "pg_catalog"] {
            #expect(throws: DeliveryError.self, "\(place)") { try copy("heart", to: place) }
        }
        #expect(try sql("owner", "SELECT count(*) FROM {}_mine.sample") == [["0"]])

        let connection = try PostgreSQLConnection(settings("owner"))
        try StudyCopy(schema: schema).remove(Self.anna, from: "sleep", connection)
        #expect(try sql("ana", "SELECT DISTINCT subject FROM {}_sleep.heart_rate") == [[Self.ben]])
        #expect(try copy("heart", to: "\(schema)_heart") == 2)
        try connection.run("BEGIN")
        try PersonErasure(schema: schema).run(of: Self.ben, connection)
        try connection.run("COMMIT")
        for place in ["sleep", "heart"] {
            #expect(try sql("owner", "SELECT count(*) FROM {}_\(place).sample") == [["0"]])
            #expect(try sql("owner", "SELECT count(*) FROM {}_\(place).day") == [["0"]])
        }
        #expect(try sql("owner", "SELECT DISTINCT subject FROM {}.study_participant") == [[Self.anna]])
        try connection.run("BEGIN")
        try StudyCopy(schema: schema).revoke(from: "ana_\(schema)", of: "sleep", connection)
        try connection.run("COMMIT")
        #expect { try sql("ana", "SELECT 1 FROM {}_sleep.sample") } throws: { ($0 as? DeliveryError)?.kind == .unauthorised }
        try StudyCopy(schema: schema).remove(of: "sleep", connection)
        #expect(
            try sql("owner", "SELECT to_regnamespace('{}_sleep'), (SELECT place FROM {}.study WHERE name = 'sleep')") == [
                [nil, nil]
            ])
    }
}
