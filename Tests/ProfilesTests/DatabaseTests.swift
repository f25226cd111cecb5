import HealthModel
import Pipeline
import Profiles
import SampleStore
import Testing

/// Other programs' databases: who is in them, and what is no table.
@Suite struct DatabaseTests {
    private let received = Instant(seconds: 1_900_000_000)
    private static let sample = """
        CREATE TABLE XIAOMI_ACTIVITY_SAMPLE (TIMESTAMP INTEGER, DEVICE_ID INTEGER, USER_ID INTEGER, STEPS INTEGER, HEART_RATE INTEGER);
        CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT);
        """

    private func read(_ script: String, _ profile: String) throws -> [Reading] {
        let match = try #require(try ProfileLibrary.check(file: "\(deviceProfiles)/\(profile).json5").database)
        let source = DatabaseFileSource(script: Array(script.utf8), tables: match.tables, received: received)
        let interpreter = try DatabaseInterpreter(match, registry: OriginRegistry(subject: "me"))
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
}
