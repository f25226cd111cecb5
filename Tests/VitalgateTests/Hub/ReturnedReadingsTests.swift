import FoundationEssentials
import HTTPServerTesting
import HealthModel
import PipelineTesting
import SQLiteKit
import Testing

/// The hub's readings come back through the apps and the exports of two phones that wrote them, among readings of others.
@Suite struct ReturnedReadingsTests {
    private static let count = 2000
    private static let path = "/v1/changes/write-back"
    /// 20 November 2026, 06:31:07.250.
    private static let first: Int64 = 1_795_156_267_250

    /// The time in milliseconds since 1970, and the value in °C, of a reading.
    private static func time(_ index: Int) -> Int64 { first - Int64(index) * 61_000 }
    private static func value(_ index: Int) -> Double { 35 + Double(index * 37 % 500) / 100 }

    private struct Page: Decodable {
        struct Item: Decodable {
            var key: String
            var version: Int64
            var start: String
        }
        var items: [Item]
        var more: Bool
    }

    private let hub: ServingHub

    init() throws {
        let rows = (0..<Self.count).map { index in
            "\(Instant(microseconds: Self.time(index) * 1000)),bodyTemperature,\(Self.text(Self.value(index), 2)),Cel\n"
        }
        hub = try ServingHub(["thermometer.csv": "time,type,value,unit\n" + rows.joined()])
    }

    private static func text(_ value: Double, _ digits: Int) -> String {
        let scaled = Int((value * (digits == 1 ? 10 : 100)).rounded())
        let text = "\(scaled)"
        return "\(text.dropLast(digits)).\(text.suffix(digits))"
    }

