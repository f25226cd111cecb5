import FileSource
import HealthModel
import Pipeline
import Profiles
import Testing

/// Other programs' databases: their people, and invalid tables.
@Suite struct DatabaseTests {
    private let received = Instant(seconds: 1_900_000_000)
    private static let sample = """
        CREATE TABLE XIAOMI_ACTIVITY_SAMPLE (TIMESTAMP INTEGER, DEVICE_ID INTEGER, USER_ID INTEGER, STEPS INTEGER, HEART_RATE INTEGER);
        CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT);
        """

    private func read(_ script: String, _ profile: String) throws -> [Reading] {
        let match = try #require(try ProfileLibrary.check(file: "\(deviceProfiles)/\(profile).json5").database)
        let source = DatabaseFileSource(script: Array(script.utf8), wanted: match.wanted, received: received)
        let interpreter = try DatabaseInterpreter(match, registry: OriginRegistry(person: "me"))
        var readings: [Reading] = []
        try source.forEachFrame { _ = try interpreter.interpret($0, into: &readings) }
        return readings
    }

    @Test func onePersonsRowsAreRead() throws {
        let rows = "INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES (1747250400, 1, 7, 0, 61), (1747250460, 1, 7, 0, 62);"
        #expect(try read(Self.sample + rows, "gadgetbridge").map(\.numeral.text) == ["61", "62"])
    }

    /// Two users, in one table or in two, are refused before anything is read.
    @Test(arguments: [
        "INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES (1747250400, 1, 7, 0, 61), (1747250460, 1, 8, 0, 62);",
        """
        INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES (1747250400, 1, 7, 0, 61);
        CREATE TABLE MI_BAND_ACTIVITY_SAMPLE (TIMESTAMP INTEGER, DEVICE_ID INTEGER, USER_ID INTEGER, STEPS INTEGER, HEART_RATE INTEGER);
        INSERT INTO MI_BAND_ACTIVITY_SAMPLE VALUES (1747250400, 1, 8, 0, 61);
        """,
    ])
    func severalPersonsAreRefused(rows: String) throws {
        #expect(throws: SourceError.self) { try read(Self.sample + rows, "gadgetbridge") }
    }

    @Test func aViewIsNoTable() throws {
        let view =
            "CREATE VIEW XIAOMI_ACTIVITY_SAMPLE AS SELECT 1 AS TIMESTAMP, 1 AS DEVICE_ID, 1 AS USER_ID, 1 AS STEPS, 90 AS HEART_RATE;"
        let device = "CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT);"
        #expect(try read(device + view, "gadgetbridge").isEmpty)
    }

    // MARK: Health Connect
    // Made after schemas of GrapheneOS/platform_packages_modules_HealthFitness (Apache 2.0), as the profile names them.

    private static let healthConnect = """
        CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);
        INSERT INTO application_info_table VALUES (1, 'com.example.health', 'Health App');
        CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
        INSERT INTO device_info_table VALUES (1, 'Maker', 'A12', 2), (2, 'Maker', 'B3', 1);
        CREATE TABLE steps_record_table (row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, client_record_id TEXT,
            client_record_version TEXT, device_info_id INTEGER, app_info_id INTEGER, start_time INTEGER, start_zone_offset INTEGER,
            end_time INTEGER, count INTEGER);
        CREATE TABLE sleep_session_record_table (row_id INTEGER PRIMARY KEY, uuid BLOB, last_modified_time INTEGER, device_info_id INTEGER,
            app_info_id INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER);
        CREATE TABLE sleep_stages_table (parent_key INTEGER, stage_start_time INTEGER, stage_end_time INTEGER, stage_type INTEGER);

        """