    /// Adds a phone that writes everything. Returns its token, and its keys by the times of the readings in milliseconds.
    private func phone(_ name: String, _ app: String, _ sources: String) throws -> (token: String, keys: [Int64: String]) {
        let added = try hub.run("phones", "add", name, "--app", app).output
        let token = String(try #require(added.firstMatch(of: #/Bearer (\S+)/#)).output.1)
        try hub.run("clients", "grant", name, "--read", "bodyTemperature")
        var keys: [Int64: String] = [:]
        let head = "Authorization: Bearer \(token)\r\n"
        while true {
            let answer = try #require(RawClient(hub.address)?.get("\(Self.path)?limit=1000", head))
            let page = try JSONDecoder().decode(Page.self, from: Data(answer.body))
            let results = try page.items.map { item in
                let instant = try Timestamp(iso8601: item.start).instant
                let time = try #require(instant).microseconds / 1000
                keys[time] = item.key
                return #"{"key":"\#(item.key)","version":\#(item.version),"outcome":"written"}"#
            }
            let body = #"{"sources":[\#(sources)],"results":[\#(results.joined(separator: ","))]}"#
            try #require(RawClient(hub.address)?.send("POST", Self.path, head, body)?.status == 200)
            guard page.more else { break }
        }
        #expect(keys.count == Self.count)
        return (token, keys)
    }

    /// A reading as an app or an export shows it.
    private struct Shown {
        var milliseconds: Int64
        var celsius: Double
        var isOfOurApp = true
    }

    /// All of the hub's readings, and ten of each kind of others: another value, another time, another app.
    private static let shown: [Shown] =
        (0..<count).map { Shown(milliseconds: time($0), celsius: value($0)) }
        + (0..<10).flatMap { index in
            let (time, value) = (time(index * 31), value(index * 31))
            return [
                Shown(milliseconds: time, celsius: value + 0.5), Shown(milliseconds: time + 2000, celsius: value),
                Shown(milliseconds: time, celsius: value, isOfOurApp: false),
            ]
        }

    private func post(_ path: String, _ token: String, _ header: String, _ body: String) throws {
        let head = "Authorization: Bearer \(token)\r\n\(header)"
        let answer = try #require(RawClient(hub.address)?.send("POST", path, head, body))
        #expect(answer.status == 200 && answer.text.contains("\"refused\":0"), "\(answer.text)")
    }

    /// The last ledger entry of this profile: only the others are readings, and each of them is accounted for.
    private func expectRecognized(_ profile: String, times: Int = 1) throws {
        let entries = try hub.run("ledger", "list", "--format", "ndjson").objects()
        let entry = try #require(entries.last { $0["profile"].text == profile }, "\(profile)")
        let number = try #require(entry["ingest"].integer)
        let account = try Account(try hub.run("ledger", "show", "\(number)", "--format", "ndjson").last)
        #expect(account.skipped["own reading"] == Self.count * times, "\(profile): \(account)")
        #expect(account.read == 30 * times && account.addsUp, "\(profile): \(account)")
        #expect(account.refused == 0 && account.quarantined == 0, "\(profile): \(account)")
    }

    @Test func comeBackThroughPostsAndExports() throws {
        let iPhone = try phone("iphone", "health-auto-export", #""Kurzbefehle""#)
        let pixel = try phone("pixel", "hc-webhook", #""Tasker","net.dinglisch.android.taskerm""#)

        // A post of the iPhone: in °F with one digit, the milliseconds cut. The same post again.
        let points = Self.shown.map { shown in
            let time = Instant(seconds: shown.milliseconds / 1000).description.replacing("T", with: " ").prefix(19)
            let source = shown.isOfOurApp ? "Kurzbefehle" : "Withings"
            return #"{"date":"\#(time) +0000","qty":\#(Self.text(shown.celsius * 1.8 + 32, 1)),"source":"\#(source)"}"#
        }
        let metric = #"{"name":"body_temperature","units":"degF","data":[\#(points.joined(separator: ","))]}"#
        let body = #"{"data":{"metrics":[\#(metric)]}}"#
        for times in 1...2 {
            try post("/v1/intake/health-auto-export", iPhone.token, "automation-aggregation: None\r\n", body)
            try expectRecognized("health-auto-export", times: times)
        }

        // A post of the Android phone, with the milliseconds.
        let records = Self.shown.map { shown in
            let package = shown.isOfOurApp ? "net.dinglisch.android.taskerm" : "com.withings.wiscale2"
            let time = Instant(microseconds: shown.milliseconds * 1000)
            let metadata = #"{"data_origin":"\#(package)"}"#
            return #"{"celsius":\#(Self.text(shown.celsius, 2)),"time":"\#(time)","metadata":\#(metadata)}"#
        }
        let last = Instant(microseconds: (Self.first + 60_000) * 1000)
        try post(
            "/v1/intake/hc-webhook", pixel.token, "",
            #"{"timestamp":"\#(last)","app_version":"1","body_temperature":[\#(records.joined(separator: ","))]}"#)
        try expectRecognized("hc-webhook")

        // The export of Apple Health.
        let elements = Self.shown.map { shown in
            let time = "\(Instant(seconds: shown.milliseconds / 1000).description.replacing("T", with: " ").prefix(19)) +0000"
            let source = shown.isOfOurApp ? "Kurzbefehle" : "Withings"
            return """
                <Record type="HKQuantityTypeIdentifierBodyTemperature" sourceName="\(source)" unit="degC" creationDate="\(time)" \
                startDate="\(time)" endDate="\(time)" value="\(Self.text(shown.celsius, 2))"/>

                """
        }
        let export = """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="de_DE"><ExportDate value="2026-11-20 08:00:00 +0000"/>
            \(elements.joined())</HealthData>
            """
        try hub.run("import", try hub.folder.write("export.xml", export))
        try expectRecognized("apple-health-export")

        // The export of Health Connect: half of the records with our key and an unknown name of the app.
        let database = try hub.folder.write("health_connect_export.db", [UInt8]())
        let connection = try SQLiteConnection<SQLiteError>(.file(database), writable: true)
        let rows = Self.shown.enumerated().map { index, shown in
            let key = index < Self.count && index % 2 == 0 ? pixel.keys[shown.milliseconds] : nil
            let app = key != nil ? 2 : shown.isOfOurApp ? 1 : 3
            let (uuid, id) = (String(index + 0x1000_0000, radix: 16), key.map { "'\($0)'" } ?? "NULL")
            return "(\(index), X'\(uuid)', \(id), \(app), NULL, \(shown.milliseconds), \(shown.celsius))"
        }
        try connection.execute(
            """
            CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT, app_name TEXT);
            INSERT INTO application_info_table VALUES(1, 'net.dinglisch.android.taskerm', 'Tasker'), (2, 'x.y', 'Renamed'), (3, 'w', 'Withings');
            CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
            CREATE TABLE body_temperature_record_table (row_id INTEGER PRIMARY KEY, uuid BLOB, client_record_id TEXT, app_info_id INTEGER, device_info_id INTEGER,
                time INTEGER, temperature REAL);
            BEGIN; INSERT INTO body_temperature_record_table VALUES \(rows.joined(separator: ",")); COMMIT
            """)
        try hub.run("import", database)
        try expectRecognized("health-connect")

        // The hub's readings are as they were, but for the ten that another app reported with the same time and value. Its report counts, because
        // it is not from a table (docs/explanation/readings.md, the most precise report).
        let own = try hub.run("query", "bodyTemperature", "--source", "file.generic-csv", "--format", "ndjson").objects()
        #expect(own.count == Self.count - 10)
        try hub.stop()
    }
}