    /// The measuring device by its model, and the app as the source. The zone is the record's own, or none.
    @Test func devicesAndZones() throws {
        let readings = try read(
            Self.healthConnect
                + """
                INSERT INTO steps_record_table VALUES
                    (1, x'01', 7, NULL, NULL, 1, 1, 1758641400000, 32400, 1758641460000, 90),
                    (2, x'02', NULL, 'mine', '4', 2, 1, 1758641400000, NULL, 1758641460000, 100),
                    (3, NULL, NULL, NULL, NULL, NULL, NULL, 1758641400000, -18000, 1758641460000, 5);
                """, "health-connect")
        #expect(readings.map { $0.origin.device?.name } == ["phone", "watch", nil])
        #expect(readings.map { $0.origin.device?.key } == ["Maker/A12", "Maker/B3", nil])
        #expect(readings.map(\.origin.source.name) == ["Health App", "Health App", "file.health-connect"])
        #expect(readings.map { Self.offset($0)?.seconds } == [32400, nil, -18000])
        #expect(
            readings.map(\.record) == [
                RecordIdentifier(id: "01", version: 7), RecordIdentifier(id: "mine", version: 4), nil,
            ])
    }

    /// A night without stages, then with two, then with one: each version replaces the one before.
    @Test func laterVersionReplacesNight() throws {
        func night(_ modified: String, _ end: Int, _ stages: String) throws -> [Reading] {
            try read(
                Self.healthConnect
                    + "INSERT INTO sleep_session_record_table VALUES (4, x'0A', \(modified), 2, 1, 1758672000000, 0, \(end));"
                    + (stages.isEmpty ? "" : "INSERT INTO sleep_stages_table VALUES \(stages);"), "health-connect")
        }
        let bare = try night("10", 1_758_675_600_000, "")
        #expect(bare.map(\.record) == [RecordIdentifier(id: "0a", version: 10)])
        let staged = try night(
            "11", 1_758_679_200_000, "(4, 1758675600000, 1758679200000, 5), (4, 1758672000000, 1758675600000, 4)")
        #expect(staged.map(\.numeral.text) == ["3", "4"])
        let parts = [
            RecordIdentifier(id: "0a", version: 11), RecordIdentifier(id: RecordIdentifier.part(1, of: "0a"), version: 11),
        ]
        #expect(staged.map(\.record) == parts)
        // Without a time of change the later end is the later edition.
        let (shorter, longer) = try (night("NULL", 1_758_675_600_000, ""), night("NULL", 1_758_679_200_000, ""))
        #expect(try #require(shorter.first?.record?.version) < #require(longer.first?.record?.version))
    }

    private static func offset(_ reading: Reading) -> ZoneOffset? {
        if case .instants(_, _, let offset) = reading.time { offset } else { nil }
    }

    // MARK: Unread data

    /// Tables with rows and columns with values are counted by name. Settings and keys are not, and names are bounded.
    @Test func countsUnreadTables() throws {
        let match = try #require(try ProfileLibrary.check(file: "\(deviceProfiles)/gadgetbridge.json5").database)
        let many = (0..<100).map { "CREATE TABLE T\($0) (A); INSERT INTO T\($0) VALUES (1);" }.joined()
        func unread(_ script: String) throws -> [String: Int] {
            let source = DatabaseFileSource(script: Array(script.utf8), wanted: match.wanted, received: received)
            try source.forEachFrame { _ in }
            return Dictionary(uniqueKeysWithValues: source.unread.counts.map { ($0.key.name, $0.value) })
        }
        let script =
            Self.sample
                + """
                INSERT INTO XIAOMI_ACTIVITY_SAMPLE VALUES (1747250400, 1, 7, 0, 61);
                CREATE TABLE USER (_id); INSERT INTO USER VALUES (1); CREATE TABLE EMPTY_SAMPLE (A);
                CREATE TABLE NEW_WATCH_SAMPLE (A, B); INSERT INTO NEW_WATCH_SAMPLE VALUES (1, 2), (3, 4);
                CREATE TABLE PINE_TIME_ACTIVITY_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID, STEPS, HEART_RATE, MOOD);
                INSERT INTO PINE_TIME_ACTIVITY_SAMPLE VALUES (1747250400, 1, 7, 0, 61, NULL), (1747250460, 1, 7, 0, 61, 5);
                """
        #expect(try unread(script) == ["table NEW_WATCH_SAMPLE": 2, "column PINE_TIME_ACTIVITY_SAMPLE.MOOD": 1])
        let all = try unread(script + many)
        #expect(all.count == 65 && all.values.reduce(0, +) == 103)
    }
}
